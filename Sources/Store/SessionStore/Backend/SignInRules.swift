/// The rules that are applied to rows: who may go on, what has expired, and which session a callback belongs to. There
/// is no I/O: backends call the rules inside their transactions, so that all backends decide in the same way.
package struct SignInRules: Sendable {
    /// More attempts than a person has tabs. Beyond this the oldest are deleted.
    package static let maxAttemptsPerSession = 50
    /// The most attempts that are kept for people without an account. With their sessions and notes they take about 3
    /// MB.
    package static let maxNewcomers = 1_000
    /// The time after completion in which the same callback may come again, in milliseconds.
    static let replayWindow: Int64 = 10 * 60_000
    /// A redemption takes seconds. An attempt that was consumed longer ago than this, in milliseconds, was interrupted.
    static let redemptionTime: Int64 = 2 * 60_000
    /// Another process that purges does not know the last two minutes of use, because servers write uses once a minute.
    static let purgeGrace: Int64 = 120_000
    /// The page's request chooses the scopes, so an account keeps only the newest sets, and none that has expired.
    package static let maxTokensPerAccount = 20

    package var lifetimes: Lifetimes
    /// The bytes that stay free on the disk for people who are signed in.
    package var freeBytes = 0
    /// The time when a session was last used, as far as memory knows; `.min` if it knows nothing.
    package var lastUse: @Sendable (SessionKey) -> Int64 = { _ in .min }
    /// Anything that had expired by this time may be deleted. The current time itself may be wrong.
    package var deletionTime: @Sendable () -> Int64 = { .max }

    // MARK: Sessions

    /// Whether a session has expired.
    package func isOver(_ session: SessionRow, now: Int64) -> Bool {
        lifetimes.isOver(
            hasAccounts: session.hasAccounts, remembersSomebody: session.remembersSomebody,
            createdAt: session.createdAt, lastSeenAt: max(session.lastSeenAt, lastUse(session.key)),
            lastAttemptAt: session.lastAttemptAt, now: now)
    }

    /// Whether a session expired long enough ago that no one can be using it.
    package func isPurgeable(_ session: SessionRow, now: Int64) -> Bool {
        isOver(session, now: now &- Self.purgeGrace)
    }

    /// The action of a purge on a session.
    package enum Purge: Sendable, Equatable {
        case keep, delete
        /// The accounts are removed, and the session stays for a sign-in that may be in progress.
        case empty
    }

    /// Returns what a purge does with a session. A session that was used recently may belong to someone who is on the
    /// provider's page and about to come back.
    package func purge(_ session: SessionRow, now: Int64) -> Purge {
        guard isPurgeable(session, now: now) else { return .keep }
        guard max(session.lastSeenAt, lastUse(session.key)) >= oldestKeptAttempt(now: now) else { return .delete }
        return session.hasAccounts || session.remembersSomebody ? .empty : .keep
    }

    /// Returns the times between which a session cannot have expired: only sessions last used before the first time, or
    /// begun before the second, need a closer look.
    package func purgeBounds(now: Int64) -> (unusedSince: Int64, begunBefore: Int64) {
        (now &- lifetimes.idle &- Self.purgeGrace, now &- lifetimes.maxAge)
    }

    // MARK: Attempts

    /// Returns the time before which attempts have expired.
    package func oldestAttempt(now: Int64) -> Int64 { now &- lifetimes.attempt }

    /// Returns the time before which attempts are deleted.
    package func oldestKeptAttempt(now: Int64) -> Int64 { oldestAttempt(now: now) &- Self.purgeGrace }

    /// Whether an attempt that was not completed has failed or was interrupted.
    package func isCutOff(_ attempt: AttemptRow, now: Int64) -> Bool {
        attempt.failedAt != nil || now &- attempt.consumedAt > Self.redemptionTime
    }

    /// Returns the time before which attempts that were consumed, and not completed, were interrupted.
    package func oldestRedemption(now: Int64) -> Int64 { now &- Self.redemptionTime }

    /// A way to find the session that a callback is about.
    package enum Whereabouts {
        case key(SessionKey), id(SHA256Hash), nowhere
    }

    /// Returns a way to find the session that a callback is about.
    ///
    /// - Parameter attempt: the row of the attempt, once it is consumed.
    package static func session(of attempt: AttemptRow?, _ callback: ArrivedCallback) -> Whereabouts {
        if let attempt { return attempt.session.map(Whereabouts.key) ?? .nowhere }
        return callback.originSession.map(Whereabouts.key) ?? callback.cookie.map(Whereabouts.id) ?? .nowhere
    }

    /// Decides what a callback leads to.
    ///
    /// The callback comes from the browser that began the attempt, because the attempt opens in no other browser. An
    /// attempt that began in a session continues in that session if the browser still has it. If the browser still has
    /// the id with which it began, but the session has a newer id (for example in a second tab that was already on its
    /// way), the attempt goes into a new session of its own: anyone who planted the old id must not get into the
    /// session that has been signed in since. A sign-in whose session has expired also gets a new session, because the
    /// clock may be wrong: the people who were signed in there must neither come back nor be removed. An attempt that
    /// began without a session joins the session that the browser has now, or a new one.
    ///
    /// The same callback may come again, because the page was reloaded or the response was lost. This is accepted
    /// within 10 minutes, with the same code, from the session's current id. It is also accepted from the browser as it
    /// was at the beginning, while the session still has the id that this attempt's completion gave it, because then
    /// the browser cannot have gone on.
    ///
    /// *Back* to the provider's page may bring another code, which is never redeemed: the session that this attempt
    /// completed goes to its page.
    ///
    /// - Parameters:
    ///   - attempt: the row of the attempt, once it is consumed.
    ///   - session: the session that ``session(of:_:)`` leads to.
    package func decide(_ attempt: AttemptRow?, in session: SessionRow?, _ callback: ArrivedCallback, now: Int64)
        -> CallbackDecision
    {
        guard let attempt else { return decide(in: session, callback, now: now) }
        guard let session else { return .otherBrowser }
        let isCurrent = callback.cookie == session.idHash
        guard isCurrent || callback.origin.map({ $0.idHash == callback.cookie }) ?? true else { return .otherBrowser }
        guard attempt.codeHash == callback.code else {
            return isCurrent && attempt.completedAt != nil && !isOver(session, now: now) ? .completed : .unknown
        }
        guard let completedAt = attempt.completedAt else {
            return isCutOff(attempt, now: now) ? .failed : .inProgress
        }
        guard isCurrent || attempt.issuedIDHash == session.idHash else { return .otherBrowser }
        return now &- completedAt <= Self.replayWindow && !isOver(session, now: now) ? .replay : .expired
    }

    /// Decides about the first callback of an attempt.
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

    /// Whether a stored token is deleted when a new one of the same account and tenant arrives. This follows MSAL: a
    /// token that was requested with some of the same scopes is outdated, and must not be found instead of the new one.
    package static func isSuperseded(_ requestedScopes: String, by newer: String) -> Bool {
        requestedScopes == newer || !ScopeSet(text: newer).isDisjoint(with: ScopeSet(text: requestedScopes).scopes)
    }
}

