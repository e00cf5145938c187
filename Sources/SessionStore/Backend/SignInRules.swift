/// What is decided from a row: who may go on, what is over, which id comes next. No I/O: a backend asks inside its
/// transaction, so that all backends decide alike.
package struct SignInRules: Sendable {
    /// More attempts than a person has tabs; the oldest go.
    package static let maxAttemptsPerSession = 50
    /// The most attempts of people without an account that are kept. With their sessions and notes they take about 3 MB.
    package static let maxNewcomers = 1_000
    /// How long after its completion the same callback may come again, in milliseconds.
    static let replayWindow: Int64 = 10 * 60_000
    /// A redemption takes seconds: an attempt that was consumed longer ago (in milliseconds) was cut off.
    static let redemptionTime: Int64 = 2 * 60_000
    /// Another process that purges does not know the last two minutes of use: the server writes them once a minute.
    static let purgeGrace: Int64 = 120_000
    /// The scopes come from a page's request: an account keeps only the newest sets, and none that has expired.
    package static let maxTokensPerAccount = 20

    package var lifetimes: Lifetimes
    /// The bytes that stay free on the disk for those who are signed in.
    package var freeBytes = 0
    /// When a session was last used, as far as memory knows; `.min` when it knows nothing.
    package var lastUse: @Sendable (SessionKey) -> Int64 = { _ in .min }
    /// What was over by then may be deleted: the time itself may be wrong.
    package var deletionTime: @Sendable () -> Int64 = { .max }

    // MARK: Sessions

    /// Whether a session's time is over.
    package func isOver(_ session: SessionRow, now: Int64) -> Bool {
        lifetimes.isOver(
            hasAccounts: session.hasAccounts, remembersSomebody: session.remembersSomebody,
            createdAt: session.createdAt, lastSeenAt: max(session.lastSeenAt, lastUse(session.key)),
            lastAttemptAt: session.lastAttemptAt, now: now)
    }

    /// Whether a session was over a while ago, so that nobody can be using it.
    package func isPurgeable(_ session: SessionRow, now: Int64) -> Bool {
        isOver(session, now: now &- Self.purgeGrace)
    }

    /// What a purge does with a session.
    package enum Purge: Sendable, Equatable {
        case keep, delete
        /// The accounts go, and the session stays for a sign-in that may be under way.
        case empty
    }

    /// Who has just used the session may be at the provider's page now, to come back to it.
    package func purge(_ session: SessionRow, now: Int64) -> Purge {
        guard isPurgeable(session, now: now) else { return .keep }
        guard max(session.lastSeenAt, lastUse(session.key)) >= oldestKeptAttempt(now: now) else { return .delete }
        return session.hasAccounts || session.remembersSomebody ? .empty : .keep
    }

    /// The least that makes a session's life worth a look: not used since the one time, or begun before the other.
    package func purgeBounds(now: Int64) -> (unusedSince: Int64, begunBefore: Int64) {
        (now &- lifetimes.idle &- Self.purgeGrace, now &- lifetimes.maxAge)
    }

    // MARK: Attempts

    /// Attempts that began before are over.
    package func oldestAttempt(now: Int64) -> Int64 { now &- lifetimes.attempt }

    /// Attempts that began before are deleted.
    package func oldestKeptAttempt(now: Int64) -> Int64 { oldestAttempt(now: now) &- Self.purgeGrace }

    /// Whether an attempt that is not completed is over all the same.
    package func isCutOff(_ attempt: AttemptRow, now: Int64) -> Bool {
        attempt.failedAt != nil || now &- attempt.consumedAt > Self.redemptionTime
    }

    /// Attempts that were consumed before, and are not completed, were cut off.
    package func oldestRedemption(now: Int64) -> Int64 { now &- Self.redemptionTime }

    /// Where the session that a callback is about is found.
    package enum Whereabouts {
        case key(SessionKey), id(SHA256Hash), nowhere
    }

    /// - Parameter attempt: the row of the attempt, once it is consumed.
    package static func session(of attempt: AttemptRow?, _ callback: ArrivedCallback) -> Whereabouts {
        if let attempt { return attempt.session.map(Whereabouts.key) ?? .nowhere }
        return callback.originSession.map(Whereabouts.key) ?? callback.cookie.map(Whereabouts.id) ?? .nowhere
    }

    /// What a callback leads to.
    ///
    /// It comes from the browser that began the attempt: the attempt opened in no other. One that began in a session goes on
    /// in it when the browser still has it. When the browser has the id with which it began, and the session has another by
    /// now (a second tab that was already on its way), the attempt goes into a new session of its own: anyone who planted
    /// that id must not get into the session that was signed in meanwhile. So does a sign-in whose session is over by a
    /// clock that may be wrong: who was signed in there is neither back nor gone. An attempt that began without a session
    /// joins the one that the browser has now, or a new one.
    ///
    /// The same callback may come again (reloaded, or its answer was lost): with the same code, within 10 minutes, from
    /// the session's current id, or from the browser as it began as long as the session still has the id that this
    /// attempt's completion gave it (so the browser cannot have gone on).
    ///
    /// - Parameters:
    ///   - attempt: the row of the attempt, once it is consumed.
    ///   - session: that of ``session(of:_:)``.
    package func decide(_ attempt: AttemptRow?, in session: SessionRow?, _ callback: ArrivedCallback, now: Int64)
        -> CallbackDecision
    {
        guard let attempt else { return decide(in: session, callback, now: now) }
        guard let session else { return .otherBrowser }
        let isCurrent = callback.cookie == session.idHash
        guard isCurrent || callback.origin.map({ $0.idHash == callback.cookie }) ?? true else { return .otherBrowser }
        guard attempt.codeHash == callback.code else { return .unknown }
        guard let completedAt = attempt.completedAt else {
            return isCutOff(attempt, now: now) ? .failed : .inProgress
        }
        guard isCurrent || attempt.issuedIDHash == session.idHash else { return .otherBrowser }
        return now &- completedAt <= Self.replayWindow && !isOver(session, now: now) ? .replay : .expired
    }

    /// The first callback of an attempt.
    private func decide(in session: SessionRow?, _ callback: ArrivedCallback, now: Int64) -> CallbackDecision {
        guard let origin = callback.origin else {
            guard callback.begunAt >= oldestAttempt(now: now) else { return .expired }
            return .consume(session.map { isOver($0, now: now) } ?? true ? .newSession : .session)
        }
        guard let session, let cookie = callback.cookie else { return .otherBrowser }
        let isCurrent = cookie == session.idHash
        guard isCurrent || cookie == origin.idHash else { return .otherBrowser }
        guard callback.begunAt >= oldestAttempt(now: now) else { return .expired }
        guard isCurrent else { return .consume(.newSession) }
        guard isOver(session, now: now) else { return .consume(.session) }
        return .consume(isOver(session, now: min(now, deletionTime())) ? .emptiedSession : .newSession)
    }

    /// Whether an attempt may be completed.
    package static func isBeingRedeemed(_ attempt: AttemptRow) -> Bool {
        attempt.completedAt == nil && attempt.failedAt == nil
    }

    // MARK: Tokens

    /// Whether a stored token goes when another one of the same account and tenant comes. As MSAL does: a token that was
    /// asked for with some of the same scopes is older news, and must not be found in place of the new one.
    package static func isSuperseded(_ requestedScopes: String, by newer: String) -> Bool {
        requestedScopes == newer || !ScopeSet(text: newer).isDisjoint(with: ScopeSet(text: requestedScopes).scopes)
    }
}

