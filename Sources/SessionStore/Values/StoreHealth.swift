package import Foundation
public import WebFormats

/// What can be said of a place where sessions live, and of its keys, from outside: nothing is made, migrated or changed,
/// also while a server works on it.
public struct StoreHealth: Sendable, Redacted {
    /// Whether there is one; there is none before the first start.
    public var exists = false
    /// How many bytes it takes.
    public var bytes: Int64 = 0
    /// How many bytes are free where it is (or is to be); nil when that is not known, as where the place is not there.
    public var freeBytes: Int64?
    /// How many bytes there are in all; nil when that is not known.
    public var totalBytes: Int64?
    /// Why nothing can be written into it now; nil when something can, or when it is not there.
    public var writeFailure: StoreError?
    /// Why it cannot be looked into; nil when it can, or is not there.
    public var failure: StoreError?
    /// What is wrong with its structure; empty when it is sound.
    public var damage: [String] = []
    /// Changes of its form that this version makes when it starts.
    public var pendingMigrations: [String] = []
    /// The keys, and how many values each seals.
    public var keys: [KeyUse] = []
    /// The ID token's claims (JSON) of each application's latest sign-in, as far as they can be opened.
    public var latestClaims: [String: String] = [:]

    /// Nothing was found, as before the first start.
    package init() {}

    /// Adds what the keys show.
    ///
    /// - Parameters:
    ///   - counts: how many values each key seals.
    ///   - claims: each application's latest account, and its sealed claims.
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
