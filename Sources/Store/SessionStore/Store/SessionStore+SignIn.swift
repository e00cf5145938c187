extension SessionStore {
    /// Checks, before the browser leaves, that the result of its sign-in can be stored. A write that was stored within
    /// the last second is proof enough.
    ///
    /// - Throws: `noRoom` for a person without an account when the disk is nearly full; `unavailable` when nothing can
    ///   be stored now.
    public func requireReadiness(forNewcomer isNewcomer: Bool) async throws(StoreError) {
        if isNewcomer { try requireRoom() }
        if let last = backend.sinceLastWrite, last < .seconds(1) { return }
        try await requireWritable()
    }

    /// - Throws: `noRoom` when the disk is nearly full: the rest is reserved for people who are signed in.
    func requireRoom() throws(StoreError) {
        guard backend.isShortOfSpace(reserve: rules.freeBytes, now: now) else { return }
        throw .noRoom("less than the reserve (limits.free_megabytes) is free on the disk of \(backend.name)")
    }

    /// Consumes the attempt of a callback, once, before its code is redeemed, whatever the result. `code` is nil for an
    /// error response.
    ///
    /// The callback may come again for a while: see ``SignInRules/decide(_:in:_:now:)``. If it comes again after the
    /// sign-in, the session's id is rotated.
    ///
    /// - Parameter cookie: the session's id that the browser has now.
    /// - Throws: `noRoom` for a person without an account when the disk is nearly full.
    public func consume(_ begun: BegunSignIn, code: String?, cookie: SessionID?) async throws(StoreError)
        -> ConsumedAttempt
    {
        let fresh = SessionID(randomBytes: randomBytes)
        var callback = ArrivedCallback(
            state: begun.stateHash, code: code.map(SHA256Hash.init(of:)), cookie: cookie?.hash, fresh: fresh.hash,
            begunAt: begun.begunAt.milliseconds, origin: begun.origin)
        do throws(StoreError) { try requireRoom() } catch { callback.refusal = error }
        let (decision, found) = try await backend.consume(callback, rules, now: now)
        switch decision {
        case .unknown: return .unknown
        case .completed: return .completed
        case .otherBrowser: return .otherBrowser
        case .inProgress: return .inProgress
        case .failed: return .failed
        case .expired: return .expired
        case .replay:
            if let found { cache.end([found]) }
            return .replayed(newSessionID: fresh)
        case .consume(let destination):
            guard let session = found else { throw .noSuchSession }
            if destination == .emptiedSession { cache.end([session]) }
            let isNew = destination == .newSession && begun.isOfNewcomer
            return .attempt(SignInAttempt(begun: begun, session: session), newSessionID: isNew ? fresh : nil)
        }
    }

    /// Stores the account and its tokens, makes the account current, and rotates the session's id: set the one
    /// returned. This is one transaction. It throws `attemptNotPending` when the attempt was completed or failed
    /// before, or its session was revoked.
    public func completeSignIn(_ attempt: SignInAttempt, account: NewAccount, tokens: NewTokens)
        async throws(StoreError) -> SessionID
    {
        let now = now
        let key = AccountKey(session: attempt.session, app: attempt.app, id: account.id)
        return try await complete(
            attempt, with: try sealer.seal(account, as: key, now: now), try sealer.seal(tokens, of: key), now: now)
    }

    /// Completes an attempt that brings no account, for example editing a profile or an administrator's consent. The
    /// session's id is rotated as well: set the one returned.
    public func completeAttempt(_ attempt: SignInAttempt) async throws(StoreError) -> SessionID {
        try await complete(attempt, with: nil, RenewedTokens(), now: now)
    }

    private func complete(_ attempt: SignInAttempt, with account: AccountRow?, _ tokens: RenewedTokens, now: Int64)
        async throws(StoreError) -> SessionID
    {
        let fresh = SessionID(randomBytes: randomBytes)
        try await backend.complete(
            Completion(state: attempt.begun.stateHash, fresh: fresh.hash, account: account, tokens: tokens), now: now)
        cache.end([attempt.session])
        return fresh
    }

    /// Marks a consumed attempt as failed, so that a reloaded callback reports it. Does nothing to a completed attempt.
    public func failSignIn(_ attempt: SignInAttempt) async throws(StoreError) {
        try await backend.fail(state: attempt.begun.stateHash, now: now)
    }
}
