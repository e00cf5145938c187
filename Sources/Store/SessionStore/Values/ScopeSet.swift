/// The normalised scopes of an access token: in lower case, sorted, without duplicates, and without scopes that do not
/// grant access (`openid`, `profile`, `offline_access`, `email`). The platform compares scopes without regard to case.
public struct ScopeSet: Sendable, Hashable, CustomStringConvertible {
    private static let notAccess: Set<String> = ["openid", "profile", "offline_access", "email"]

    /// The normalised scopes, sorted.
    public let scopes: [String]

    /// Creates a set from a list of scopes, as configured or requested.
    public init(_ scopes: some Sequence<String>) {
        let lowered = scopes.lazy.flatMap { Self.words(of: $0.lowercased()) }
        self.scopes = Set(lowered.filter { !Self.notAccess.contains($0) }).sorted()
    }

    /// Splits at white space. Scopes are ASCII (RFC 6749 section 3.3); the properties of characters take many times as
    /// long to find.
    private static func words(of text: String) -> [String] {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            return text.split(whereSeparator: \.isWhitespace).map(String.init)
        }
        return text.utf8.split { $0 == 0x20 || 0x09...0x0D ~= $0 }.map { String(Substring($0)) }
    }

    /// Creates a set from the space-separated form of RFC 6749 section 3.3, such as `scope` in a token response.
    public init(text: String) {
        self.init(CollectionOfOne(text))
    }

    /// The space-separated form.
    public var description: String { scopes.joined(separator: " ") }

    /// Whether none of these scopes, which are normalised, is in `others`.
    func isDisjoint(with others: [String]) -> Bool { Set(scopes).isDisjoint(with: others) }

    /// Whether every requested scope is in this set.
    public func contains(_ asked: ScopeSet) -> Bool {
        Set(scopes).isSuperset(of: asked.scopes)
    }
}
