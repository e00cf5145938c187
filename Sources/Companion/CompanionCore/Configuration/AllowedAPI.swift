package import OpenIDConnect
import WebFormats

/// An API that portals may call with GET, at the paths that the operator lists (`apis`).
package struct AllowedAPI: Sendable, Equatable {
    /// The name in requests.
    package let name: String
    /// The beginning of each address.
    package let base: Endpoint
    /// The paths below it, in the operator's order.
    package let paths: [APIPathPattern]
    /// The scopes of the token for a path; a path without scopes takes those of the application.
    package let scopes: [APIPathPattern: [String]]
    /// The applications whose tokens go there, all of them portals.
    package internal(set) var applications: [String]

    package init(
        name: String, base: Endpoint, paths: [APIPathPattern], scopes: [APIPathPattern: [String]] = [:],
        applications: [String] = []
    ) {
        self.applications = applications
        self.name = name
        self.base = base
        self.paths = paths
        self.scopes = scopes
    }

    /// Returns the first entry of the list that admits a path; nil if none does.
    package func pattern(of path: APIPath) -> APIPathPattern? { paths.first { $0.admits(path) } }

    /// Returns a link of an answer as a path with its query, if it stays within the list: the same origin, the base, a
    /// path of the list, and no other options than those that a page of a collection needs.
    package func next(_ link: String) -> (path: APIPath, query: APIQuery)? {
        guard let url = Endpoint(link), url.origin == base.origin else { return nil }
        let root = base.path.hasSuffix("/") ? String(base.path.dropLast()) : base.path
        guard url.path.hasPrefix(root + "/"), let path = APIPath(String(url.path.dropFirst(root.count))),
            pattern(of: path) != nil, let query = APIQuery(link: url.query ?? "")
        else { return nil }
        return (path, query)
    }

    /// Returns the address of a path.
    package func address(_ path: APIPath, _ query: APIQuery) -> Endpoint? {
        let root = base.path.hasSuffix("/") ? String(base.path.dropLast()) : base.path
        let text = query.text
        return Endpoint("\(base.origin)\(root)\(path.text)\(text.isEmpty ? "" : "?" + text)")
    }
}

/// A path of an API, as a request names it. Only plain segments are accepted: nothing is decoded or normalized, so that
/// our reading and the API's cannot differ.
package struct APIPath: Sendable, Hashable {
    /// The longest path in bytes. The IDs of messages have about 150.
    private static let maxBytes = 512

    /// The path, from its first `/`.
    package let text: String
    /// The segments between the slashes.
    let segments: [Substring]

    /// - Returns: nil for an escape, a dot segment, an empty segment, a slash at the end, or a character that is no
    ///   letter, digit or one of `-._~@=,!$()'`.
    package init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.count <= Self.maxBytes,
            text.utf8.allSatisfy({ $0 == UInt8(ascii: "/") || Self.isPlain($0) })
        else { return nil }
        let segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard !segments.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else { return nil }
        self.text = text
        self.segments = segments
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: Array("-._~@=,!$()'".utf8).contains(byte)
        }
    }
}

/// An entry of the list of paths. A segment `*` stands for one segment that names an object: it is no function and no
/// `$value`. Functions without parentheses look like names, so those of Microsoft Graph are listed.
package struct APIPathPattern: Sendable, Hashable, CustomStringConvertible {
    /// The entry as the operator wrote it.
    package let description: String
    private let segments: [Substring]
    /// Functions of Graph that are called with GET and need no parameters, in lower case, except those that begin with
    /// `get`.
    private static let functions: Set = [
        "delta", "recent", "sharedwithme", "allmessages", "functions", "filteroperators",
    ]

    /// - Returns: nil if it is no path, or has `*` within a segment.
    package init?(_ text: String) {
        guard let path = APIPath(text.replacing("*", with: "~")),
            path.segments.count == text.split(separator: "/").count,
            text.split(separator: "/").allSatisfy({ $0 == "*" || !$0.contains("*") })
        else { return nil }
        description = text
        segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    }

    /// Whether the entry admits a path. Upper and lower case differ.
    package func admits(_ path: APIPath) -> Bool {
        segments.count == path.segments.count
            && zip(segments, path.segments).allSatisfy { own, asked in
                own == asked || own == "*" && Self.namesAnObject(asked)
            }
    }

    private static func namesAnObject(_ segment: Substring) -> Bool {
        guard !segment.contains(where: { "$()'".contains($0) }) else { return false }
        // Graph takes names in any case, and with a namespace before them.
        let name = segment.lowercased()
        guard name.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == UInt8(ascii: ".") }) else { return true }
        return !functions.contains(name) && !["get", "graph.", "microsoft."].contains { name.hasPrefix($0) }
    }
}

