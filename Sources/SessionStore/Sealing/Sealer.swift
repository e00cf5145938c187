import Crypto
import Foundation
import Synchronization

/// Seals secrets for their place: AES-256-GCM, with the place as associated data, so that a sealed value does not open in
/// another row or column.
///
/// What it protects: tokens in a stolen database, backup or disk. What it does not: somebody who can write to the
/// database can put their own session id's hash on another's session.
///
/// Layout: version (1 byte), key id (8), nonce (12), ciphertext, tag (16).
package final class Sealer: Sendable {
    private struct State {
        var ring: KeyRing
        /// The key of the ring that seals instead of its first: others who share the place do not have that one yet.
        var agreed: KeyRing.KeyID?
        var stamp: FileStamp?
        var nextLook = ContinuousClock.now
    }

    private static let version: UInt8 = 1
    private static let headerBytes = 1 + KeyRing.KeyID.byteCount
    /// Where a sealed value names its key.
    package static let keyIDBytes = 1..<headerBytes

    private let state: Mutex<State>
    private let storeName: String

    package init(_ ring: KeyRing, storeName: String) {
        state = Mutex(State(ring: ring, stamp: ring.file.flatMap(FileStamp.init)))
        self.storeName = storeName
    }

    /// The keys, the one that seals first.
    var ring: KeyRing { state.withLock { $0.ring.sealing(with: $0.agreed) } }

    /// The ring's first key, when it may not seal yet.
    var waiting: KeyRing.KeyID? {
        state.withLock { $0.agreed != nil && $0.agreed != $0.ring.currentKeyID ? $0.ring.currentKeyID : nil }
    }

    /// Seals from now on with the first of the keys that all have who share the place.
    func agree(with processes: [ServerProcess]) {
        state.withLock { $0.agreed = $0.ring.sealingKey(for: processes) }
    }

    /// Reads the key file again when it changed; true when there are other keys now. A file that cannot be read at the
    /// moment changes nothing: the keys in memory go on serving.
    func reloadIfChanged() -> Bool {
        let (file, known) = state.withLock { ($0.ring.file, $0.stamp) }
        guard let file, let stamp = FileStamp(file), stamp != known,
            let ring = try? KeyRing.load(existingAt: file)
        else { return false }
        return state.withLock { state in
            let changed = state.ring.keyIDs != ring.keyIDs
            state.ring = ring
            state.stamp = stamp
            return changed
        }
    }

    /// A second after a rotation nothing is sealed with the old key any more, whatever else keeps the background work
    /// busy: retiring a key counts on it.
    private func lookOnceASecond() {
        let now = ContinuousClock.now
        let mustLook = state.withLock { state in
            guard state.ring.file != nil, now >= state.nextLook else { return false }
            state.nextLook = now + .seconds(1)
            return true
        }
        if mustLook { _ = reloadIfChanged() }
    }

    /// The key that seals and signs now.
    private func sealingKey() -> KeyRing.Key {
        lookOnceASecond()
        return state.withLock { state in state.agreed.flatMap { state.ring.key($0.bytes) } ?? state.ring.current }
    }

    func seal(_ text: String, for place: SealedPlace) throws(StoreError) -> Data {
        try seal(Array(text.utf8), for: place)
    }

    func seal(_ bytes: [UInt8], for place: SealedPlace) throws(StoreError) -> Data {
        let key = sealingKey()
        do {
            let box = try AES.GCM.seal(bytes, using: key.secret, authenticating: place.associatedData)
            var sealed = Data(capacity: Self.headerBytes + 28 + box.ciphertext.count)
            sealed.append(Self.version)
            sealed.append(contentsOf: key.id.bytes)
            sealed.append(contentsOf: box.nonce)
            sealed.append(box.ciphertext)
            sealed.append(box.tag)
            return sealed
        } catch {
            throw .cannotUnseal("The cipher failed to seal a value.")
        }
    }

    func open(_ sealed: Data, for place: SealedPlace) throws(StoreError) -> String {
        String(decoding: try openBytes(sealed, for: place), as: UTF8.self)
    }

    func openBytes(_ sealed: Data, for place: SealedPlace) throws(StoreError) -> Data {
        guard sealed.first == Self.version, sealed.count >= Self.headerBytes + 28 else {
            throw .corrupt("a sealed value in \(storeName) has an unknown form")
        }
        let id = sealed.dropFirst().prefix(KeyRing.KeyID.byteCount)
        guard let key = key(id) else {
            throw .cannotUnseal(Self.keyMissing(KeyRing.KeyID(bytes: Array(id)), storeName))
        }
        do {
            let box = try AES.GCM.SealedBox(combined: sealed.dropFirst(Self.headerBytes))
            return try AES.GCM.open(box, using: key.secret, authenticating: place.associatedData)
        } catch {
            throw .cannotUnseal(
                "A sealed value in \(storeName) is damaged or was moved to another row. "
                    + "Restore the database from a backup, or revoke the session.")
        }
    }

    func sign(_ bytes: [UInt8], as purpose: SignedPurpose) -> [UInt8] {
        Array(purpose.code(of: bytes, by: sealingKey()).prefix(SignedPurpose.byteCount))
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
            + "(or add its key as a further line); or, if it is lost, move the database away: everybody then signs in again."
    }
}

extension KeyRing {
    /// Whether a place that knows these sealing keys can be opened with this ring.
    ///
    /// - Parameters:
    ///   - known: the keys that the place has noted.
    ///   - isUsed: whether a key seals anything there.
    /// - Returns: the keys that seal nothing and are not in the ring, to be forgotten.
    /// - Throws: `cannotUnseal` when a key that seals something is not in the ring; what `isUsed` throws.
    package func check(_ known: [KeyID], of storeName: String, isUsed: (KeyID) throws -> Bool) throws -> [KeyID] {
        let missing = known.filter { !keyIDs.contains($0) }
        for id in missing where try isUsed(id) { throw StoreError.cannotUnseal(Sealer.keyMissing(id, storeName)) }
        return missing
    }
}
