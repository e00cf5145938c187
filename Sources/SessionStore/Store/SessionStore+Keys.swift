import Foundation

/// One key, and how much it seals.
public struct KeyUse: Sendable, Hashable {
    /// The key's id, which is no secret.
    public let id: KeyRing.KeyID
    /// Whether it is the one that seals now.
    public let isCurrent: Bool
    /// Whether the key ring holds it: without it, what it sealed is lost.
    public let isAtHand: Bool
    /// How many stored values are sealed with it.
    public let values: Int

    /// The ring's keys in their order, then keys that are not in it.
    static func list(_ ring: KeyRing?, _ counts: [KeyRing.KeyID: Int]) -> [KeyUse] {
        let known = ring?.keyIDs ?? []
        let lost = counts.keys.filter { !known.contains($0) }.sorted { $0.description < $1.description }
        return (known + lost).map {
            KeyUse(
                id: $0, isCurrent: $0 == ring?.currentKeyID, isAtHand: known.contains($0), values: counts[$0] ?? 0)
        }
    }
}

/// How far the sealing anew has come.
package struct Resealing: Sendable {
    /// The key that sealed when it began.
    let key: KeyRing.KeyID
    package var cursor = StoreCursor.beginning
    /// Values sealed anew.
    package var count = 0

    package init(key: KeyRing.KeyID) { self.key = key }
}

extension SessionStore {
    /// How long after a rotation, in seconds, a running server may still seal with the key before: it looks once a second.
    private static let settlingTime: TimeInterval = 10

    /// The newest key while it may not seal yet, and the hosts of the servers that share the place and do not have it; nil
    /// when it seals.
    public func waitingKey() async throws(StoreError) -> (id: KeyRing.KeyID, hosts: [String])? {
        _ = sealer.reloadIfChanged()
        try await agreeOnKey()
        guard let waiting = sealer.waiting else { return nil }
        return (waiting, try await serversWithout(waiting))
    }

    /// Which keys there are and how many values each seals.
    public func keyUses() async throws(StoreError) -> [KeyUse] {
        KeyUse.list(sealer.ring, try await backend.sealedCounts())
    }

    /// Seals with the current key what an older one sealed, and returns how many values. What does not open (damaged, or a
    /// key is missing) stays as it is. Safe beside a running server.
    public func reseal() async throws(StoreError) -> Int {
        _ = sealer.reloadIfChanged()
        try await agreeOnKey()
        try await noteCurrentKey()
        var state = Resealing(key: sealer.ring.currentKeyID)
        while let next = try await resealStep(state) { state = next }
        return state.count
    }

    /// Seals the rest with the current key and takes the older keys that seal nothing any more out of the key file.
    /// Returns what became of the older keys: those that still seal something stay.
    ///
    /// - Throws: `keyFile` also while browsers may bring back sign-ins that an older key sealed or signed: for as long as an
    ///   attempt lives after `KeyRing.rotate(fileAt:)`, which is when the file was changed last.
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
            _ = sealer.reloadIfChanged()
            try await backend.forget(sealingKeys: idle)
        }
        return (older.map(\.id).filter(idle.contains), older.filter { !idle.contains($0.id) })
    }

    /// One small step; nil at the end.
    package func resealStep(_ state: Resealing) async throws(StoreError) -> Resealing? {
        guard let found = try await backend.values(notSealedBy: state.key, from: state.cursor) else { return nil }
        var resealed: [ResealedValue] = []
        for (place, old) in found.values {
            // One damaged value must not keep the others from the new key.
            guard let text = try? sealer.open(old, for: place) else { continue }
            resealed.append(ResealedValue(place: place, old: old, new: try sealer.seal(text, for: place)))
        }
        var next = state
        if !resealed.isEmpty { next.count += try await backend.replace(resealed) }
        next.cursor = found.next
        return next
    }

    /// So that the loss of this key is noticed when the backend is opened.
    func noteCurrentKey() async throws(StoreError) {
        try await backend.note(sealingKey: sealer.ring.currentKeyID)
    }
}
