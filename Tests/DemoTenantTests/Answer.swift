import Dispatch
import Foundation
import Glibc
import HTTPWire

@testable import DemoTenant

struct TestFailure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// An answer as it came over the wire.
struct Answer: Sendable {
    let status: Int
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    init(_ bytes: [UInt8]) throws {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { throw TestFailure("no head") }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw TestFailure("no status")
        }
        self.status = status
        fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            return (parts.first ?? "", parts.count == 2 ? parts[1] : "")
        }
        body = Array(bytes[end.upperBound...])
    }

    func all(_ name: String) -> [String] { fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value) }
    subscript(name: String) -> String? { all(name).first }

    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue? { JSONValue(parsing: body) }
    /// The AADSTS numbers of an error in JSON.
    var number: Int? {
        if case .array(let codes) = json?["error_codes"] { codes.first?.intValue } else { nil }
    }

    /// A string member of the JSON body.
    func member(_ name: String) -> String? { json?[name]?.stringValue }

    /// What the page's first form asks for, nil when there is no page.
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
        guard status == 302, let location = self["Location"], let query = URLComponents(string: location)?.percentEncodedQuery
        else { throw TestFailure("no redirect, but status \(status): \(text)") }
        return Dictionary(try FormFields(query: query).fields.map { ($0.name, $0.value) }) { $1 }
    }

    /// The claims of a token in a JSON member, unverified.
    func claims(_ name: String) -> JSONValue? {
        let parts = member(name)?.split(separator: ".", omittingEmptySubsequences: false) ?? []
        guard parts.count == 3 else { return nil }
        return Base64URL.decode(parts[1]).flatMap { JSONValue(parsing: $0) }
    }
}

/// One request on a connection of its own, with the kernel's own calls.
enum Wire {
    static func exchange(port: Int, _ request: [UInt8]) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try blockingExchange(port: port, request) })
            }
        }
    }

    private static func blockingExchange(port: Int, _ request: [UInt8]) throws -> [UInt8] {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw TestFailure("socket: \(errno)") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw TestFailure("connect: \(errno)") }
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL.rawValue)) == request.count else {
            throw TestFailure("send: \(errno)")
        }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { return received }
            received += buffer[..<count]
        }
    }
}