/// The options of a query (OData 4.01 part 2, section 5), written by us.
package struct APIQuery: Sendable, Equatable {
    private static let maxBytes = 2048
    /// The options that a request may have, and those that only a link to the next page may have.
    private static let (own, ofLinks) = (
        ["$select", "$top", "$filter"], ["$skiptoken", "$skip", "$count", "$orderby"]
    )

    private let fields: [FormFields.Field]

    /// Without options.
    package init() { fields = [] }

    /// Reads the options of a request.
    ///
    /// - Parameters:
    ///   - select: names of properties, separated by commas.
    ///   - top: a number from 1 to 999.
    ///   - filter: a condition.
    /// - Throws: ``Problem`` `bad_request` that names the field.
    package init(select: String?, top: String?, filter: String?) throws(Problem) {
        var given: [(name: String, value: String)] = []
        if let select {
            guard select.utf8.count <= 512, select.utf8.allSatisfy(Self.isOfName) else {
                throw Problem(.badRequest, "“select” must be names of properties, separated by commas.")
            }
            given.append(("$select", select))
        }
        if let top {
            guard let number = Int(top), (1...999).contains(number) else {
                throw Problem(.badRequest, "“top” must be a number from 1 to 999.")
            }
            given.append(("$top", String(number)))
        }
        if let filter {
            guard filter.utf8.count <= 512, filter.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
            else { throw Problem(.badRequest, "“filter” is too long or contains control characters.") }
            given.append(("$filter", filter))
        }
        fields = (try? FormFields(query: FormEncoding.encode(given)).fields) ?? []
    }

    /// Reads the query of a link; nil if it has other options, one of them twice, or a value that is too long.
    package init?(link: String) {
        guard link.utf8.count <= 2 * Self.maxBytes, let form = try? FormFields(query: link), !form.hasRepeatedNames,
            form.fields.allSatisfy({ field in
                (Self.own + Self.ofLinks).contains(field.name) && field.value.utf8.count <= Self.maxBytes
                    && field.value.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
            })
        else { return nil }
        fields = form.fields
    }

    /// The query, percent-encoded but for the names of the options.
    package var text: String {
        fields.map { "\($0.name)=\(FormEncoding.escaped($0.value))" }.joined(separator: "&")
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || Array(",_/@.".utf8).contains(byte)
    }
}

/// Reads the APIs, each below `apis.{name}`.
extension ConfigurationReading {
    mutating func allowedAPIs() -> [AllowedAPI] {
        names(in: .apis).compactMap { name in
            let key = "apis.\(name)"
            let base = value(
                "\(key).base", .outboundURL, default: nil, missing: "write it as https://graph.microsoft.com/v1.0",
                "The beginning of the addresses of an API that the portal may call (GET only).")
            let paths = value(
                "\(key).paths", .apiPaths, default: nil, missing: "list the paths that may be called",
                "The paths below it; a segment * stands for one segment, such as an ID in /users/*.")
            let scopes = value(
                "\(key).scopes", .apiPathScopes,
                "Scopes that a path needs, as /me/messages=Mail.Read; in a file also as a mapping of paths to lists. Default: the application's, which is possible only at the origin of its own API."
            )
            let applications = value(
                "\(key).applications", .texts("application names"),
                "The applications whose tokens go to this API; each has the page portal. Default: the only one with that page."
            )
            for (path, _) in scopes ?? [] where !(paths ?? []).contains(path) {
                mistakes.add("\(key).scopes", "has \(path), which paths does not list")
            }
            guard let base, let paths else { return nil }
            if base.query != nil { mistakes.add("\(key).base", "must have no query") }
            return AllowedAPI(
                name: name, base: base, paths: paths,
                scopes: Dictionary(grouping: scopes ?? [], by: \.0).mapValues { $0.map(\.1) },
                applications: applications ?? [])
        }
    }
}

extension SettingType where Value == [APIPathPattern] {
    /// Paths of an API.
    static var apiPaths: SettingType {
        list("list of paths") { text throws(WrongValue) in
            guard let pattern = APIPathPattern(text) else {
                throw WrongValue(", which is no path such as /me/messages or /users/*, without escapes and queries")
            }
            return pattern
        }
    }
}

extension SettingType where Value == [(APIPathPattern, String)] {
    /// Scopes of paths.
    static var apiPathScopes: SettingType {
        list("list of path=scope") { text throws(WrongValue) in
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let pattern = APIPathPattern(parts[0]) else {
                throw WrongValue(", which is not like /me/messages=Mail.Read")
            }
            return (pattern, parts[1])
        }
    }
}
