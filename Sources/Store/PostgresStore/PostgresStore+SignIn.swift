package import SessionStore

extension PostgresStore {
    package func consume(_ callback: ArrivedCallback, _ rules: SignInRules, now: Int64)
        async throws(StoreError) -> (decision: CallbackDecision, session: SessionKey?)
    {
        while true {
            let consumed = try await database.write {
                [database] transaction -> (decision: CallbackDecision, session: SessionKey?)? in
                let (attempt, session) = try await transaction.lockSession(of: callback)
                let decision = rules.decide(attempt, in: session, callback, now: now)
                switch decision {
                case .unknown, .completed, .otherBrowser, .inProgress, .failed, .expired: break
                case .replay:
                    guard let session else { break }
                    try await transaction.change(session.key)
                    transaction.rotate(session.key, to: callback.fresh, now: now)
                    transaction.run(
                        "UPDATE sign_in_attempt SET issued_id_hash = $1 WHERE state_hash = $2",
                        [.hash(callback.fresh), .hash(callback.state)])
                case .consume(let destination):
                    let known = destination == .newSession ? nil : session
                    let key = known?.key ?? database.newKey()
                    return try await transaction.consume(callback, into: known, key, destination, rules, now: now)
                        ? (decision, key) : nil
                }
                return (decision, session?.key)
            }
            // Another server was faster with the same callback.
            if let consumed { return consumed }
        }
    }

    package func complete(_ completion: Completion, now: Int64) async throws(StoreError) {
        try await database.write { transaction in
            guard let (attempt, row) = try await transaction.lockAttempt(completion.state), let session = row?.key,
                SignInRules.isBeingRedeemed(attempt)
            else { throw StoreError.attemptNotPending }
            try await transaction.change(session)
            if let account = completion.account {
                transaction.store(account, completion.tokens)
                if let token = completion.tokens.accessToken { try await transaction.store(token, now: now) }
                transaction.makeCurrent(account.key)
                // The session is as old as the sign-in, unless another account was already signed in.
                transaction.run(
                    """
                    UPDATE session SET created_at = $1
                    WHERE key = $2 AND NOT EXISTS (SELECT 1 FROM account WHERE session = $2 AND (app <> $3 OR id <> $4))
                    """,
                    [.integer(now), .key(session), .text(account.key.app), .text(account.key.id)])
                // A person who has an account is no newcomer.
                transaction.run(
                    "UPDATE sign_in_attempt SET weight = 0 WHERE session = $1 AND weight > 0", [.key(session)])
            }
            transaction.rotate(session, to: completion.fresh, now: now)
            transaction.run(
                "UPDATE sign_in_attempt SET completed_at = $1, issued_id_hash = $2 WHERE state_hash = $3",
                [.integer(now), .hash(completion.fresh), .hash(completion.state)])
        }
    }

    package func fail(state: SHA256Hash, now: Int64) async throws(StoreError) {
        try await database.write { transaction in
            transaction.run(
                "UPDATE sign_in_attempt SET failed_at = $1 WHERE state_hash = $2 AND completed_at IS NULL",
                [.integer(now), .hash(state)])
        }
    }
}

extension Transaction {
    /// Locks and returns the attempt's row, if it is consumed, and the session that a callback is about.
    fileprivate func lockSession(of callback: ArrivedCallback) async throws -> (AttemptRow?, SessionRow?) {
        if let found = try await lockAttempt(callback.state) { return (found.attempt, found.session) }
        var session: SessionRow?
        switch SignInRules.session(of: nil, callback) {
        case .key(let key): session = try await lock(key)
        case .id(let hash): session = try await lock(hash)
        case .nowhere: break
        }
        // Another server may have consumed it while this one waited for the session.
        guard session != nil, let found = try await lockAttempt(callback.state) else { return (nil, session) }
        return (found.attempt, found.session)
    }

