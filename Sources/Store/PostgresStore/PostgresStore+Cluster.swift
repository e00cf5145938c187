package import Foundation
package import SessionStore

/// The coordination of servers that use the same database, by its clock.
extension PostgresStore {
    package func connections() async -> StoreConnections? { await database.connections() }

    package func takeRefreshLease(
        of account: AccountKey, seen: Data, by process: ServerProcess.ID, for duration: Duration
    ) async throws(StoreError) -> RefreshLeaseAnswer {
        try await database.write { transaction in
            let row = try await transaction.query(
                "SELECT version FROM session WHERE key = $1 FOR UPDATE", [.key(account.session)]
            ).first
            guard let row, let (state, refreshToken, now) = try await transaction.refreshState(of: account) else {
                throw StoreError.noSuchSession
            }
            switch SignInRules.lease(
                state, refreshToken: refreshToken, seen: seen, by: process, now: now,
                sinceReturn: self.database.sinceReturn)
            {
            case .take:
                let taken = state.taken(by: process, for: duration, now: now)
                transaction.set(taken, of: account)
                return .taken(RefreshLease(account: account, fence: taken.fence, spent: seen))
            case .held(let remaining):
                if let shorter = state.broughtBack(now: now) { transaction.set(shorter, of: account) }
                return .held(
                    by: state.holder, remaining: .milliseconds(remaining), version: try row.integer(0))
            case .tooEarly(let wait, let status): return .tooEarly(.milliseconds(wait), status: status)
            case .changed: return .changed
            }
        }
    }

    package func giveBack(_ lease: RefreshLease, pause: Duration, status: Int?) async throws(StoreError) {
        try await database.write { transaction in
            guard let session = try await transaction.lock(lease.account.session),
                let (state, _, now) = try await transaction.refreshState(of: lease.account),
                state.fence == lease.fence
            else { return }
            try await transaction.change(session.key)
            transaction.set(state.givenBack(pause: pause, status: status, now: now), of: lease.account)
        }
    }

    package func take(_ chore: Chore, by process: ServerProcess.ID, for duration: Duration)
        async throws(StoreError) -> Bool
    {
        try await database.write { transaction in
            let row = try await transaction.query(
                "SELECT by_process, until, \(Transaction.serverTime) FROM chore WHERE name = $1 FOR UPDATE",
                [.text(chore.rawValue)]
            ).first
            guard let row else { return false }
            let now = try row.integer(2)
            guard SignInRules.mayTake(process, from: try row.text(0), until: try row.integer(1), now: now) else {
                return false
            }
            transaction.run(
                "UPDATE chore SET by_process = $1, until = $2 WHERE name = $3",
                [.text(process), .integer(now + duration.milliseconds), .text(chore.rawValue)])
            return true
        }
    }

    package func report(_ process: ServerProcess, for duration: Duration) async throws(StoreError) {
        try await database.write { transaction in
            transaction.run(
                """
                INSERT INTO server_process (id, host, version, keys, until, clock_ahead)
                VALUES ($1, $2, $3, $4, \(Transaction.serverTime) + $5, $6)
                ON CONFLICT (id) DO UPDATE SET host = EXCLUDED.host, version = EXCLUDED.version, keys = EXCLUDED.keys,
                    until = EXCLUDED.until, clock_ahead = EXCLUDED.clock_ahead
                """,
                [
                    .text(process.id), .text(process.host), .text(process.version),
                    .blob(Data(process.keys.flatMap(\.bytes))), .integer(duration.milliseconds),
                    .integer(process.clockAhead),
                ])
            transaction.run("DELETE FROM server_process WHERE until < \(Transaction.serverTime) - 86400000")
        }
    }

    package func standing() async throws(StoreError) -> PlaceStanding {
        try await database.read(
            """
            SELECT \(Transaction.serverTime), version, serves,
                (SELECT string_agg(id, CAST('' AS bytea)) FROM sealing_key)
            FROM companion_schema WHERE only_row = 1
            """
        ) { [name] result in
            guard let row = result.first else { throw StoreError.corrupt("\(name) has no version row") }
            return PlaceStanding(
                time: try row.integer(0), sealingKeys: KeyRing.KeyID.all(in: try row.optionalBlob(3) ?? Data()),
                refusal: PostgresSchema.refusal(of: name, version: try row.integer(1), serves: try row.integer(2)))
        }
    }

    package func livingProcesses() async throws(StoreError) -> [ServerProcess] {
        try await database.read(ServerProcess.livingQuery()) { try $0.rows.map(ServerProcess.init) }
    }
}

extension ServerProcess {
    /// - Parameter clock: the column with the time by which the machine's clock is ahead.
    static func livingQuery(clock: String = "clock_ahead") -> String {
        // A report that would last for longer was made before the database's clock was set back.
        """
        SELECT id, host, version, keys, \(clock) FROM server_process
        WHERE until > \(Transaction.serverTime) AND until <= \(Transaction.serverTime) + \(SignInRules.longestHold) ORDER BY id
        """
    }

    init(_ row: PostgresRow) throws {
        self.init(
            id: try row.text(0), host: try row.text(1), version: try row.text(2),
            keys: KeyRing.KeyID.all(in: try row.blob(3)), clockAhead: try row.optionalInteger(4))
    }
}

extension KeyRing.KeyID {
    /// Reads ids that are stored one after another.
    fileprivate static func all(in data: Data) -> Set<KeyRing.KeyID> {
        let bytes = [UInt8](data)
        return Set(
            stride(from: 0, to: bytes.count, by: byteCount).map {
                KeyRing.KeyID(bytes: Array(bytes[$0..<min($0 + byteCount, bytes.count)]))
            })
    }
}
