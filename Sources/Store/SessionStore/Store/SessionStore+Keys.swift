import Foundation

/// A key, with the number of values that it seals.
public struct KeyUse: Sendable, Hashable {
    /// The key's id, which is not secret.
    public let id: KeyRing.KeyID
    /// Whether this key seals now.
    public let isCurrent: Bool
    /// Whether the key ring contains it. If not, the values that it sealed are lost.
    public let isAtHand: Bool
    /// The number of stored values that it seals.
    public let values: Int

    /// Returns the ring's keys in their order, then keys that are not in it.
    static func list(_ ring: KeyRing?, _ counts: [KeyRing.KeyID: Int]) -> [KeyUse] {
        let known = ring?.keyIDs ?? []
        let lost = counts.keys.filter { !known.contains($0) }.sorted { $0.description < $1.description }
        return (known + lost).map {
            KeyUse(
                id: $0, isCurrent: $0 == ring?.currentKeyID, isAtHand: known.contains($0), values: counts[$0] ?? 0)
        }
    }
}

/// The progress of resealing.
package struct Resealing: Sendable {
    /// The key that was sealing when this began.
    let key: KeyRing.KeyID
    package var cursor = StoreCursor.beginning
    /// The number of values that were resealed.
    package var count = 0

    package init(key: KeyRing.KeyID) { self.key = key }
}

extension SessionStore {
    /// The time after a rotation in which a running server may still seal with the previous key, in seconds. It checks
    /// once a second.
    private static let settlingTime: TimeInterval = 10

    /// Returns the newest key while it may not seal yet, with the hosts of the servers on the same database that lack
    /// it; nil when it seals.
    public func waitingKey() async throws(StoreError) -> (id: KeyRing.KeyID, hosts: [String])? {
        _ = sealer.reloadIfChanged()
        try await agreeOnKey()
        guard let waiting = sealer.waiting else { return nil }
        return (waiting, try await serversWithout(waiting))
    }

    /// Returns the keys, with the number of values that each seals.
    public func keyUses() async throws(StoreError) -> [KeyUse] {
        KeyUse.list(sealer.ring, try await backend.sealedCounts())
    }

    /// Reseals with the current key what older keys sealed, and returns how many values. Values that do not open
    /// (damaged, or their key is missing) stay as they are. Safe beside a running server.
    public func reseal() async throws(StoreError) -> Int {
        _ = sealer.reloadIfChanged()
        try await agreeOnKey()
        try await noteCurrentKey()
        var state = Resealing(key: sealer.ring.currentKeyID)
        while let next = try await resealStep(state) { state = next }
        return state.count
    }

    /// Reseals what remains with the current key, and removes older keys that no longer seal anything from the key
    /// file. Returns the keys that were removed and those that still seal something.
    ///
    /// - Throws: `keyFile`, also while browsers may bring back sign-ins that an older key sealed or signed. That is the
    ///   lifetime of an attempt after `KeyRing.rotate(fileAt:)`, which was the last change of the file.
    public func retireOlderKeys() async throws(StoreError) -> (retired: [KeyRing.KeyID], kept: [KeyUse]) {
        guard let file = sealer.ring.file else {
            throw .keyFile(
                "The keys come from the environment: leave only the first in COMPANION_ENCRYPTION_KEY and restart.")
        }
        _ = try await reseal()
        if let (waiting, hosts) = try await waitingKey() {
            let list = hosts.joined(separator: ", ")
            throw .keyFile("The key \(waiting) does not seal yet: give it first to the servers on \(list).")
        }
        let older = try await keyUses().filter { $0.isAtHand && !$0.isCurrent }
        if !older.isEmpty, let rotation = KeyRing.lastChange(ofFileAt: file) {
            let end = rotation + Double(rules.lifetimes.attempt) / 1000 + Self.settlingTime
            guard wall() >= end else {
                throw .keyFile(
                    "Until \((end + 1).formatted(.iso8601)), browsers may bring back sign-ins that an older key has sealed. "
                        + "Run `companion keys retire` again then.")
            }
        }
        let idle = Set(older.filter { $0.values == 0 }.map(\.id))
        if !idle.isEmpty {
            _ = try KeyRing.drop(idle, fromFileAt: file, randomBytes: randomBytes)
            await followKeyFile()
            try await backend.forget(sealingKeys: idle)
        }
        return (older.map(\.id).filter(idle.contains), older.filter { !idle.contains($0.id) })
    }

    /// Does one small step; returns nil at the end.
    package func resealStep(_ state: Resealing) async throws(StoreError) -> Resealing? {
        guard let found = try await backend.values(notSealedBy: state.key, from: state.cursor) else { return nil }
        var resealed: [ResealedValue] = []
        for (place, old) in found.values {
            // One damaged value must not prevent the others from being resealed.
            guard let text = try? sealer.open(old, for: place) else { continue }
            resealed.append(ResealedValue(place: place, old: old, new: try sealer.seal(text, for: place)))
        }
        var next = state
        if !resealed.isEmpty { next.count += try await backend.replace(resealed) }
        next.cursor = found.next
        return next
    }

    /// Reads the key file again if it has changed. A file that lacks a key that is in use is believed only if that key
    /// seals nothing; otherwise the keys in memory stay in use until a good file is back.
    func followKeyFile() async {
        _ = sealer.reloadIfChanged()
        guard let shortened = sealer.shortened, let counts = try? await backend.sealedCounts() else { return }
        sealer.follow(shortened, counts: counts)
    }

    /// Records the current key, so that its loss is noticed when the database is opened.
    func noteCurrentKey() async throws(StoreError) {
        try await backend.note(sealingKey: sealer.ring.currentKeyID)
    }
}