    /// Inserts the attempt of a first callback.
    ///
    /// - Parameters:
    ///   - session: the session that the attempt goes into; nil for a new one.
    ///   - key: the key of that session, or of the new one.
    /// - Returns: false when another server has inserted it; nothing has changed then.
    /// - Throws: the callback's refusal.
    fileprivate func consume(
        _ callback: ArrivedCallback, into session: SessionRow?, _ key: SessionKey,
        _ destination: CallbackDecision.Destination, _ rules: SignInRules, now: Int64
    ) async throws -> Bool {
        let isNewcomer = destination == .emptiedSession || session?.hasAccounts != true
        if isNewcomer, let refusal = callback.refusal { throw refusal }
        if session == nil { insertSession(key, callback.fresh, now: now) }
        if destination == .emptiedSession { empty([key], now: now) }
        let inserted = try await query(
            """
            INSERT INTO sign_in_attempt (state_hash, session, weight, begun_at, consumed_at, code_hash)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (state_hash) DO NOTHING
            """,
            [
                .hash(callback.state), .key(key), .integer(isNewcomer ? 1 : 0), .integer(callback.begunAt),
                .integer(now), .hash(callback.code),
            ]
        ).changes
        guard inserted > 0 else {
            // This only happens when one of the two callers had no session to lock.
            if session == nil { delete([key]) }
            return false
        }
        try await change(key)
        if isNewcomer { try await makeRoomForNewcomer(rules, now: now) }
        guard session != nil else { return true }
        use(key, now: now)
        run(
            """
            DELETE FROM sign_in_attempt WHERE state_hash IN (
                SELECT state_hash FROM sign_in_attempt
                WHERE session = $1 AND state_hash <> $2 AND consumed_at IS NOT NULL
                ORDER BY consumed_at DESC, begun_at DESC, state_hash OFFSET $3)
            """, [.key(key), .hash(callback.state), .integer(Int64(SignInRules.maxAttemptsPerSession - 1))])
        return true
    }

    /// Deletes the oldest expired attempts of people without an account if there are more than the limit, and the
    /// sessions that end with them. Locked sessions are skipped: nothing waits here.
    private func makeRoomForNewcomer(_ rules: SignInRules, now: Int64) async throws {
        // Attempts that an earlier version has begun do not count.
        let count =
            try await query("SELECT COUNT(*) FROM sign_in_attempt WHERE weight > 0 AND consumed_at IS NOT NULL")
            .first?.integer(0) ?? 0
        guard count > SignInRules.maxNewcomers else { return }
        run("DELETE FROM sign_in_attempt WHERE weight > 0 AND session IS NULL")
        let sessions = try await query(
            """
            SELECT key FROM session WHERE key IN (
                SELECT session FROM sign_in_attempt
                WHERE weight > 0 AND (failed_at IS NOT NULL OR completed_at IS NOT NULL OR consumed_at < $1)
                ORDER BY consumed_at LIMIT $2)
            FOR UPDATE SKIP LOCKED
            """,
            [.integer(rules.oldestRedemption(now: now)), .integer(count - Int64(SignInRules.maxNewcomers))]
        ).rows.map { try $0.key(0) }
        guard !sessions.isEmpty else { return }
        run(
            """
            DELETE FROM sign_in_attempt WHERE session = ANY($1) AND weight > 0
                AND (failed_at IS NOT NULL OR completed_at IS NOT NULL OR consumed_at < $2)
            """, [.keys(sessions), .integer(rules.oldestRedemption(now: now))])
        run(
            """
            DELETE FROM session WHERE key = ANY($1)
                AND NOT EXISTS (SELECT 1 FROM sign_in_attempt WHERE session = key)
                AND NOT EXISTS (SELECT 1 FROM previous_account WHERE session = key)
                AND NOT EXISTS (SELECT 1 FROM account WHERE session = key)
            """, [.keys(sessions)])
        run(
            "DELETE FROM session_note WHERE session = ANY($1) AND NOT EXISTS (SELECT 1 FROM session WHERE key = session)",
            [.keys(sessions)])
    }
}
