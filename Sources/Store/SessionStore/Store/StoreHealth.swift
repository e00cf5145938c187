package import Foundation
public import WebFormats

/// The state of a database and its keys, as an inspection finds it. The inspection creates, migrates and changes
/// nothing, and may run while a server uses the database.
public struct StoreHealth: Sendable, Redacted {
    /// Whether the database exists; it does not before the first start.
    public var exists = false
    /// The size of the database in bytes.
    public var bytes: Int64 = 0
    /// The free bytes where the database is (or will be); nil if unknown, for example if that place does not exist.
    public var freeBytes: Int64?
    /// The total bytes where the database is; nil if unknown.
    public var totalBytes: Int64?
    /// The reason for which nothing can be written now; nil if writing works, or if the database does not exist.
    public var writeFailure: StoreError?
    /// The reason for which the database cannot be inspected; nil if it can, or if it does not exist.
    public var failure: StoreError?
    /// Damage to its structure; empty when it is sound.
    public var damage: [String] = []
    /// The migrations that this version makes when it starts.
    public var pendingMigrations: [String] = []
    /// The keys, with the number of values that each seals.
    public var keys: [KeyUse] = []
    /// The ID token's claims (JSON) of each application's latest sign-in, if they can be opened.
    public var latestClaims: [String: String] = [:]

    /// Creates the state before the first start.
    package init() {}

    /// Adds the keys and the claims that they open.
    ///
    /// - Parameters:
    ///   - counts: the number of values that each key seals.
    ///   - claims: each application's latest account, with its sealed claims.
    package mutating func add(
        _ keyRing: KeyRing?, counts: [KeyRing.KeyID: Int], claims: [(account: AccountKey, sealed: Data)] = [],
        of storeName: String
    ) {
        keys = KeyUse.list(keyRing, counts)
        guard let keyRing else { return }
        let sealer = Sealer(keyRing, storeName: storeName)
        latestClaims = claims.reduce(into: [:]) { latest, found in
            latest[found.account.app] = try? sealer.open(found.sealed, for: .claims(found.account))
        }
    }
}
