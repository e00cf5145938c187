import GRDB
package import SessionStore

extension SQLiteStore {
    package func consume(_ callback: ArrivedCallback, _ rules: SignInRules, now: Int64)
        async throws(StoreError) -> (decision: CallbackDecision, session: SessionKey?)
    {
        try await database.write { db in
            let attempt = try db.attempt(callback.state)
            let session =
                switch SignInRules.session(of: attempt, callback) {
                case .key(let key): try db.session(key)
                case .id(let hash): try db.session(hash)
                case .nowhere: SessionRow?.none
                }
            let decision = rules.decide(attempt, in: session, callback, now: now)
            switch decision {
            case .unknown, .completed, .otherBrowser, .inProgress, .failed, .expired: break
            case .replay:
                guard let session else { break }
                try db.rotate(session.key, to: callback.fresh, now: now)
                try db.run(
                    "UPDATE sign_in_attempt SET issued_id_hash = ? WHERE state_hash = ?",
                    [callback.fresh, callback.state])
            case .consume(let destination):
                return (decision, try db.consume(callback, into: session, destination, rules, now: now))
            }
            return (decision, session?.key)
        }
    }

    package func complete(_ completion: Completion, now: Int64) async throws(StoreError) {
        try await database.write { db in
            guard let attempt = try db.attempt(completion.state), SignInRules.isBeingRedeemed(attempt),
                let session = attempt.session
            else { throw StoreError.attemptNotPending }
            if let account = completion.account {
                let number = try db.store(account, completion.tokens)
                if let token = completion.tokens.accessToken { try db.store(token, number, now: now) }
                try db.makeCurrent(number, account.key)
                // The session is as old as the sign-in, unless another account was already signed in.
                try db.run(
                    """
                    UPDATE session SET created_at = ?1
                    WHERE key = ?2 AND NOT EXISTS (SELECT 1 FROM account WHERE session = ?2 AND (app <> ?3 OR id <> ?4))
                    """, [now, session, account.key.app, account.key.id])
                // A person who has an account is no newcomer.
                try db.run(
                    "UPDATE sign_in_attempt SET is_newcomers = 0 WHERE session = ? AND is_newcomers = 1",
                    [session])
            }
            try db.rotate(session, to: completion.fresh, now: now)
            try db.run(
                "UPDATE sign_in_attempt SET completed_at = ?, issued_id_hash = ? WHERE state_hash = ?",
                [now, completion.fresh, completion.state])
        }
    }

    package func fail(state: SHA256Hash, now: Int64) async throws(StoreError) {
        try await database.write { db in
            try db.run(
                "UPDATE sign_in_attempt SET failed_at = ? WHERE state_hash = ? AND completed_at IS NULL", [now, state])
        }
    }
}

extension Database {
    /// Inserts the attempt of a first callback.
    ///
    /// - Parameter session: the session that the callback is about.
    /// - Returns: the session that the attempt goes into.
    /// - Throws: the callback's refusal.
    fileprivate func consume(
        _ callback: ArrivedCallback, into session: SessionRow?, _ destination: CallbackDecision.Destination,
        _ rules: SignInRules, now: Int64
    ) throws -> SessionKey {
        let known = destination == .newSession ? nil : session
        let isNewcomer = destination == .emptiedSession || known?.hasAccounts != true
        if isNewcomer, let refusal = callback.refusal { throw refusal }
        if destination == .emptiedSession, let known { try empty(known.key, now: now) }
        if let known { try use(known.key, now: now) }
        let key = try known?.key ?? insertSession(callback.fresh, now: now)
        try run(
            """
            INSERT INTO sign_in_attempt (state_hash, session, is_newcomers, begun_at, consumed_at, code_hash)
            VALUES (?, ?, ?, ?, ?, ?)
            """, [callback.state, key, isNewcomer, callback.begunAt, now, callback.code])
        if isNewcomer { try makeRoomForNewcomer(rules, now: now) }
        guard known != nil else { return key }
        try run(
            """
            DELETE FROM sign_in_attempt WHERE state_hash IN (
                SELECT state_hash FROM sign_in_attempt WHERE session = ? AND state_hash <> ?
                ORDER BY consumed_at DESC, begun_at DESC LIMIT -1 OFFSET ?)
            """, [key, callback.state, SignInRules.maxAttemptsPerSession - 1])
        return key
    }

    /// Deletes the oldest expired attempts of people without an account if there are more than the limit, and the
    /// sessions that end with them.
    private func makeRoomForNewcomer(_ rules: SignInRules, now: Int64) throws {
        let count = try value("SELECT COUNT(*) FROM sign_in_attempt WHERE is_newcomers = 1", as: Int.self) ?? 0
        guard count > SignInRules.maxNewcomers else { return }
        let oldest = try rows(
            """
            SELECT state_hash, session FROM sign_in_attempt
            WHERE is_newcomers = 1 AND (failed_at IS NOT NULL OR completed_at IS NOT NULL OR consumed_at < ?)
            ORDER BY consumed_at LIMIT ?
            """, [rules.oldestRedemption(now: now), count - SignInRules.maxNewcomers])
        for row in oldest {
            let session: SessionKey? = try row.decode(forColumn: "session")
            try run(
                "DELETE FROM sign_in_attempt WHERE state_hash = ?",
                [try row.decode(SHA256Hash.self, forColumn: "state_hash")])
            try run(
                """
                DELETE FROM session WHERE key = ?1
                    AND NOT EXISTS (SELECT 1 FROM sign_in_attempt WHERE session = ?1)
                    AND NOT EXISTS (SELECT 1 FROM previous_account WHERE session = ?1)
                    AND NOT EXISTS (SELECT 1 FROM account WHERE session = ?1)
                """, [session])
        }
    }
}
