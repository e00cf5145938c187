import Foundation
import HTTPClient
import HTTPTypes
import HTTPWire
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

struct TestFailure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// An answer as it came over the wire.
struct Answer: Sendable {
    let status: Int
    let fields: HTTPFields
    let body: [UInt8]

    init(_ response: HTTPClientResponse) {
        status = response.head.status.code
        fields = response.head.headerFields
        body = response.body
    }

    subscript(name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }

    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue? { JSONValue(parsing: body) }
    /// The AADSTS numbers of an error in JSON.
    var number: Int? {
        if case .array(let codes) = json?["error_codes"] { codes.first?.integer } else { nil }
    }

    /// The part of the page of failures that lists the apps' requests; around it the page names people.
    var requests: String? {
        guard let start = text.range(of: "<section id=\"requests\""),
            let end = text.range(of: "<div class=\"panels\" id=\"rest\"", range: start.upperBound..<text.endIndex)
        else { return nil }
        return String(text[start.lowerBound..<end.lowerBound])
    }

    /// A string member of the JSON body.
    func member(_ name: String) -> String? { json?[name]?.string }

    /// The name of the first field of the page, nil when there is no page.
    var shownField: String? {
        guard status == 200, self["Content-Type"]?.hasPrefix("text/html") == true else { return nil }
        let names = text.matches(of: /<(?:button|input)[^>]* name="(?<name>[a-z_]+)"/).map { String($0.output.name) }
        return names.first { $0 != "flow" }
    }

    /// Action and hidden fields of the first form.
    func form() throws -> (action: String, fields: [(String, String)]) {
        guard let action = text.firstMatch(of: /<form method="post" action="(?<action>[^"]*)"/)?.output.action else {
            throw TestFailure("no form, but status \(status): \(text)")
        }
        let section = text.components(separatedBy: "</form>")[0]
        let fields = section.matches(of: /<input type="hidden" name="(?<name>[^"]*)" value="(?<value>[^"]*)">/).map {
            (String($0.output.name), String($0.output.value))
        }
        return (String(action), fields)
    }

    /// The parameters of a redirect to the application.
    func callback() throws -> [String: String] {
        guard status == 302, let location = self["Location"],
            let url = URLComponents(string: location), let query = url.percentEncodedQuery ?? url.percentEncodedFragment
        else { throw TestFailure("no redirect, but status \(status): \(text)") }
        return Dictionary(try FormFields(query: query).fields.map { ($0.name, $0.value) }) { $1 }
    }

    /// The claims of a token in a JSON member, unverified.
    func claims(_ name: String) -> JSONValue? {
        let parts = member(name)?.split(separator: ".", omittingEmptySubsequences: false) ?? []
        guard parts.count == 3 else { return nil }
        return Base64URL.decode(parts[1].utf8).flatMap { JSONValue(parsing: $0) }
    }
}
