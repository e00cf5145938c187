import Foundation
public import WebFormats

/// The values that a provider was sent and that must not be shown. A provider's own words about an error may quote them.
public struct SentValues: Sendable, Redacted {
    /// The largest description that is read, in bytes.
    static let maxBytes = 16 * 1024
    /// The number of characters that are kept.
    static let maxCharacters = 300
    /// Shorter pieces of values are ordinary words, in bytes.
    private static let minPiece = 6

    /// The fields of requests that are no secret and name nobody.
    private static let openFields: Set<String> = [
        "client_id", "grant_type", "response_type", "response_mode", "redirect_uri", "scope", "client_info", "prompt",
        "max_age", "acr_values", "domain_hint", "ui_locales", "code_challenge_method", "client_assertion_type",
        "token_type_hint",
    ]

    private let values: [[UInt8]]

    /// The values of a sign-in's authorization request.
    ///
    /// - Parameters:
    ///   - client: the client, which may have sent the request in advance.
    ///   - loginHint: the username that the request named.
    public init(_ attempt: AuthorizationAttempt, client: AuthenticatedClient, loginHint: String?) {
        let secret: String? =
            switch client.authentication {
            case .secret(let secret, _): secret
            case .assertion(let assertion): assertion
            case .publicClient, .certificate: nil
            }
        self.init([attempt.state, attempt.nonce, attempt.codeVerifier, secret, loginHint].compactMap(\.self))
    }

    /// The values of requests, also to an endpoint at which the client authenticates.
    public init(in requests: [ProviderRequest]) {
        let sent = requests + requests.compactMap { $0.alternative?.request }
        let queries = sent.compactMap { $0.head.path?.split(separator: "?", maxSplits: 1).dropFirst().first }
        let fields = (queries.map { Array($0.utf8) } + sent.map(\.body)).flatMap {
            (try? FormFields(body: $0).fields) ?? []
        }
        let credentials = sent.compactMap { $0.head.headerFields[.authorization] }.flatMap { field in
            let text = String(field.split(separator: " ").last ?? "")
            let pair = Data(base64Encoded: text).map { String(decoding: $0, as: UTF8.self) } ?? ""
            let secret = String(pair.drop { $0 != ":" }.dropFirst())
            return [text, secret, secret.removingPercentEncoding ?? ""]
        }
        self.init(fields.filter { !Self.openFields.contains($0.name) }.map(\.value) + credentials)
    }

    private init(_ values: [String]) {
        let forms = Set(values.flatMap { [$0, FormEncoding.escaped($0)] }).subtracting([""])
        // A value may be a part of another one.
        self.values = forms.map { Array($0.utf8) }.sorted { $0.count > $1.count }
    }

    /// Returns a provider's description of an error as one line without the values, cut where it is long; nil if nothing
    /// is left.
    public func words(of description: String) -> String? {
        // The platform's identifiers follow, which are others each time.
        let end = description.utf8.firstRange(of: "Trace ID:".utf8)?.lowerBound ?? description.endIndex
        let read = String(decoding: description.utf8[..<end].prefix(Self.maxBytes), as: UTF8.self)
        // Invisible characters may stand inside a value, and a value may have spaces in it.
        let text = withoutPieces(hidden(Self.oneLine(hidden(read)))).unicodeScalars
        guard !text.isEmpty else { return nil }
        return text.count > Self.maxCharacters ? String(text.prefix(Self.maxCharacters)) + "…" : String(text)
    }

    /// Replaces words that are pieces of a value.
    private func withoutPieces(_ line: String) -> String {
        // A mark that combines with a space would hide it from a comparison of characters.
        line.unicodeScalars.split(separator: " ").map(String.init).map { word in
            let core = Array(word.trimmingCharacters(in: .punctuationCharacters).utf8)
            let isPiece = core.count >= Self.minPiece && values.contains { $0.firstRange(of: core) != nil }
            return isPiece ? "…" : word
        }.joined(separator: " ")
    }

    /// Replaces the values. They are compared by bytes, because a character may consist of the end of a value and what
    /// follows it.
    private func hidden(_ text: String) -> String {
        let mark = Array("…".utf8)
        var bytes = Array(text.utf8)
        for value in values {
            var result: [UInt8] = []
            var rest = bytes[...]
            while let byte = rest.first {
                if rest.starts(with: value) {
                    result += mark
                    rest = rest.dropFirst(value.count)
                } else {
                    result.append(byte)
                    rest = rest.dropFirst()
                }
            }
            bytes = result
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func oneLine(_ text: String) -> String {
        text.unicodeScalars.split { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
            default: scalar.properties.isWhitespace
            }
        }.map(String.init).joined(separator: " ")
    }
}
