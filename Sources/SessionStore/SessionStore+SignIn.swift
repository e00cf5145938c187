import Foundation
import GRDB

/// What of an attempt is sealed.
private struct AttemptSecrets: Codable {
    var nonce: String
    var codeVerifier: String
    var attributes: [String: String]
}

extension SessionStore {
    /// More attempts than a person has tabs; the oldest go.
    private static let maxAttemptsPerSession = 50
    /// How long after its completion the same callback may come again.
    private static let replayWindow: Int64 = 10 * 60_000
    /// A redemption takes seconds: an attempt that was consumed longer ago was cut off.
    private static let redemptionTime: Int64 = 2 * 60_000

    /// Stores an attempt before the browser leaves.
    ///
    /// - Throws: `noRoom` when people who are not signed in take up as much as they may, or the disk is nearly full; not
    ///   in a session with an account.
    public func beginSignIn(_ new: NewSignInAttempt, cookie: SessionID?) async throws(StoreError) -> BegunSignIn {
        let now = now
        let diskIsLow = reserve.isLow(now: now)
        let fresh = SessionID(randomBytes: randomBytes)
        let stateHash = SHA256Hash(of: new.state)
        let secrets = AttemptSecrets(nonce: new.nonce, codeVerifier: new.codeVerifier, attributes: new.attributes)
        guard let json = try? JSONEncoder().encode(secrets) else {
            throw .corrupt("the sign-in attempt cannot be encoded")
        }
        let sealed = try sealer.seal(String(decoding: json, as: UTF8.self), for: .attempt(stateHash))
        let scopes = new.requestedScopes.joined(separator: " ")
        let weight = Self.weight(new, sealed: sealed, scopes: scopes)
        return try await database.write { [self] db, changes in
            var id = fresh
            var session: Int64?
            var isNewcomer = true
            if let cookie, let head = try records.head(db, hash: cookie.hash),
                !records.isOver(head, lastUse: cache.lastUse(head.key), now: now)
            {
                id = cookie
                session = head.key
                isNewcomer = !head.hasAccounts
                try db.run("UPDATE session SET last_seen_at = MAX(last_seen_at, ?) WHERE key = ?", [now, head.key])
                // A session without an account lives longer by this.
                if isNewcomer { changes.sessions.insert(head.key) }
            }
            if isNewcomer { try requireRoom(for: weight, in: session, diskIsLow: diskIsLow, db, now: now) }
            let key = try session ?? records.insertSession(db, fresh.hash, now: now)
            try db.run(
                """
                INSERT INTO sign_in_attempt (state_hash, session, begun_id_hash, app, return_to, prompt, requested_scopes,
                    expected_account, begun_at, sealed, weight)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    stateHash.blob, key, id.hash.blob, new.app, new.returnTo, new.prompt, scopes,
                    new.expectedAccountID, now, sealed, isNewcomer ? weight : 0,
                ])
            try db.run(
                """
                DELETE FROM sign_in_attempt WHERE session = ? AND state_hash IN
                    (SELECT state_hash FROM sign_in_attempt WHERE session = ? ORDER BY begun_at DESC, rowid DESC LIMIT -1 OFFSET ?)
                """, [key, key, Self.maxAttemptsPerSession])
            return BegunSignIn(sessionID: id, session: SessionKey(key))
        }
    }

    /// Takes the attempt of a callback, once: the attempt is consumed before the code is redeemed, whatever comes of it.
    /// `code` is nil for an error response.
    ///
    /// The callback must come from the browser that began the attempt. A cookie that is the session's current id joins
    /// that session. The id with which the attempt was begun, when the session has another by now (a second tab that
    /// was already on its way), goes into a new session of its own: whoever planted that id must not get into the
    /// session that was signed in meanwhile.
    ///
    /// The same callback may come again (reloaded, or its answer was lost): with the same code, within 10 minutes, from
    /// the session's current id, or from the id that began it as long as the session still has the id that this
    /// attempt's completion gave it (so the browser cannot have gone on). The id is rotated then.
    public func consumeAttempt(state: String, code: String?, cookie: SessionID?) async throws(StoreError)
        -> ConsumedAttempt
    {
        let now = now
        let stateHash = SHA256Hash(of: state)
        let codeHash = code.map(SHA256Hash.init(of:))
        let fresh = SessionID(randomBytes: randomBytes)
        return try await database.write { [self] db, changes in
            guard let row = try AttemptRow(db, stateHash) else { return .unknown }
            guard let head = try records.head(db, key: row.session), let cookie else { return .otherBrowser }
            let isCurrent = cookie.hash.blob == head.idHash
            guard isCurrent || cookie.hash.blob == row.begunIDHash else { return .otherBrowser }
            if let consumedAt = row.consumedAt {
                guard row.codeHash == codeHash?.blob else { return .unknown }
                if row.hasFailed { return .failed(app: row.app, returnTo: row.returnTo) }
                guard let completedAt = row.completedAt else {
                    return now &- consumedAt <= Self.redemptionTime
                        ? .inProgress(app: row.app, returnTo: row.returnTo)
                        : .failed(app: row.app, returnTo: row.returnTo)
                }
                guard isCurrent || row.issuedIDHash == head.idHash else { return .otherBrowser }
                guard now &- completedAt <= Self.replayWindow,
                    !records.isOver(head, lastUse: cache.lastUse(head.key), now: now)
                else { return .expired(app: row.app, returnTo: row.returnTo) }
                try records.rotate(db, head.key, to: fresh.hash, now: now)
                try db.run(
                    "UPDATE sign_in_attempt SET issued_id_hash = ? WHERE state_hash = ?",
                    [fresh.hash.blob, stateHash.blob])
                changes.sessions.insert(head.key)
                return .replayed(app: row.app, returnTo: row.returnTo, newSessionID: fresh)
            }
            guard now &- row.begunAt <= lifetimes.attempt, let sealed = row.sealed else {
                return .expired(app: row.app, returnTo: row.returnTo)
            }
            var session = head.key
            if !isCurrent {
                // Nobody knows this id: completion gives the session another.
                session = try records.insertSession(db, fresh.hash, now: now)
            } else if records.isOver(head, lastUse: cache.lastUse(head.key), now: now) {
                // A slow sign-in in a session whose time ran out: those who were signed in do not come back.
                try records.empty(db, session, now: now)
                changes.sessions.insert(session)
            }
            try db.run("UPDATE session SET last_seen_at = MAX(last_seen_at, ?) WHERE key = ?", [now, session])
            try db.run(
                """
                UPDATE sign_in_attempt SET session = ?, consumed_at = ?, code_hash = ?, sealed = NULL WHERE state_hash = ?
                """, [session, now, codeHash?.blob, stateHash.blob])
            let json = try sealer.open(sealed, for: .attempt(stateHash))
            let secrets = try JSONDecoder().decode(AttemptSecrets.self, from: Data(json.utf8))
            return .attempt(row.attempt(secrets, SessionKey(session), stateHash))
        }
    }

    /// Stores account and tokens, makes the account current, and rotates the session's id: set the one returned.
    /// One transaction; `attemptNotPending` when it was completed or failed before, or its session was revoked.
    public func completeSignIn(_ attempt: SignInAttempt, account: NewAccount, tokens: NewTokens)
        async throws(StoreError) -> SessionID
    {
        let now = now
        let fresh = SessionID(randomBytes: randomBytes)
        let app = attempt.app
        return try await database.write { [self] db, changes in
            guard let row = try AttemptRow(db, attempt.stateHash), row.isBeingRedeemed,
                try records.head(db, key: row.session) != nil
            else { throw StoreError.attemptNotPending }
            let session = row.session
            let key = try records.storeAccount(db, session, app, account, tokens, now: now)
            try records.storeAccessToken(db, key, session, app, account.id, tokens, now: now)
            try db.run("UPDATE account SET is_current = (key = ?) WHERE session = ? AND app = ?", [key, session, app])
            // The session is as old as the sign-in, unless somebody else is in it since before.
            try db.run(
                """
                UPDATE session SET created_at = ?
                WHERE key = ? AND NOT EXISTS (SELECT 1 FROM account WHERE session = ? AND (app <> ? OR id <> ?))
                """, [now, session, session, app, account.id])
            // Whoever has an account is no newcomer.
            try db.run("UPDATE sign_in_attempt SET weight = 0 WHERE session = ? AND weight > 0", [session])
            try finish(attempt, in: session, fresh, db, now: now)
            changes.sessions.insert(session)
            return fresh
        }
    }

    /// Ends an attempt that brings no account, as edit profile or an administrator's consent. The session's id is
    /// rotated all the same: set the one returned.
    public func completeAttempt(_ attempt: SignInAttempt) async throws(StoreError) -> SessionID {
        let now = now
        let fresh = SessionID(randomBytes: randomBytes)
        return try await database.write { [self] db, changes in
            guard let row = try AttemptRow(db, attempt.stateHash), row.isBeingRedeemed,
                try records.head(db, key: row.session) != nil
            else { throw StoreError.attemptNotPending }
            try finish(attempt, in: row.session, fresh, db, now: now)
            changes.sessions.insert(row.session)
            return fresh
        }
    }

    private func finish(
        _ attempt: SignInAttempt, in session: Int64, _ fresh: SessionID, _ db: Database, now: Int64
    ) throws {
        try records.rotate(db, session, to: fresh.hash, now: now)
        try db.run(
            "UPDATE sign_in_attempt SET completed_at = ?, issued_id_hash = ? WHERE state_hash = ?",
            [now, fresh.hash.blob, attempt.stateHash.blob])
    }

    /// Marks a consumed attempt as failed, so that a reloaded callback says so. Does nothing to a completed one.
    public func failSignIn(_ attempt: SignInAttempt) async throws(StoreError) {
        let now = now
        try await database.write { db, _ in
            try db.run(
                "UPDATE sign_in_attempt SET failed_at = ? WHERE state_hash = ? AND completed_at IS NULL",
                [now, attempt.stateHash.blob])
        }
    }
}

private struct AttemptRow {
    let session: Int64
    let begunIDHash: Data
    let app, returnTo: String
    let prompt: String?
    let requestedScopes: String
    let expectedAccount: String?
    let begunAt: Int64
    let sealed: Data?
    let consumedAt: Int64?
    let codeHash: Data?
    let hasFailed: Bool
    let completedAt: Int64?
    let issuedIDHash: Data?

    init?(_ db: Database, _ stateHash: SHA256Hash) throws {
        guard
            let row = try db.row(
                """
                SELECT session, begun_id_hash, app, return_to, prompt, requested_scopes, expected_account, begun_at, sealed,
                    consumed_at, code_hash, failed_at IS NOT NULL, completed_at, issued_id_hash
                FROM sign_in_attempt WHERE state_hash = ?
                """, [stateHash.blob])
        else { return nil }
        session = try row.decode(atIndex: 0)
        begunIDHash = try row.decode(atIndex: 1)
        app = try row.decode(atIndex: 2)
        returnTo = try row.decode(atIndex: 3)
        prompt = try row.decode(atIndex: 4)
        requestedScopes = try row.decode(atIndex: 5)
        expectedAccount = try row.decode(atIndex: 6)
        begunAt = try row.decode(atIndex: 7)
        sealed = try row.decode(atIndex: 8)
        consumedAt = try row.decode(atIndex: 9)
        codeHash = try row.decode(atIndex: 10)
        hasFailed = try row.decode(atIndex: 11)
        completedAt = try row.decode(atIndex: 12)
        issuedIDHash = try row.decode(atIndex: 13)
    }

    var isBeingRedeemed: Bool { consumedAt != nil && completedAt == nil && !hasFailed }

    func attempt(_ secrets: AttemptSecrets, _ session: SessionKey, _ stateHash: SHA256Hash) -> SignInAttempt {
        SignInAttempt(
            app: app, nonce: secrets.nonce, codeVerifier: secrets.codeVerifier, returnTo: returnTo, prompt: prompt,
            requestedScopes: requestedScopes.split(separator: " ").map(String.init), expectedAccountID: expectedAccount,
            attributes: secrets.attributes, begunAt: Date(milliseconds: begunAt), session: session, stateHash: stateHash
        )
    }
}
