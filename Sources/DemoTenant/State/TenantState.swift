import Dispatch
import Foundation
import Logging
import Synchronization

/// The state that the tenant keeps. With a state file it outlives the process. Each change is on disk (written to a new
/// file and renamed over the old one) before the response that depends on it. Only ended sign-ins, redeemed codes and
/// used refresh tokens, which occur in every sign-in, are written with the next change or at the end.
final class TenantState: Sendable {
    /// The file's content.
    struct Record: Codable, Sendable {
        var version = 1
        var sealingKey: Data
        /// The signing keys, oldest first. The last of each kind signs; the others still verify. Empty until the first
        /// keys have been made.
        var keys: [DemoSigningKey.Stored]
        /// The consented scopes, by `client username`.
        var consents: [String: Set<String>] = [:]
        /// The scopes that an administrator consented to for everyone, by client.
        var adminConsents: [String: Set<String>] = [:]
        /// The number of revocations of each user. Tokens and sessions carry the number from the time when they were
        /// issued.
        var revocations: [String: Int] = [:]
        /// The second-factor demand that each user must meet. Tokens and sessions carry the demand that they have met.
        var secondFactorDemands: [String: Int] = [:]
        /// The number of the latest demand.
        var lastSecondFactorDemand = 1
        /// Display names that people have chosen. A state file from an older version has none.
        var displayNames: [String: String]?
        /// People who signed up. A state file from an older version has none.
        var signUps: [SignUp]?
        /// Refresh tokens that a client revoked, by ID. A state file from an older version has none.
        var revokedTokens: Set<String>?
        /// Redeemed codes, with the time at which they expire anyway.
        var redeemedCodes: [String: Date] = [:]
        /// Sign-ins that have ended, with the time at which their pages expire anyway. A state file from an older
        /// version has none.
        var endedSignIns: [String: Date]?
        /// Families of single-use refresh tokens. A state file from an older version has none.
        var refreshFamilies: RefreshFamilies?
        /// Sign-on sessions (or single accounts of such a session) that were ended, with the time at which they expire anyway.
        var endedSignOns: [String: Date] = [:]
    }

    private struct Memory {
        var record: Record
        var keys: [DemoSigningKey]
        var sealer: DemoSealer
    }

    var sealer: DemoSealer { memory.withLock { $0.sealer } }
    private let memory: Mutex<Memory>
    /// The group that is entered while the first keys are being made.
    private let firstKeys = DispatchGroup()
    private let path: String?
    private let logger: Logger

    /// Reads the file, or creates it and starts to make the keys.
    init(
        path: String?, randomBytes: @Sendable (Int) -> [UInt8],
        makeKeys: @escaping @Sendable () throws -> [DemoSigningKey] = DemoSigningKey.first, logger: Logger
    ) throws(DemoTenantError) {
        self.path = path
        self.logger = logger
        let known = try path.flatMap(Self.load)
        let keys: [DemoSigningKey]
        do {
            keys = try (known?.keys ?? []).map(DemoSigningKey.init)
        } catch {
            throw .signingKey(String(describing: error))
        }
        let record = known ?? Record(sealingKey: Data(randomBytes(32)), keys: [])
        guard record.version == 1, record.sealingKey.count == 32 else {
            throw .stateFile(path: path ?? "", reason: "it was not written by this version")
        }
        memory = Mutex(Memory(record: record, keys: keys, sealer: DemoSealer(key: Array(record.sealingKey))))
        if known == nil, let path {
            do {
                try Self.write(record, to: path)
            } catch {
                throw .stateFile(path: path, reason: "\(error)")
            }
        }
        if keys.isEmpty { makeFirstKeys(makeKeys) }
    }

    /// Reads the state.
    func read<Value>(_ body: (borrowing Record) -> Value) -> Value {
        memory.withLock { body($0.record) }
    }

    /// Changes the state and writes it to disk before returning. A disk failure is logged but not fatal: the demo
    /// continues, and the change lasts as long as the process.
    func change<Value>(_ body: (inout Record) -> Value) -> Value {
        memory.withLock { memory in
            let value = body(&memory.record)
            save(memory.record)
            return value
        }
    }

    /// Changes the state, and leaves the writing to the next ``change(_:)`` or ``save()``. This is for values that
    /// occur in every sign-in and that a killed process may lose.
    func note<Value>(_ body: (inout Record) -> Value) -> Value {
        memory.withLock { body(&$0.record) }
    }

    /// Begins again with the signing keys alone. With another sealing key, all codes, refresh tokens, sessions and pages
    /// under way end.
    func begin(withSealingKey key: [UInt8]) {
        memory.withLock { memory in
            memory.record = Record(sealingKey: Data(key), keys: memory.record.keys)
            memory.sealer = DemoSealer(key: key)
            save(memory.record)
        }
    }

    /// Writes everything to disk.
    func save() {
        memory.withLock { save($0.record) }
    }

    private func save(_ record: Record) {
        guard let path else { return }
        do {
            try Self.write(record, to: path)
        } catch {
            logger.error("The demo tenant's state was not saved; it lasts until the process ends.", error: error)
        }
    }

    // MARK: Keys

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
    }

    /// Waits until the keys are there. Requests wait here, so that nothing below blocks a worker.
    func keysAreMade() async {
        guard firstKeys.wait(timeout: .now()) == .timedOut else { return }
        await withCheckedContinuation { continuation in
            firstKeys.notify(queue: .global()) { continuation.resume() }
        }
    }

    /// All published keys, oldest first. The property waits until the first ones have been made.
    var keys: [DemoSigningKey] {
        firstKeys.wait()
        return memory.withLock { $0.keys }
    }

    /// Returns the key that signs for this kind of account.
    func signingKey(for kind: DemoAccount.Kind) -> DemoSigningKey? {
        keys.last { $0.forConsumers == (kind == .personal) }
    }

    func key(id: String) -> DemoSigningKey? { keys.first { $0.id == id } }

    /// Creates new keys, which sign from now on. The previous keys are kept, so that earlier signatures stay valid;
    /// older keys are removed.
    func rotateKeys() throws {
        firstKeys.wait()
        for forConsumers in [false, true] {
            let new = try DemoSigningKey(forConsumers: forConsumers)
            memory.withLock { memory in
                let previous = memory.keys.last { $0.forConsumers == forConsumers }
                memory.keys.removeAll { $0.forConsumers == forConsumers && $0.id != previous?.id }
                memory.keys.append(new)
                memory.record.keys = memory.keys.map(\.stored)
                save(memory.record)
            }
        }
    }

    // MARK: The file

    private static func load(_ path: String) throws(DemoTenantError) -> Record? {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        } catch {
            throw .stateFile(path: path, reason: error.localizedDescription)
        }
        do {
            return try JSONDecoder().decode(Record.self, from: data)
        } catch {
            throw .stateFile(path: path, reason: "it is not a state file")
        }
    }

    private static func write(_ record: Record, to path: String) throws {
        let beside = "\(path).new"
        let data = try JSONEncoder().encode(record)
        let descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileError(call: "open", code: errno) }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else { throw FileError(call: "chmod", code: errno) }
        try data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                guard count > 0 else { throw FileError(call: "write", code: errno) }
                rest = rest.dropFirst(count)
            }
        }
        guard rename(beside, path) == 0 else { throw FileError(call: "rename", code: errno) }
    }

    private struct FileError: Error, CustomStringConvertible {
        var call: String
        var code: Int32
        var description: String { "\(call): \(String(cString: strerror(code)))" }
    }
}
