import Foundation
import Glibc
import Logging
import Synchronization

/// What the tenant remembers. With a state file it survives the process: each change is on disk (written beside and
/// renamed over the old file) before the answer that depends on it. Redeemed codes and used refresh tokens alone,
/// which come with every sign-in, are written with the next change or at the end.
final class TenantState: Sendable {
    /// The file's content.
    struct Record: Codable, Sendable {
        var version = 1
        var sealingKey: Data
        /// Oldest first; the last of each kind signs, the others still verify.
        var keys: [SigningKey.Stored]
        /// What was consented to: `client username` → scopes.
        var consents: [String: Set<String>] = [:]
        /// What an administrator consented to for everyone: client → scopes.
        var adminConsents: [String: Set<String>] = [:]
        /// How often a user was revoked: tokens and sessions carry the number they were made under.
        var revocations: [String: Int] = [:]
        /// Which second-factor demand a user has to have met: tokens and sessions carry the one they met.
        var secondFactorDemands: [String: Int] = [:]
        /// The number of the last demand to anyone.
        var lastSecondFactorDemand = 1
        /// Display names that people gave themselves; a state file of an older version has none.
        var displayNames: [String: String]?
        /// Who signed up; a state file of an older version has none.
        var signUps: [SignUp]?
        /// Refresh tokens that a client revoked, by id; a state file of an older version has none.
        var revokedTokens: Set<String>?
        /// Codes that were redeemed, with the time from which they would be refused for their age anyway.
        var redeemedCodes: [String: Date] = [:]
        /// Where refresh tokens are good for one use; a state file of an older version has none.
        var refreshFamilies: RefreshFamilies?
        /// Sign-on sessions (or one account of such a session) that were ended, with the time of their natural end.
        var endedSignOns: [String: Date] = [:]
    }

    private struct Memory {
        var record: Record
        var keys: [SigningKey]
    }

    let sealer: Sealer
    private let memory: Mutex<Memory>
    private let path: String?
    private let logger: Logger

    init(path: String?, randomBytes: @Sendable (Int) -> [UInt8], logger: Logger) throws(DemoTenantError) {
        self.path = path
        self.logger = logger
        let known = try path.flatMap(Self.load)
        let keys: [SigningKey]
        do {
            keys =
                try known.map { try $0.keys.map(SigningKey.init) }
                ?? [SigningKey(forConsumers: false), SigningKey(forConsumers: true)]
        } catch {
            throw .signingKey(String(describing: error))
        }
        let record = known ?? Record(sealingKey: Data(randomBytes(32)), keys: keys.map(\.stored))
        guard record.version == 1, record.sealingKey.count == 32, !keys.isEmpty else {
            throw .stateFile(path: path ?? "", reason: "it was not written by this version")
        }
        sealer = Sealer(key: Array(record.sealingKey))
        memory = Mutex(Memory(record: record, keys: keys))
        if known == nil, let path {
            do {
                try Self.write(record, to: path)
            } catch {
                throw .stateFile(path: path, reason: "\(error)")
            }
        }
    }

    /// Looks at what is remembered.
    func read<Value>(_ body: (borrowing Record) -> Value) -> Value {
        memory.withLock { body($0.record) }
    }

    /// Changes what is remembered, and has it on disk on return. A disk that refuses is logged and not fatal: the
    /// demo goes on, and the change lasts as long as the process.
    func change<Value>(_ body: (inout Record) -> Value) -> Value {
        memory.withLock { memory in
            let value = body(&memory.record)
            save(memory.record)
            return value
        }
    }

    /// Changes what is remembered, on disk with the next ``change(_:)`` or ``save()``: for what comes with every sign-in
    /// and may be forgotten by a process that is killed.
    func note<Value>(_ body: (inout Record) -> Value) -> Value {
        memory.withLock { body(&$0.record) }
    }

    /// Has everything on disk.
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

    /// All published keys, oldest first.
    var keys: [SigningKey] { memory.withLock { $0.keys } }

    /// The key that signs for this kind of account.
    func signingKey(for kind: DemoAccount.Kind) -> SigningKey? {
        memory.withLock { memory in memory.keys.last { $0.forConsumers == (kind == .personal) } }
    }

    func key(id: String) -> SigningKey? {
        memory.withLock { memory in memory.keys.first { $0.id == id } }
    }

    /// New keys sign from now on. The ones before are kept, so that what they signed stays good; older ones go.
    func rotateKeys() throws {
        for forConsumers in [false, true] {
            let new = try SigningKey(forConsumers: forConsumers)
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
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
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
