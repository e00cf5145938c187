import Cryptography
import Foundation
import Synchronization

/// Seals secrets for their place: AES-256-GCM with the place as associated data, so that a sealed value does not open
/// in another row or column.
///
/// This protects the tokens in a stolen database, backup or disk. It does not protect against an attacker who can write
/// to the database, and can put the hash of their own session id into another person's session.
///
/// Layout: version (1 byte), key id (8), nonce (12), ciphertext, tag (16).
package final class Sealer: Sendable {
    private struct State {
        var ring: KeyRing
        /// The key of the ring that seals instead of the first one, because other servers on the same database do not
        /// have the first one yet.
        var agreed: KeyRing.KeyID?
        var stamp: FileStamp?
        /// The keys of the file as it is now, if some of those in use are not among them.
        var refused: KeyRing?
        /// The keys in use that seal something, although the file lacks them.
        var lost: Set<KeyRing.KeyID> = []
        /// The time at which it is worth asking again what they seal, which reads all that is stored.
        var nextCount = ContinuousClock.now
        var nextLook = ContinuousClock.now
    }

    private static let version: UInt8 = 1
    private static let headerBytes = 1 + KeyRing.KeyID.byteCount
    /// The bytes of a sealed value that name its key.
    package static let keyIDBytes = 1..<headerBytes

    private let state: Mutex<State>
    private let storeName: String

    package init(_ ring: KeyRing, storeName: String) {
        state = Mutex(State(ring: ring, stamp: ring.file.flatMap(FileStamp.init)))
        self.storeName = storeName
    }

    /// The keys, with the one that seals first.
    var ring: KeyRing { state.withLock { $0.ring.sealing(with: $0.agreed) } }

    /// The ring's first key, while it may not seal yet; otherwise nil.
    var waiting: KeyRing.KeyID? {
        state.withLock { $0.agreed != nil && $0.agreed != $0.ring.currentKeyID ? $0.ring.currentKeyID : nil }
    }

    /// Seals from now on with the first key that all servers have.
    ///
    /// - Parameter servers: the keys of each.
    func agree(with servers: [Set<KeyRing.KeyID>]) {
        state.withLock { $0.agreed = $0.ring.sealingKey(for: servers) }
    }

    /// Reads the key file again if it has changed, and returns whether the keys are different now. If the file cannot
    /// be read, or lacks a key that is in use, nothing changes, and the keys in memory stay in use: see
    /// ``follow(_:counts:)``.
    func reloadIfChanged() -> Bool {
        let (file, known) = state.withLock { ($0.ring.file, $0.stamp) }
        guard let file, let stamp = FileStamp(file), stamp != known,
            let ring = try? KeyRing.load(existingAt: file)
        else { return false }
        return state.withLock { state in
            state.stamp = stamp
            guard ring.lacks(of: state.ring).isEmpty else {
                state.refused = ring
                state.lost = []
                return false
            }
            return Self.adopt(ring, &state)
        }
    }

    private static func adopt(_ ring: KeyRing, _ state: inout State) -> Bool {
        defer {
            state.ring = ring
            state.refused = nil
            state.lost = []
        }
        return state.ring.keyIDs != ring.keyIDs
    }

    /// The keys of the file, if it lacks some that are in use, and what those seal is to be counted. nil if it lacks the
    /// one that seals: that file belongs to something else, whatever is stored.
    var shortened: KeyRing? {
        state.withLock { state in
            guard let refused = state.refused, refused.keyIDs.contains(Self.sealing(state).id),
                state.lost.isEmpty || .now >= state.nextCount
            else { return nil }
            return refused
        }
    }

    /// Adopts a file's keys although it lacks some that are in use, if those seal nothing.
    ///
    /// - Parameter counts: the number of stored values that each key seals.
    func follow(_ shortened: KeyRing, counts: [KeyRing.KeyID: Int]) {
        state.withLock { state in
            guard state.refused?.keyIDs == shortened.keyIDs else { return }
            state.lost = shortened.lacks(of: state.ring).filter { counts[$0, default: 0] > 0 }
            state.nextCount = .now + .seconds(60)
            if state.lost.isEmpty { _ = Self.adopt(shortened, &state) }
        }
    }

    /// Returns a key that a file would have to contain: the one that seals now, or one that is known to seal something.
    func lost(in file: KeyRing) -> KeyRing.KeyID? {
        state.withLock { state in
            ([Self.sealing(state).id] + state.lost).first { !file.keyIDs.contains($0) }
        }
    }

    /// Checks the key file once a second, even if the background work is busy. Nothing is sealed with the old key a
    /// second after a rotation; retiring a key relies on this.
    private func lookOnceASecond() {
        let now = ContinuousClock.now
        let mustLook = state.withLock { state in
            guard state.ring.file != nil, now >= state.nextLook else { return false }
            state.nextLook = now + .seconds(1)
            return true
        }
        if mustLook { _ = reloadIfChanged() }
    }

    /// Returns the key that seals and signs now.
    private func sealingKey() -> KeyRing.Key {
        lookOnceASecond()
        return state.withLock { Self.sealing($0) }
    }

    private static func sealing(_ state: State) -> KeyRing.Key {
        state.agreed.flatMap { state.ring.key($0.bytes) } ?? state.ring.current
    }

    func seal(_ text: String, for place: SealedPlace) throws(StoreError) -> Data {
        try seal(Array(text.utf8), for: place)
    }

    func seal(_ bytes: [UInt8], for place: SealedPlace) throws(StoreError) -> Data {
        let key = sealingKey()
        let header = [Self.version] + key.id.bytes
        guard let sealed = key.secret.seal(bytes, for: place.associatedData, after: header) else {
            throw .cannotUnseal("The cipher failed to seal a value.")
        }
        return Data(sealed)
    }

    func open(_ sealed: Data, for place: SealedPlace) throws(StoreError) -> String {
        String(decoding: try openBytes(sealed, for: place), as: UTF8.self)
    }

    func openBytes(_ sealed: Data, for place: SealedPlace) throws(StoreError) -> Data {
        guard sealed.first == Self.version, sealed.count >= Self.headerBytes + SealingKey.overhead else {
            throw .corrupt("a sealed value in \(storeName) has an unknown form")
        }
        let id = sealed.dropFirst().prefix(KeyRing.KeyID.byteCount)
        guard let key = key(id) else {
            throw .cannotUnseal(Self.keyMissing(KeyRing.KeyID(bytes: Array(id)), storeName))
        }
        guard let bytes = key.secret.open(sealed.dropFirst(Self.headerBytes), for: place.associatedData) else {
            throw .cannotUnseal(
                "A sealed value in \(storeName) is damaged or was moved to another row. "
                    + "Restore the database from a backup, or revoke the session.")
        }
        return Data(bytes)
    }

    func sign(_ bytes: [UInt8], as purpose: SignedPurpose) -> [UInt8] {
        Array(purpose.code(of: bytes, by: sealingKey()))
    }

    func isSigned(_ bytes: [UInt8], as purpose: SignedPurpose, by signature: some Collection<UInt8>) -> Bool {
        func isKnown() -> Bool {
            let keys = state.withLock { [$0.ring.current] + $0.ring.older }
            return keys.contains { purpose.isCode(signature, of: bytes, by: $0) }
        }
        return isKnown() || reloadIfChanged() && isKnown()
    }

    private func key(_ id: Data) -> KeyRing.Key? {
        if let key = state.withLock({ $0.ring.key(id) }) { return key }
        // The command line may have rotated the keys a moment ago.
        return reloadIfChanged() ? state.withLock { $0.ring.key(id) } : nil
    }

    static func keyMissing(_ id: KeyRing.KeyID, _ storeName: String) -> String {
        "The database \(storeName) was sealed with key \(id), which is not in the key file. Put the old key file back "
            + "(or add its key as a further line); or, if it is lost, move the database away: everyone must then sign in again."
    }
}

