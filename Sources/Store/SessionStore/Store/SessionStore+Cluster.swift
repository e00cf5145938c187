import Foundation

// The cooperation of servers that use the same database.

extension SessionStore {
    /// The interval at which a server reports that it is running, and the time for which a report is valid.
    private static let reportInterval: Duration = .seconds(10)
    private static let reportLifetime: Duration = .seconds(30)
    /// The time after which a chore may be taken from a holder that does not continue it.
    private static let choreTime: Duration = .seconds(60)
    /// The time for which entries that were current a moment ago are served while the database is unavailable, in
    /// milliseconds; zero if nothing may be stale.
    var outageGrace: Int64 { cluster?.trust.map { $0 > .zero } == true ? 30_000 : 0 }

    /// The time to wait for the version of a session that can be served without it.
    private static let versionWait: Duration = .seconds(1)

    /// Returns the session in memory, if its version shows that it has not changed. While the database is unavailable
    /// or slow, an entry that was current a moment ago is served, unless nothing may be stale.
    ///
    /// - Returns: nil when the session must be read.
    func revalidated(_ id: SessionID) async throws(StoreError) -> Session? {
        guard let known = cache.doubtful(id.hash, now: now) else { return nil }
        return try await holds(known, since: id.version) ? known.session : nil
    }

    /// Whether the session in memory may be served.
    ///
    /// - Parameter version: the oldest version that may be served.
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

    /// The time for which another server may serve a session as it was before a change here; nil if none can.
    public var staleness: Duration? { cluster?.trust.flatMap { $0 > .zero ? $0 : nil } }

    /// Returns the version of a session that was changed here, or read here for the first time, a moment ago. The
    /// browser keeps it (``SessionID/version``), and so sees the change at every server.
    ///
    /// - Returns: nil when nothing was changed or read recently, or when no other server can have the older session.
    public func changedVersion(of session: SessionKey) async -> Int64? {
        switch cache.change(of: session) {
        case .none: nil
        case .version(let version): version
        case .unread: try? await cluster?.versions(of: [session])[session]
        }
    }

    /// Whether other servers may still have a session as it was before a recent change that the browser would see now.
    public func isNews(_ session: SessionKey, for id: SessionID?) -> Bool {
        switch cache.change(of: session) {
        case .none: false
        case .version(let version): version > id?.version ?? 0
        case .unread: true
        }
    }

    /// Returns the servers that use the same database, including this one after its first report.
    public func servers() async throws(StoreError) -> [(host: String, version: String)] {
        try await cluster?.livingProcesses().map { ($0.host, $0.version) } ?? []
    }

    /// Whether this server has a chore now. If so, it keeps it for a while.
    package func hasChore(_ chore: Chore) async -> Bool {
        guard let cluster else { return true }
        return (try? await cluster.take(chore, by: process, for: Self.choreTime)) ?? false
    }

    // MARK: Running servers

    private var own: ServerProcess {
        ServerProcess(
            id: process, host: hostName(), version: version, keys: Set(sealer.ring.keyIDs), clockAhead: time.wallAhead)
    }

    /// Reports that this server is running, with its keys and its clock. Learns the database's time, and chooses a
    /// sealing key that all servers have.
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
            sealer.agree(with: living.map(\.keys))
            standing.sealingKeys.subtract(keys)
            if !standing.sealingKeys.isEmpty {
                // A server records its key when it starts, even if the key must wait for other servers before it seals.
                let counts = (try? await backend.sealedCounts()) ?? [:]
                standing.sealingKeys = standing.sealingKeys.filter { counts[$0, default: 0] > 0 }
            }
            progress.besideOthers = StoreConcern.all(of: own, standing, beside: living)
            // While a key waits for other servers, they are checked every second.
            progress.reported = sealer.waiting == nil ? (keys, .now) : nil
        } catch {
            // The database is unavailable: the next round tries again.
            progress.reported = nil
        }
    }

    /// Reports that this server ends, so that others need not wait for it or for its chores.
    func reportEnd() async {
        guard let cluster, (try? await cluster.report(own, for: .zero)) != nil else { return }
        for chore in Chore.allCases { _ = try? await cluster.take(chore, by: process, for: .zero) }
    }

    /// Seals from now on with a key that all servers have.
    func agreeOnKey() async throws(StoreError) {
        guard let cluster else { return }
        sealer.agree(with: try await cluster.livingProcesses().map(\.keys))
    }

    /// Returns the hosts of the servers that have not reported a key.
    func serversWithout(_ key: KeyRing.KeyID) async throws(StoreError) -> [String] {
        try await cluster?.livingProcesses().filter { !$0.keys.contains(key) }.map(\.host) ?? []
    }

    private func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "?" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
