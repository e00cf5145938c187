import Dispatch
package import Foundation
package import Logging
import Synchronization

/// The state that the tenant keeps. With a state file it outlives the process. Each change is on the disk before the
/// response that depends on it, which waits for ``isWritten()``. Only ended sign-ins, redeemed codes and used refresh
/// tokens, which occur in every sign-in, are written with the next change or at the end.
package final class TenantState: Sendable {
    /// The file's content.
    package struct Record: Codable, Sendable {
        package var version = 1
        var sealingKey: Data
        /// The signing keys, oldest first. The last of each kind signs; the others still verify. Empty until the first
        /// keys have been made.
        package var keys: [DemoSigningKey.Stored]
        /// The consented scopes, by `client username`.
        package var consents: [String: Set<String>] = [:]
        /// The scopes that an administrator consented to for everyone, by client.
        package var adminConsents: [String: Set<String>] = [:]
        /// The number of revocations of each user. Tokens and sessions carry the number from the time when they were
        /// issued.
        package var revocations: [String: Int] = [:]
        /// The time from which on each user's tokens are valid. A state file from an older version has none.
        package var tokensValidFrom: [String: Date]?
        /// The second-factor demand that each user must meet. Tokens and sessions carry the demand that they have met.
        package var secondFactorDemands: [String: Int] = [:]
        /// The number of the latest demand.
        var lastSecondFactorDemand = 1
        /// Display names that people have chosen. A state file from an older version has none.
        package var displayNames: [String: String]?
        /// People who signed up. A state file from an older version has none.
        package var signUps: [SignUp]?
        /// Applications and people that were registered at run time. A state file from an older version has none.
        var runTime: RunTimeRecord?
        /// The passwords that people of the external tenant have chosen, by username. A state file from an older version
        /// has none.
        package var passwords: [String: ChosenPasswords]?
        /// The second factors that people have registered, by username. A state file from an older version has none.
        package var contacts: [String: VerifiedContact]?
        /// Refresh tokens that a client revoked, by ID. A state file from an older version has none.
        package var revokedTokens: Set<String>?
        /// Redeemed codes, with the time at which they expire anyway.
        package var redeemedCodes: [String: Date] = [:]
        /// Sign-ins that have ended, with the time at which their pages expire anyway. A state file from an older
        /// version has none.
        package var endedSignIns: [String: Date]?
        /// Families of single-use refresh tokens. A state file from an older version has none.
        package var refreshFamilies: RefreshFamilies?
        /// Sign-on sessions (or single accounts of such a session) that were ended, with the time at which they expire anyway.
        package var endedSignOns: [String: Date] = [:]

        /// Adds a person, in whose place the oldest one leaves if there are too many.
        mutating func add(_ signUp: SignUp) {
            let all = (signUps ?? []) + [signUp]
            for left in all.dropLast(1000) { forget(left.username) }
            signUps = Array(all.suffix(1000))
            // No number of revocations is that of somebody who had the name before.
            revocations[signUp.username] = Int.random(in: 1...Int(UInt32.max))
        }

        /// Forgets what is kept for a person who is there no longer.
        mutating func forget(_ username: String) {
            consents = consents.filter { !$0.key.hasSuffix(" \(username)") }
            passwords?[username] = nil
            contacts?[username] = nil
            displayNames?[username] = nil
            secondFactorDemands[username] = nil
            revocations[username] = nil
            tokensValidFrom?[username] = nil
        }
    }

    private struct Memory {
        var record: Record
        var keys: [DemoSigningKey]
        var sealer: DemoSealer
    }

    package var sealer: DemoSealer { memory.withLock { $0.sealer } }
    private let memory: Mutex<Memory>
    /// The group that is entered while the first keys are being made.
    private let firstKeys = DispatchGroup()
    private let file: StateFile?
    private let logger: Logger

    /// Reads the file, or creates it and starts to make the keys.
    package init(
        path: String?, randomBytes: @Sendable (Int) -> [UInt8],
        makeKeys: @escaping @Sendable () throws -> [DemoSigningKey] = DemoSigningKey.first,
        sync: @escaping StateFile.Sync = { fsync($0) }, logger: Logger
    ) throws(DemoTenantError) {
        file = path.map { StateFile(path: $0, sync: sync, logger: logger) }
        self.logger = logger
        let known = try path.flatMap(StateFile.load)
        var record = known ?? Record(sealingKey: Data(randomBytes(32)), keys: [])
        guard record.version == 1, record.sealingKey.count == 32 else {
            throw .stateFile(path: path ?? "", reason: "it was not written by this version; remove it to start again")
        }
        let keys: [DemoSigningKey]
        do {
            keys = try Self.completed(record.keys.map(DemoSigningKey.init))
        } catch {
            throw .signingKey(String(describing: error))
        }
        let isComplete = !record.keys.contains { $0.certificate == nil } && record.keys.count == keys.count
        record.keys = keys.map(\.stored)
        memory = Mutex(Memory(record: record, keys: keys, sealer: DemoSealer(key: Array(record.sealingKey))))
        if known == nil, let path {
            do {
                try file?.write(record)
            } catch {
                throw .stateFile(path: path, reason: "\(error); \(DemoTenantError.otherStateFile)")
            }
        }
        if !isComplete {
            save(record)
            // Nothing is published that the next start would not know.
            file?.waitUntilWritten()
        }
        if keys.isEmpty { makeFirstKeys(makeKeys) }
    }

    /// Reads the state.
    package func read<Value>(_ body: (borrowing Record) -> Value) -> Value {
        memory.withLock { body($0.record) }
    }

    /// Changes the state, which is then written on another thread.
    package func change<Value>(_ body: (inout Record) -> Value) -> Value {
        memory.withLock { memory in
            let value = body(&memory.record)
            save(memory.record)
            return value
        }
    }

    /// Changes the state, and leaves the writing to the next ``change(_:)`` or ``save()``. This is for values that
    /// occur in every sign-in and that a killed process may lose.
    package func note<Value>(_ body: (inout Record) -> Value) -> Value {
        memory.withLock { body(&$0.record) }
    }

    /// Begins again with the signing keys alone. With another sealing key, all codes, refresh tokens, sessions and pages
    /// under way end.
    package func begin(withSealingKey key: [UInt8]) {
        memory.withLock { memory in
            memory.record = Record(sealingKey: Data(key), keys: memory.record.keys)
            memory.sealer = DemoSealer(key: key)
            save(memory.record)
        }
    }

    /// The number of changes to be written so far.
    package var changes: Int { file?.saved ?? 0 }

    /// Waits until all changes up to now are on the disk. A disk failure is logged but not fatal.
    package func isWritten() async { await file?.isWritten() }

    /// Writes everything to the disk.
    package func save() async {
        memory.withLock { save($0.record) }
        await isWritten()
    }

    private func save(_ record: Record) { file?.save(record) }

    // MARK: Keys

    /// Returns the keys of a file with those that it lacks: older versions began with one of each kind. The one that has
    /// signed so far goes on signing. No keys stay none.
    private static func completed(_ known: [DemoSigningKey]) throws -> [DemoSigningKey] {
        guard !known.isEmpty else { return [] }
        let missing: [DemoSigningKey] = try [false, true].flatMap { forConsumers in
            let count = known.filter { $0.forConsumers == forConsumers }.count
            return try (0..<max(0, 2 - count)).map { _ in try DemoSigningKey(forConsumers: forConsumers) }
        }
        return missing + known
    }

    /// Makes the first keys on a separate thread, because that takes a tenth of a second and the start need not wait.
    private func makeFirstKeys(_ makeKeys: @escaping @Sendable () throws -> [DemoSigningKey]) {
        firstKeys.enter()
        Thread.detachNewThread { [weak self, firstKeys, logger] in
            defer { firstKeys.leave() }
            do {
                self?.begin(with: try makeKeys())
            } catch {
                logger.error("The demo tenant's signing keys could not be made; no one can sign in.", error: error)
            }
        }
    }

    private func begin(with keys: [DemoSigningKey]) {
        memory.withLock { memory in
            memory.keys = keys
            memory.record.keys = keys.map(\.stored)
            save(memory.record)
        }
        // Nothing is signed with keys that the next start would not know.
        file?.waitUntilWritten()
    }

    /// Waits until the keys are there. Requests wait here, so that nothing below blocks a worker.
    package func keysAreMade() async {
        guard firstKeys.wait(timeout: .now()) == .timedOut else { return }
        await withCheckedContinuation { continuation in
            firstKeys.notify(queue: .global()) { continuation.resume() }
        }
    }

    /// All published keys, oldest first. The property waits until the first ones have been made.
    package var keys: [DemoSigningKey] {
        firstKeys.wait()
        return memory.withLock { $0.keys }
    }

    /// Returns the key that signs for this kind of account.
    package func signingKey(for kind: DemoAccount.Kind) -> DemoSigningKey? {
        newestKey(forConsumers: kind == .personal)
    }

    /// Returns the key that signs for personal accounts, or for all others.
    package func newestKey(forConsumers: Bool) -> DemoSigningKey? { keys.last { $0.forConsumers == forConsumers } }

    package func key(id: String) -> DemoSigningKey? { keys.first { $0.id == id } }

    /// Creates new keys, which sign from now on. The two before them are kept, so that earlier signatures stay valid and
    /// there is always more than one; older keys are removed.
    package func rotateKeys() throws {
        firstKeys.wait()
        for forConsumers in [false, true] {
            let new = try DemoSigningKey(forConsumers: forConsumers)
            memory.withLock { memory in
                let previous = memory.keys.filter { $0.forConsumers == forConsumers }.suffix(2).map(\.id)
                memory.keys.removeAll { $0.forConsumers == forConsumers && !previous.contains($0.id) }
                memory.keys.append(new)
                memory.record.keys = memory.keys.map(\.stored)
                save(memory.record)
            }
        }
    }
}
