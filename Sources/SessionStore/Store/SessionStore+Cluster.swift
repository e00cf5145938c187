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
    var outageGrace: Int64 { cluster?.trust.map { $0 > .zero } == true ? 30_000 : 0 }

    /// How long is waited for the version of a session that can be served without it.
    private static let versionWait: Duration = .seconds(1)

    /// The session as memory has it, when its version says that nobody has changed it. While the place cannot be asked, or
    /// does not answer, what was right a moment ago is served, unless nothing may be stale.
    ///
    /// - Returns: nil when it has to be read.
    func revalidated(_ id: SessionID) async throws(StoreError) -> Session? {
        guard let known = cache.doubtful(id.hash, now: now) else { return nil }
        return try await holds(known, since: id.version) ? known.session : nil
    }

    /// Whether what memory has of a session may be served.
    ///
    /// - Parameter version: what is older than that may not.
    func holds(_ known: SessionCache.Doubtful, since version: Int64 = 0) async throws(StoreError) -> Bool {
        guard let cluster else { return false }
        let (key, now, ticket) = (known.session.key, now, cache.ticket())
        let isRecent = known.age < outageGrace && known.version >= version
        do throws(StoreError) {
            let current = try await cluster.versions(of: [key], within: isRecent ? Self.versionWait : nil)[key]
            return cache.confirm(known, current, ticket, now: now)
        } catch {
            guard error.isUnavailable, isRecent else { throw error }
            return true
        }
    }

    /// How long another server may have a session as it was before a change here; nil where none can.
    public var staleness: Duration? { cluster?.trust.flatMap { $0 > .zero ? $0 : nil } }

    /// The version of a session that was changed here a moment ago. The browser that has it (``SessionID/version``) sees
    /// the change at every server.
    ///
    /// - Returns: nil when nothing was changed here lately, or when no other server can have the session as it was.
    public func changedVersion(of session: SessionKey) async -> Int64? {
        switch cache.change(of: session) {
        case .none: nil
        case .version(let version): version
        case .unread: try? await cluster?.versions(of: [session])[session]
        }
    }

    /// The servers that work with the same place, this one included, once it has reported itself.
    public func servers() async throws(StoreError) -> [(host: String, version: String)] {
        try await cluster?.livingProcesses().map { ($0.host, $0.version) } ?? []
    }

    /// Whether this server does a chore now, which it has then for a while.
    func hasChore(_ chore: Chore) async -> Bool {
        guard let cluster else { return true }
        return (try? await cluster.take(chore, by: process, for: Self.choreTime)) ?? false
    }

    // MARK: Who lives

    private var own: ServerProcess {
        ServerProcess(
            id: process, host: hostName(), version: version, keys: Set(sealer.ring.keyIDs), clockAhead: time.wallAhead)
    }

    /// Learns what time it is, says that this server lives, and with which keys and clock, and seals with a key that all
    /// have.
    func report(_ progress: inout UpkeepProgress) async {
        guard let cluster else { return }
        let keys = Set(sealer.ring.keyIDs)
        if let last = progress.reported, last.keys == keys, last.at.duration(to: .now) < Self.reportInterval { return }
        do throws(StoreError) {
            let start = time.steady
            var standing = try await cluster.standing()
            time.measured(standing.time, after: start)
            let own = own
            try await cluster.report(own, for: Self.reportLifetime)
            let living = try await cluster.livingProcesses()
            sealer.agree(with: living)
            standing.sealingKeys.subtract(keys)
            if !standing.sealingKeys.isEmpty {
                // A server notes its key when it starts, which may have to wait for others before it seals.
                let counts = (try? await backend.sealedCounts()) ?? [:]
                standing.sealingKeys = standing.sealingKeys.filter { counts[$0, default: 0] > 0 }
            }
            note(StoreConcern.all(of: own, standing, beside: living))
            // While a key waits for others, they are asked each second.
            progress.reported = sealer.waiting == nil ? (keys, .now) : nil
        } catch {
            // The place is away: the next round tries again.
            progress.reported = nil
        }
    }

    /// So that the others need not wait for this one, nor for its chores.
    func reportEnd() async {
        guard let cluster, (try? await cluster.report(own, for: .zero)) != nil else { return }
        for chore in Chore.allCases { _ = try? await cluster.take(chore, by: process, for: .zero) }
    }

    /// Seals from now on with a key that all have who share the place.
    func agreeOnKey() async throws(StoreError) {
        guard let cluster else { return }
        sealer.agree(with: try await cluster.livingProcesses())
    }

    /// The hosts of the servers that have not reported a key.
    func serversWithout(_ key: KeyRing.KeyID) async throws(StoreError) -> [String] {
        try await cluster?.livingProcesses().filter { !$0.keys.contains(key) }.map(\.host) ?? []
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