extension KeyRing {
    /// Returns the first key that all servers have; the ring's first key if they have none in common.
    ///
    /// - Parameter servers: the keys of each.
    func sealingKey(for servers: [Set<KeyID>]) -> KeyID {
        keyIDs.first { id in servers.allSatisfy { $0.contains(id) } } ?? currentKeyID
    }

    /// Returns the same keys with another one first, if the ring contains it.
    func sealing(with id: KeyID?) -> KeyRing {
        guard let id, id != currentKeyID, let key = key(id.bytes) else { return self }
        var ring = self
        ring.current = key
        ring.older = ([current] + older).filter { $0.id != id }
        return ring
    }

    /// Returns the keys of another ring that are not in this one.
    func lacks(of other: KeyRing) -> Set<KeyID> { Set(other.keyIDs).subtracting(keyIDs) }

    /// Returns whether a database that has recorded these sealing keys can be opened with this ring.
    ///
    /// - Parameters:
    ///   - known: the keys that the database has recorded.
    ///   - isUsed: whether a key seals anything in the database.
    /// - Returns: the keys that seal nothing and are not in the ring; the database can forget them.
    /// - Throws: `cannotUnseal` when a key that seals something is not in the ring, and the errors of `isUsed`.
    package func check(_ known: [KeyID], of storeName: String, isUsed: (KeyID) throws -> Bool) throws -> [KeyID] {
        let missing = known.filter { !keyIDs.contains($0) }
        for id in missing where try isUsed(id) { throw StoreError.cannotUnseal(Sealer.keyMissing(id, storeName)) }
        return missing
    }
}
