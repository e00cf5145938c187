package import Foundation
import WebFormats

/// A token with which a program uses this server (`api_tokens`). Only its hash is configured, so that a configuration
/// file lets nobody in.
package struct APIToken: Sendable, Equatable {
    /// The operations that a token is for.
    package enum Scope: String, Sendable, CaseIterable {
        /// Run the checks of a portal's applications.
        case check
        /// Read and end sessions.
        case sessions
        /// Read sessions.
        case sessionsRead = "sessions_read"
        /// Read `/metrics`.
        case metrics
    }

    /// The name in logs.
    package let name: String
    /// The SHA-256 of the token.
    package let sha256: [UInt8]
    /// The operations that it is for.
    package let scopes: Set<Scope>
    /// The time when it expires; nil if it does not.
    package let expires: Date?

    /// The beginning of each token, by which scanners for secrets recognize it.
    package static let prefix = "companion_"
    /// The bytes of randomness in a token.
    package static let randomBytes = 32

    /// Whether it is for an operation. Those who may end sessions may also read them.
    package func isFor(_ scope: Scope) -> Bool {
        scopes.contains(scope) || scope == .sessionsRead && scopes.contains(.sessions)
    }

    /// Returns the text of a new token.
    ///
    /// - Parameter bytes: ``randomBytes`` unpredictable bytes.
    package static func text(of bytes: [UInt8]) -> String { prefix + Base64URL.encode(bytes) }
}

/// Reads the tokens, each below `api_tokens.{name}`.
extension ConfigurationReading {
    mutating func apiTokens() -> [APIToken] {
        names(in: .apiTokens).compactMap { name in
            let key = "api_tokens.\(name)"
            let hash = value(
                "\(key).sha256", .sha256, default: nil, missing: "write it as `companion tokens new` prints it",
                "The SHA-256 of a token for programs. `companion tokens new` prints a token and these settings.")
            let scopes = value(
                "\(key).scopes", .apiScopes, default: nil, missing: "without one the token is for nothing",
                "What the token is for: the checks of a portal's applications, sessions (read and end) or sessions_read, /metrics."
            )
            let expires = value(
                "\(key).expires", .day, "When the token expires; companion check warns before that. Default: never.")
            guard let hash, let scopes else { return nil }
            return APIToken(name: name, sha256: hash, scopes: Set(scopes), expires: expires)
        }
    }
}

extension SettingType where Value == [UInt8] {
    /// A SHA-256.
    static var sha256: SettingType {
        one("64 hexadecimal digits", text: { Hex.encode($0) }) { text throws(WrongValue) in
            guard let bytes = Hex.decode(text), bytes.count == 32 else {
                throw WrongValue("must be the 64 hexadecimal digits of a SHA-256")
            }
            return bytes
        }
    }
}

extension SettingType where Value == [APIToken.Scope] {
    /// The operations that a token is for.
    static var apiScopes: SettingType {
        let choices = APIToken.Scope.allCases.map(\.rawValue).joined(separator: ", ")
        return list("list of \(choices)") { text throws(WrongValue) in
            guard let scope = APIToken.Scope(rawValue: text) else { throw WrongValue(", which is none of \(choices)") }
            return scope
        }
    }
}