/// The decision of ``SignInRules/decide(_:in:_:now:)`` about a callback.
package enum CallbackDecision: Sendable, Equatable {
    /// The session that a sign-in goes into.
    package enum Destination: Sendable {
        /// The session of the browser.
        case session
        /// The session of the browser, from which all accounts are removed first. This is for a slow sign-in in a
        /// session that has expired: the people who were signed in do not come back.
        case emptiedSession
        /// A new session with the fresh id. No browser has that id: completion gives the session another.
        case newSession
    }

    /// The callback came again with a different code.
    case unknown
    /// The same, to the session that the attempt completed.
    case completed
    /// The session in which the attempt began is gone, or is not the browser's.
    case otherBrowser
    /// The callback came again while the code is being redeemed.
    case inProgress
    /// The callback came again after the sign-in failed or was interrupted.
    case failed
    /// The attempt, or the time in which its callback may come again, has expired.
    case expired
    /// The callback came again after the sign-in was completed. The session gets the fresh id, which is recorded
    /// as the id that the attempt gave.
    case replay
    /// The first callback: the attempt is consumed, and its session counts as used.
    case consume(Destination)
}

/// The times after which sessions and attempts expire, in milliseconds.
package struct Lifetimes: Sendable {
    package let idle: Int64
    package let maxAge: Int64
    package let attempt: Int64

    /// Whether a session has expired. A session without an account holds nothing but attempts: it ends with the last of
    /// them, however often it is used, unless it remembers who was signed in.
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

extension SignInRules {
    /// The most notes that are kept about a session in which a person is signed in.
    package static let maxNotes = 200
    /// The most notes that are kept about a session without an account. Anyone can cause them, so there must be few.
    package static let maxNotesOfNewcomer = 16
    /// The time for which notes are kept.
    package static let noteLifetime: Duration = .seconds(3600)

    /// Decides whether a page may go to the provider once more by itself.
    ///
    /// - Parameters:
    ///   - notes: the trips and the progress of a session in an application within the window, in order.
    ///   - most: the most trips that are allowed.
    /// - Returns: nil when it may; otherwise the oldest of the trips that count.
    package static func oldestTrip(among notes: [(id: Int64, kind: SessionNote.Kind)], most: Int) -> Int64? {
        let counting = notes.suffix(while: { $0.kind != .progress }).filter { $0.kind == .trip }
        return counting.count >= most ? counting.first?.id : nil
    }
}

extension Array {
    /// Returns the elements after the last one for which `belongs` is false.
    fileprivate func suffix(while belongs: (Element) -> Bool) -> ArraySlice<Element> {
        self[(lastIndex { !belongs($0) }.map { $0 + 1 } ?? startIndex)...]
    }
}
