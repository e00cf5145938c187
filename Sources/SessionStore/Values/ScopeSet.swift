/// The scopes of an access token in the form by which it is found again: lower-cased, sorted, each once, and without
/// those that ask for other things than access (`openid`, `profile`, `offline_access`, `email`).
/// Scopes are compared without regard to case by the platform.
public struct ScopeSet: Sendable, Hashable, CustomStringConvertible {
    private static let notAccess: Set<String> = ["openid", "profile", "offline_access", "email"]

    /// The normalised scopes, sorted.
    public let scopes: [String]

    /// From a list, as configured or asked for.
    public init(_ scopes: some Sequence<String>) {
        let lowered = scopes.lazy.flatMap { $0.lowercased().split(whereSeparator: \.isWhitespace).map(String.init) }
        self.scopes = Set(lowered.filter { !Self.notAccess.contains($0) }).sorted()
    }

    /// From the space-separated form of RFC 6749 section 3.3, as in a token response's `scope`.
    public init(text: String) {
        self.init(CollectionOfOne(text))
    }

    /// The space-separated form.
    public var description: String { scopes.joined(separator: " ") }

    /// True when none of the scopes, which are normalised, is among these.
    func isDisjoint(with others: [String]) -> Bool { Set(scopes).isDisjoint(with: others) }

    /// True when every scope asked for is among these.
    public func contains(_ asked: ScopeSet) -> Bool {
        Set(scopes).isSuperset(of: asked.scopes)
    }
}
