import Foundation
import SessionStore

extension PostgresStore {
    package func begin(_ attempt: BeginningAttempt, _ rules: SignInRules, now: Int64)
        async throws(StoreError) -> (session: SessionKey, isNew: Bool)
    {
        try await database.write { [database] transaction in
            var session: SessionRow?
            if let cookie = attempt.cookie { session = try await transaction.lock(cookie) }
            if let found = session, rules.isOver(found, now: now) { session = nil }
            if let session { transaction.use(session.key, now: now) }
            let isNewcomer = session?.hasAccounts != true
            if isNewcomer {
                if let refusal = attempt.refusal { throw refusal }
                try await transaction.makeRoom(for: attempt.weight, in: session?.key, rules, now: now)
            }
            let key = session?.key ?? database.newKey()
            if session == nil { transaction.insertSession(key, attempt.fresh, now: now) }
            transaction.insert(
                attempt.row(in: key, isNew: session == nil, now: now), attempt.state,
                weight: isNewcomer ? attempt.weight : 0)
            guard session != nil else { return (key, true) }
            transaction.run(
                """
                DELETE FROM sign_in_attempt WHERE state_hash IN (
                    SELECT state_hash FROM sign_in_attempt WHERE session = $1
                    ORDER BY begun_at DESC, position DESC OFFSET $2)
                """, [.key(key), .integer(Int64(SignInRules.maxAttemptsPerSession))])
            return (key, false)
        }
    }

    package func consume(_ callback: ArrivedCallback, _ rules: SignInRules, now: Int64)
        async throws(StoreError) -> (decision: CallbackDecision, attempt: AttemptRow?)
    {
        try await database.write { [database] transaction in
            let found = try await transaction.lockAttempt(callback.state)
            var attempt = found?.attempt
            let decision = rules.decide(attempt, in: found?.session, callback, now: now)
            guard var key = found?.session?.key else { return (decision, attempt) }
            switch decision {
            case .unknown, .otherBrowser, .inProgress, .failed, .expired: break
            case .replay:
                try await transaction.change(key)
                transaction.rotate(key, to: callback.fresh, now: now)
                transaction.run(
                    "UPDATE sign_in_attempt SET issued_id_hash = $1 WHERE state_hash = $2",
                    [.hash(callback.fresh), .hash(callback.state)])
            case .consume(let destination):
                try await transaction.change(key)
                switch destination {
                case .session: break
                case .emptiedSession: transaction.empty([key], now: now)
                case .newSession:
                    key = database.newKey()
                    transaction.insertSession(key, callback.fresh, now: now)
                }
                transaction.use(key, now: now)
                transaction.run(
                    """
                    UPDATE sign_in_attempt SET session = $1, consumed_at = $2, code_hash = $3, sealed = NULL
                    WHERE state_hash = $4
                    """, [.key(key), .integer(now), .hash(callback.code), .hash(callback.state)])
                attempt?.session = key
            }
            return (decision, attempt)
        }
    }

    package func complete(_ completion: Completion, now: Int64) async throws(StoreError) {
        try await database.write { transaction in
            guard let (attempt, session) = try await transaction.lockAttempt(completion.state), session != nil,
                SignInRules.isBeingRedeemed(attempt)
            else { throw StoreError.attemptNotPending }
            try await transaction.change(attempt.session)
            if let account = completion.account {
                transaction.store(account, completion.tokens)
                if let token = completion.tokens.accessToken { try await transaction.store(token, now: now) }
                transaction.makeCurrent(account.key)
                // The session is as old as the sign-in, unless somebody else is in it since before.
                transaction.run(
                    """
                    UPDATE session SET created_at = $1
                    WHERE key = $2 AND NOT EXISTS (SELECT 1 FROM account WHERE session = $2 AND (app <> $3 OR id <> $4))
                    """,
                    [.integer(now), .key(attempt.session), .text(account.key.app), .text(account.key.id)])
                // Anyone who has an account is no newcomer.
                transaction.run(
                    "UPDATE sign_in_attempt SET weight = 0 WHERE session = $1 AND weight > 0", [.key(attempt.session)])
            }
            transaction.rotate(attempt.session, to: completion.fresh, now: now)
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

    package func hasAttempt(state: SHA256Hash, begunSince earliest: Int64) async throws(StoreError) -> Bool {
        try await database.read(
            "SELECT begun_at FROM sign_in_attempt WHERE state_hash = $1 AND begun_at >= $2",
            [.hash(state), .integer(earliest)]
        ) { !$0.isEmpty }
    }
}

extension Transaction {
    /// So many may begin between a count and its use, in all servers together: one for each connection.
    private static let margin: Int64 = 256
    /// What one of them takes up at most, in bytes.
    private static let largestWeight: Int64 = 64 << 10

    /// Makes sure that there is room for a sign-in of somebody who is not signed in. Where there is none, the ended
    /// sign-ins of the same session make it: who cancelled may try again.
    ///
    /// Near the limit one counts at a time; far from it nobody waits.
    ///
    /// - Throws: `noRoom`.
    fileprivate func makeRoom(
        for weight: Int64, in session: SessionKey?, _ rules: SignInRules, now: Int64
    ) async throws {
        let (count, bytes) = try await newcomers()
        if rules.hasRoom(for: weight, beside: count + Self.margin, bytes + Self.margin * Self.largestWeight) { return }
        run("SELECT name FROM chore WHERE name = 'newcomers' FOR UPDATE")
        while true {
            let (count, bytes) = try await newcomers()
            if rules.hasRoom(for: weight, beside: count, bytes) { return }
            guard let session else { throw SignInRules.tooManyNewcomers }
            // As `SignInRules.makesRoom(_:now:)` has it.
            let result = try await query(
                """
                DELETE FROM sign_in_attempt WHERE state_hash = (
                    SELECT state_hash FROM sign_in_attempt WHERE session = $1 AND weight > 0
                        AND (failed_at IS NOT NULL OR completed_at IS NOT NULL OR begun_at < $2)
                    ORDER BY begun_at, position LIMIT 1)
                """, [.key(session), .integer(rules.oldestAttempt(now: now))])
            guard result.changes > 0 else { throw SignInRules.tooManyNewcomers }
        }
    }

    private func newcomers() async throws -> (count: Int64, bytes: Int64) {
        let row = try await query(
            "SELECT COUNT(*), CAST(COALESCE(SUM(weight), 0) AS bigint) FROM sign_in_attempt WHERE weight > 0"
        ).first
        return (try row?.integer(0) ?? 0, try row?.integer(1) ?? 0)
    }
}
