import WebFormats

/// One challenge of `WWW-Authenticate` (RFC 9110 section 11.6.1).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme in lower case, such as `bearer`.
    public let scheme: String
    /// The one credential-like value that some schemes carry instead of parameters.
    public let token68: String?
    /// The parameters, by name in lower case. If a name is repeated, the first value counts.
    public let parameters: [String: String]

    /// Parses all challenges of a response's fields, in order. A field may contain several; commas separate both
    /// challenges and parameters. Parsing of a field ends at the first part that does not match the grammar, and the
    /// earlier parts count.
    public static func parse(_ fields: [String]) -> [AuthenticationChallenge] {
        fields.flatMap { field in
            var parser = ChallengeParser(text: Array(field.utf8.prefix(maxBytes))[...])
            return parser.challenges()
        }
    }

    /// Fields are only read up to this length: a claims challenge has a few hundred bytes.
    static let maxBytes = 16 * 1024

    /// Returns the scopes of an `insufficient_scope` (RFC 6750 section 3.1); empty if the API does not name them, nil
    /// if there is no such challenge.
    public static func insufficientScopes(in challenges: [AuthenticationChallenge]) -> [String]? {
        challenges.first { $0.scheme == "bearer" && $0.parameters["error"] == "insufficient_scope" }.map {
            ($0.parameters["scope"] ?? "").split(separator: " ").map(String.init)
        }
    }
}

extension ClaimsRequest {
    /// Reads the claims challenge of continuous access evaluation: `insufficient_claims` with base64 of JSON, padded or
    /// not, in either alphabet; nil if there is no readable one.
    public init?(challenges: [AuthenticationChallenge]) {
        let claims = challenges.lazy.filter { $0.scheme == "bearer" && $0.parameters["error"] == "insufficient_claims" }
            .compactMap { $0.parameters["claims"] }.first
        guard let claims else { return nil }
        let unpadded = claims.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed().map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        guard let bytes = Base64URL.decode(unpadded), let json = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        self.init(json: json)
    }
}

/// A parser for the grammar, byte by byte: `challenge = auth-scheme [ 1*SP ( token68 / #auth-param ) ]`.
private struct ChallengeParser {
    var text: ArraySlice<UInt8>

    mutating func challenges() -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        skipSeparators()
        while let scheme = token() {
            let hadSpace = skipSpaces()
            guard hadSpace || text.isEmpty || text.first == UInt8(ascii: ",") else { break }
            var parameters: [String: String] = [:]
            let token68 = hadSpace ? token68() : nil
            if token68 == nil { readParameters(into: &parameters) }
            challenges.append(
                AuthenticationChallenge(scheme: scheme.lowercased(), token68: token68, parameters: parameters))
            // A comma must follow a challenge, or the end.
            skipSpaces()
            guard text.isEmpty || text.first == UInt8(ascii: ",") else { break }
            skipSeparators()
        }
        return challenges
    }

    private mutating func readParameters(into parameters: inout [String: String]) {
        while true {
            let before = text
            skipSeparators()
            guard let name = token() else {
                text = before
                return
            }
            skipSpaces()
            guard text.first == UInt8(ascii: "=") else {
                // This is the scheme of another challenge.
                text = before
                return
            }
            text.removeFirst()
            skipSpaces()
            guard let value = text.first == UInt8(ascii: "\"") ? quotedString() : token() else {
                text = before
                return
            }
            if parameters[name.lowercased()] == nil { parameters[name.lowercased()] = value }
            skipSpaces()
            guard text.first == UInt8(ascii: ",") else { return }
        }
    }

    /// Reads a token68, which must stand alone up to the next comma: `a=b` is a parameter.
    private mutating func token68() -> String? {
        var rest = text
        var bytes: [UInt8] = []
        while let byte = rest.first, Self.isToken68(byte) {
            bytes.append(byte)
            rest.removeFirst()
        }
        guard !bytes.isEmpty else { return nil }
        while rest.first == UInt8(ascii: "=") {
            bytes.append(UInt8(ascii: "="))
            rest.removeFirst()
        }
        while rest.first.map(Self.isSpace) ?? false { rest.removeFirst() }
        guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
        text = rest
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func token() -> String? {
        let bytes = text.prefix(while: Self.isTokenCharacter)
        guard !bytes.isEmpty else { return nil }
        text = text[bytes.endIndex...]
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func quotedString() -> String? {
        text.removeFirst()
        var bytes: [UInt8] = []
        while let byte = text.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = text.popFirst() else { return nil }
                bytes.append(escaped)
            default: bytes.append(byte)
            }
        }
        return nil
    }

    @discardableResult
    private mutating func skipSpaces() -> Bool {
        let rest = text.drop(while: Self.isSpace)
        defer { text = rest }
        return rest.startIndex != text.startIndex
    }

    /// Skips separators. List elements may be empty (RFC 9110 section 5.6.1.2).
    private mutating func skipSeparators() {
        text = text.drop { Self.isSpace($0) || $0 == UInt8(ascii: ",") }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    private static func isToken68(_ byte: UInt8) -> Bool { byte.isAlphanumeric || "-._~+/".utf8.contains(byte) }
}
