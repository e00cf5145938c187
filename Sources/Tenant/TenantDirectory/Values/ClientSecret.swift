package import Foundation

/// A secret of an application, of which only the hash is kept.
package struct ClientSecret: Sendable, Codable, Hashable {
    /// The lifetime of a secret whose end is not given: two years, the longest that the portal offers.
    package static let lifetime: TimeInterval = 2 * 365 * 24 * 3600

    package var keyID: String
    package var name: String?
    /// The first characters.
    package var hint: String
    package var start: Date
    package var end: Date
    private var hash: StoredPassword

    init(_ text: String, name: String?, start: Date?, end: Date?, clock: TenantClock) {
        keyID = clock.newID()
        self.name = name
        hint = String(text.prefix(3))
        self.start = start ?? clock.now()
        self.end = end ?? self.start.addingTimeInterval(Self.lifetime)
        hash = StoredPassword(text, clock: clock)
    }

    package func matches(_ text: String) -> Bool { hash.matches(text) }
}
