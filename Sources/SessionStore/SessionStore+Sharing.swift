import Foundation

// What servers that share a place do beside each other.

extension SessionStore {
    /// How often a server says that it lives, and for how long that holds.
    private static let reportInterval: Duration = .seconds(10)
    private static let reportLifetime: Duration = .seconds(30)
    /// A chore that its holder does not go on with is another's after this time.
    private static let choreTime: Duration = .seconds(60)
    /// How long what was right a moment ago is served while the place cannot be asked, in milliseconds. Where nothing may
    /// be stale, that is nothing.
    var outageGrace: Int64 { shared?.trust.map { $0 > .zero } == true ? 30_000 : 0 }

    /// The session as memory has it, when its version says that nobody has changed it. While the place cannot be asked,
    /// what was right a moment ago is served, unless nothing may be stale.
    ///
    /// - Returns: nil when it has to be read.
    func revalidated(_ id: SessionID) async throws(StoreError) -> Session? {
        let now = now
        guard let shared, let known = cache.doubtful(id.hash, now: now) else { return nil }
        let ticket = cache.ticket()
        do throws(StoreError) {
            let version = try await shared.versions(of: [known.session.key])[known.session.key]
            return version == known.version && cache.confirm(known, ticket, now: now) ? known.session : nil
        } catch {
            guard error.isUnavailable, known.age < outageGrace, known.version >= id.version else { throw error }
            return known.session
        }
    }

    /// How long another server may have a session as it was before a change here; nil where none can.
    public var staleness: Duration? { shared?.trust.flatMap { $0 > .zero ? $0 : nil } }

    /// The version of a session that was changed here a moment ago. The browser that has it (``SessionID/version``) sees
    /// the change at every server.
    ///
    /// - Returns: nil when nothing was changed here lately, or when no other server can have the session as it was.
    public func changedVersion(of session: SessionKey) async -> Int64? {
        switch cache.change(of: session) {
        case .none: nil
        case .version(let version): version
        case .unread: try? await shared?.versions(of: [session])[session]
        }
    }

    /// The servers that work with the same place, this one included, once it has reported itself.
    public func servers() async throws(StoreError) -> [(host: String, version: String)] {
        try await shared?.livingProcesses().map { ($0.host, $0.version) } ?? []
    }

    /// Whether this server does a chore now, which it has then for a while.
    func hasChore(_ chore: Chore) async -> Bool {
        guard let shared else { return true }
        return (try? await shared.take(chore, by: process, for: Self.choreTime)) ?? false
    }

    // MARK: Who lives

    private var own: ServerProcess {
        ServerProcess(id: process, host: hostName(), version: version, keys: Set(sealer.ring.keyIDs))
    }

    /// Says that this server lives, and with which keys, and seals with one that all have.
    func report(_ progress: inout UpkeepProgress) async {
        guard let shared else { return }
        let own = own
        if let last = progress.reported, last.process == own, last.at.duration(to: .now) < Self.reportInterval {
            return
        }
        do throws(StoreError) {
            try await shared.report(own, for: Self.reportLifetime)
            try await agreeOnKey()
            // While a key waits for others, they are asked each second.
            progress.reported = sealer.waiting == nil ? (own, .now) : nil
        } catch {
            // The place is away: the next round tries again.
            progress.reported = nil
        }
    }

    /// So that the others need not wait for this one, nor for its chores.
    func reportEnd() async {
        guard let shared, (try? await shared.report(own, for: .zero)) != nil else { return }
        for chore in Chore.allCases { _ = try? await shared.take(chore, by: process, for: .zero) }
    }

    /// Seals from now on with a key that all have who share the place.
    func agreeOnKey() async throws(StoreError) {
        guard let shared else { return }
        sealer.agree(with: try await shared.livingProcesses())
    }

    /// The hosts of the servers that have not reported a key.
    func serversWithout(_ key: KeyRing.KeyID) async throws(StoreError) -> [String] {
        try await shared?.livingProcesses().filter { !$0.keys.contains(key) }.map(\.host) ?? []
    }

    private func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "?" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension KeyRing {
    /// The first of the keys that all of the processes have; the ring's first where they have none in common.
    func sealingKey(for processes: [ServerProcess]) -> KeyID {
        keyIDs.first { id in processes.allSatisfy { $0.keys.contains(id) } } ?? currentKeyID
    }

    /// The same keys with another one first, where it is among them.
    func sealing(with id: KeyID?) -> KeyRing {
        guard let id, id != currentKeyID, let key = key(id.bytes) else { return self }
        var ring = self
        ring.current = key
        ring.older = ([current] + older).filter { $0.id != id }
        return ring
    }
}