/// What ``SignInRules/decide(_:in:_:now:)`` says about a callback.
package enum CallbackDecision: Sendable, Equatable {
    /// Where a sign-in goes.
    package enum Destination: Sendable {
        /// Into the session of the browser.
        case session
        /// The same, from which all accounts are removed first: a slow sign-in in a session whose time ran out. Those who
        /// were signed in do not come back.
        case emptiedSession
        /// Into a new session with the fresh id. Nobody knows that id: completion gives the session another.
        case newSession
    }

    /// Its callback came again with another code.
    case unknown
    /// The session in which it began is no more, or is not the browser's.
    case otherBrowser
    /// The same callback came again while the code is redeemed.
    case inProgress
    /// The same callback came again after the sign-in failed, or was cut off.
    case failed
    /// The attempt, or the time in which its callback may come again, is over.
    case expired
    /// The same callback came again after the sign-in was completed: the session gets the fresh id, which is noted as the
    /// one that the attempt gave.
    case replay
    /// The first callback: the attempt is consumed, and its session counts as used.
    case consume(Destination)
}

/// When a session is over, in milliseconds.
package struct Lifetimes: Sendable {
    package let idle: Int64
    package let maxAge: Int64
    package let attempt: Int64

    package init(idle: Int64, maxAge: Int64, attempt: Int64) {
        self.idle = idle
        self.maxAge = maxAge
        self.attempt = attempt
    }

    /// A session without account holds nothing but attempts: it ends with the last of them, however much it is used,
    /// unless it remembers who was signed in.
    func isOver(
        hasAccounts: Bool, remembersSomebody: Bool, createdAt: Int64, lastSeenAt: Int64, lastAttemptAt: Int64?,
        now: Int64
    ) -> Bool {
        if hasAccounts { return now &- lastSeenAt > idle || now &- createdAt > maxAge }
        if let lastAttemptAt, now &- lastAttemptAt <= attempt { return false }
        return !remembersSomebody || now &- lastSeenAt > idle
    }

    func isOver(_ session: Session, lastSeenAt: Int64, now: Int64) -> Bool {
        isOver(
            hasAccounts: !session.accounts.isEmpty, remembersSomebody: !session.previousUsernames.isEmpty,
            createdAt: session.createdAt.milliseconds, lastSeenAt: lastSeenAt, lastAttemptAt: session.lastAttemptAt,
            now: now)
    }
}
