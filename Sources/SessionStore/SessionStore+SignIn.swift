import Foundation

extension SessionStore {
    /// What a sign-in takes beside its text: its entries in three indices, its session, and the part of a page that
    /// stays empty behind a text of a few KB (at most half of it).
    private static let overhead = 2560

    /// Stores an attempt before the browser leaves.
    ///
    /// - Throws: `noRoom` when people who are not signed in take up as much as they may, or the disk is nearly full; not
    ///   in a session with an account.
    public func beginSignIn(_ new: NewSignInAttempt, cookie: SessionID?) async throws(StoreError) -> BegunSignIn {
        let now = now
        let fresh = SessionID(randomBytes: randomBytes)
        let attempt = try beginning(new, cookie: cookie, fresh: fresh, now: now)
        let (session, isNew) = try await backend.begin(attempt, rules, now: now)
        return BegunSignIn(sessionID: isNew ? fresh : cookie ?? fresh, session: session)
    }

    private func beginning(_ new: NewSignInAttempt, cookie: SessionID?, fresh: SessionID, now: Int64)
        throws(StoreError) -> BeginningAttempt
    {
        let state = SHA256Hash(of: new.state)
        let secrets = AttemptSecrets(nonce: new.nonce, codeVerifier: new.codeVerifier, payload: new.payload)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard let json = try? encoder.encode(secrets) else {
            throw .corrupt("the sign-in attempt cannot be encoded")
        }
        let sealed = try sealer.seal(String(decoding: json, as: UTF8.self), for: .attempt(state: state))
        let scopes = new.requestedScopes.joined(separator: " ")
        // Rather too much than too little.
        let texts = [new.app, new.returnTo, new.prompt ?? "", new.expectedAccountID ?? "", scopes]
        let weight = Self.overhead + sealed.count + texts.reduce(0) { $0 + $1.utf8.count }
        let refusal: StoreError? =
            backend.isShortOfSpace(reserve: rules.newcomers.freeBytes, now: now)
            ? .noRoom("less than the reserve (limits.free_megabytes) is free on the disk of \(backend.name)") : nil
        return BeginningAttempt(
            state: state, app: new.app, returnTo: new.returnTo, prompt: new.prompt, requestedScopes: scopes,
            expectedAccountID: new.expectedAccountID, sealed: sealed, weight: Int64(weight), cookie: cookie?.hash,
            fresh: fresh.hash, refusal: refusal)
    }

    /// Takes the attempt of a callback, once: the attempt is consumed before the code is redeemed, whatever comes of it.
    /// `code` is nil for an error response.
    ///
    /// The callback must come from the browser that began the attempt, and may come again for a while, as
    /// ``SignInRules/decide(_:in:_:now:)`` says. When it comes again after the sign-in, the session's id is rotated.
    public func consumeAttempt(state: String, code: String?, cookie: SessionID?) async throws(StoreError)
        -> ConsumedAttempt
    {
        let fresh = SessionID(randomBytes: randomBytes)
        let stateHash = SHA256Hash(of: state)
        let callback = ArrivedCallback(
            state: stateHash, code: code.map(SHA256Hash.init(of:)), cookie: cookie?.hash, fresh: fresh.hash)
        let (decision, attempt) = try await backend.consume(callback, rules, now: now)
        guard let attempt else { return .unknown }
        switch decision {
        case .unknown: return .unknown
        case .otherBrowser: return .otherBrowser
        case .inProgress: return .inProgress(app: attempt.app, returnTo: attempt.returnTo)
        case .failed: return .failed(app: attempt.app, returnTo: attempt.returnTo)
        case .expired: return .expired(app: attempt.app, returnTo: attempt.returnTo)
        case .replay:
            cache.end([attempt.session])
            return .replayed(app: attempt.app, returnTo: attempt.returnTo, newSessionID: fresh)
        case .consume(let destination):
            if destination == .emptiedSession { cache.end([attempt.session]) }
            return .attempt(try open(attempt, stateHash))
        }
    }

    private func open(_ row: AttemptRow, _ state: SHA256Hash) throws(StoreError) -> SignInAttempt {
        let json = try sealer.open(row.sealed ?? Data(), for: .attempt(state: state))
        guard let secrets = try? JSONDecoder().decode(AttemptSecrets.self, from: Data(json.utf8)) else {
            throw .corrupt("a sign-in attempt in \(backend.name) has an unknown form")
        }
        return SignInAttempt(
            app: row.app, nonce: secrets.nonce, codeVerifier: secrets.codeVerifier, returnTo: row.returnTo,
            prompt: row.prompt, requestedScopes: row.requestedScopes.split(separator: " ").map(String.init),
            expectedAccountID: row.expectedAccountID, payload: secrets.payload ?? "",
            begunAt: Date(milliseconds: row.begunAt), session: row.session, stateHash: state)
    }

    /// Stores account and tokens, makes the account current, and rotates the session's id: set the one returned.
    /// One transaction; `attemptNotPending` when it was completed or failed before, or its session was revoked.
    public func completeSignIn(_ attempt: SignInAttempt, account: NewAccount, tokens: NewTokens)
        async throws(StoreError) -> SessionID
    {
        let now = now
        let key = AccountKey(session: attempt.session, app: attempt.app, id: account.id)
        return try await complete(
            attempt, with: try sealer.seal(account, as: key, now: now), try sealer.seal(tokens, of: key), now: now)
    }

    /// Ends an attempt that brings no account, as edit profile or an administrator's consent. The session's id is
    /// rotated all the same: set the one returned.
    public func completeAttempt(_ attempt: SignInAttempt) async throws(StoreError) -> SessionID {
        try await complete(attempt, with: nil, RenewedTokens(), now: now)
    }

    private func complete(_ attempt: SignInAttempt, with account: AccountRow?, _ tokens: RenewedTokens, now: Int64)
        async throws(StoreError) -> SessionID
    {
        let fresh = SessionID(randomBytes: randomBytes)
        try await backend.complete(
            Completion(state: attempt.stateHash, fresh: fresh.hash, account: account, tokens: tokens), now: now)
        cache.end([attempt.session])
        return fresh
    }

    /// Marks a consumed attempt as failed, so that a reloaded callback says so. Does nothing to a completed one.
    public func failSignIn(_ attempt: SignInAttempt) async throws(StoreError) {
        try await backend.fail(state: attempt.stateHash, now: now)
    }

    /// Whether a sign-in with this `state` was begun within an attempt's lifetime: its callback may come, also again.
    /// Changes nothing.
    public func hasLiveAttempt(state: String) async throws(StoreError) -> Bool {
        try await backend.hasAttempt(state: SHA256Hash(of: state), begunSince: rules.oldestAttempt(now: now))
    }
}
