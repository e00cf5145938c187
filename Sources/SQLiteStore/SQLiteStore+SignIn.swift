import Foundation
import GRDB
import SessionStore

extension SQLiteStore {
    package func begin(_ attempt: BeginningAttempt, _ rules: SignInRules, now: Int64)
        async throws(StoreError) -> (session: SessionKey, isNew: Bool)
    {
        try await database.write { db in
            var session = try attempt.cookie.flatMap { try db.session($0) }
            if let found = session, rules.isOver(found, now: now) { session = nil }
            if let session { try db.use(session.key, now: now) }
            let isNewcomer = session?.hasAccounts != true
            if isNewcomer {
                if let refusal = attempt.refusal { throw refusal }
                try db.makeRoom(for: attempt.weight, in: session?.key, rules, now: now)
            }
            let key = try session?.key ?? db.insertSession(attempt.fresh, now: now)
            try db.insert(
                attempt.row(in: key, isNew: session == nil, now: now), attempt.state,
                weight: isNewcomer ? attempt.weight : 0)
            guard session != nil else { return (key, true) }
            try db.run(
                """
                DELETE FROM sign_in_attempt WHERE session = ? AND state_hash IN
                    (SELECT state_hash FROM sign_in_attempt WHERE session = ? ORDER BY begun_at DESC, rowid DESC LIMIT -1 OFFSET ?)
                """, [key, key, SignInRules.maxAttemptsPerSession])
            return (key, false)
        }
    }

    package func consume(_ callback: ArrivedCallback, _ rules: SignInRules, now: Int64)
        async throws(StoreError) -> (decision: CallbackDecision, attempt: AttemptRow?)
    {
        try await database.write { db in
            var attempt = try db.attempt(callback.state)
            let session = try attempt.flatMap { try db.session($0.session) }
            let decision = rules.decide(attempt, in: session, callback, now: now)
            switch decision {
            case .unknown, .otherBrowser, .inProgress, .failed, .expired: break
            case .replay:
                guard let session else { break }
                try db.rotate(session.key, to: callback.fresh, now: now)
                try db.run(
                    "UPDATE sign_in_attempt SET issued_id_hash = ? WHERE state_hash = ?",
                    [callback.fresh, callback.state])
            case .consume(let destination):
                guard var key = session?.key else { break }
                switch destination {
                case .session: break
                case .emptiedSession: try db.empty(key, now: now)
                case .newSession: key = try db.insertSession(callback.fresh, now: now)
                }
                try db.use(key, now: now)
                try db.run(
                    """
                    UPDATE sign_in_attempt SET session = ?, consumed_at = ?, code_hash = ?, sealed = NULL WHERE state_hash = ?
                    """, [key, now, callback.code, callback.state])
                attempt?.session = key
            }
            return (decision, attempt)
        }
    }

    package func complete(_ completion: Completion, now: Int64) async throws(StoreError) {
        try await database.write { db in
            guard let attempt = try db.attempt(completion.state), SignInRules.isBeingRedeemed(attempt) else {
                throw StoreError.attemptNotPending
            }
            if let account = completion.account {
                let number = try db.store(account, completion.tokens)
                if let token = completion.tokens.accessToken { try db.store(token, number, now: now) }
                try db.makeCurrent(number, account.key)
                // The session is as old as the sign-in, unless somebody else is in it since before.
                try db.run(
                    """
                    UPDATE session SET created_at = ?1
                    WHERE key = ?2 AND NOT EXISTS (SELECT 1 FROM account WHERE session = ?2 AND (app <> ?3 OR id <> ?4))
                    """, [now, attempt.session, account.key.app, account.key.id])
                // Anyone who has an account is no newcomer.
                try db.run(
                    "UPDATE sign_in_attempt SET weight = 0 WHERE session = ? AND weight > 0", [attempt.session])
            }
            try db.rotate(attempt.session, to: completion.fresh, now: now)
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

    package func hasAttempt(state: SHA256Hash, begunSince earliest: Int64) async throws(StoreError) -> Bool {
        try await database.read { db in
            try db.value(
                "SELECT 1 FROM sign_in_attempt WHERE state_hash = ? AND begun_at >= ?", [state, earliest],
                as: Int.self)
                != nil
        }
    }
}

extension Database {
    /// Makes sure that there is room for a sign-in of somebody who is not signed in. Where there is none, the ended
    /// sign-ins of the same session make it: who cancelled may try again.
    ///
    /// - Throws: `noRoom`.
    fileprivate func makeRoom(for weight: Int64, in session: SessionKey?, _ rules: SignInRules, now: Int64) throws {
        while try !hasRoom(for: weight, rules) {
            guard let session else { throw SignInRules.tooManyNewcomers }
            // As `SignInRules.makesRoom(_:now:)` has it.
            try run(
                """
                DELETE FROM sign_in_attempt WHERE rowid = (
                    SELECT rowid FROM sign_in_attempt WHERE session = ? AND weight > 0
                        AND (failed_at IS NOT NULL OR completed_at IS NOT NULL OR begun_at < ?)
                    ORDER BY begun_at LIMIT 1)
                """, [session, rules.oldestAttempt(now: now)])
            guard changesCount > 0 else { throw SignInRules.tooManyNewcomers }
        }
    }

    private func hasRoom(for weight: Int64, _ rules: SignInRules) throws -> Bool {
        guard let row = try row("SELECT count, bytes FROM newcomers") else { return true }
        return rules.hasRoom(
            for: weight, beside: try row.decode(forColumn: "count"), try row.decode(forColumn: "bytes"))
    }
}
