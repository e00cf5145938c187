package import Foundation

/// A place where sessions live.
///
/// Each verb is one transaction: when it returns, what it did outlives a crash; when it throws, it did nothing. What a verb
/// decides from a row is ``SignInRules``'s word, asked inside the transaction. A verb is never cancelled half-way. No
/// secret passes: values are sealed, ids, states and codes are hashes.
///
/// Every verb throws `StoreError.unavailable` when the place cannot be used now, also after `close()`; it may work again
/// later. `now` is in milliseconds since 1970.
package protocol StoreBackend: Sendable {
    /// What messages to the operator call it.
    var name: String { get }

    // MARK: Sessions

    /// - Returns: the session with this id; nil when there is none. It may be over.
    func session(withID idHash: SHA256Hash) async throws(StoreError) -> SealedSession?
    /// - Returns: the session with this key; nil when there is none. It may be over.
    func session(_ key: SessionKey) async throws(StoreError) -> SealedSession?
    /// The session with this id, read on the calling thread, which is never held for long.
    func sessionNow(withID idHash: SHA256Hash) -> ImmediateRead<SealedSession>

    // MARK: Sign-in

    /// Does what ``SignInRules/decide(_:in:_:now:)`` says about a callback. Where it is consumed, the row of the attempt is
    /// inserted, by one of those who do it at once; and of newcomers' attempts the oldest ones that are over make room
    /// (``SignInRules/maxNewcomers``), with the sessions that end with them.
    ///
    /// - Returns: the decision, and the session that the attempt now belongs to.
    /// - Throws: the callback's refusal, for somebody without an account.
    func consume(_ callback: ArrivedCallback, _ rules: SignInRules, now: Int64)
        async throws(StoreError) -> (decision: CallbackDecision, session: SessionKey?)
    /// Ends an attempt well: stores the account with its tokens, makes it current, and gives the session another id. No
    /// lease that was taken before holds for the account any more (``RefreshState/renewed``).
    ///
    /// - Throws: `attemptNotPending` unless the attempt is being redeemed.
    func complete(_ completion: Completion, now: Int64) async throws(StoreError)
    /// Marks an attempt as failed, unless it was completed.
    func fail(state: SHA256Hash, now: Int64) async throws(StoreError)

    // MARK: Accounts

    /// - Returns: the account's access tokens, in the order in which they came.
    func accessTokens(of account: AccountKey) async throws(StoreError) -> [AccessTokenRow]
    /// The same on the calling thread, which it never holds for long.
    func accessTokensNow(of account: AccountKey) -> ImmediateRead<[AccessTokenRow]>
    /// - Returns: the account's sealed refresh token; nil when there is none.
    func refreshToken(of account: AccountKey) async throws(StoreError) -> Data?
    /// - Returns: the account's sealed ID token; nil when there is none.
    func idToken(of account: AccountKey) async throws(StoreError) -> Data?
    /// Stores a refresh response, ends the lease under which it was asked for, and forgets that the provider wanted the
    /// person.
    ///
    /// - Parameter lease: what ``SignInRules/mayStore(under:fence:refreshToken:)`` has to admit; nil stores in any case.
    /// - Returns: whether it was stored; when not, nothing is changed.
    /// - Throws: `noSuchSession` when the account is not signed in.
    func replaceTokens(
        of account: AccountKey, with tokens: RenewedTokens, under lease: RefreshLease?, now: Int64
    ) async throws(StoreError) -> Bool
    /// Remembers that the provider wants the person.
    ///
    /// - Parameter refreshToken: the sealed refresh token that must still be stored; nil for any.
    /// - Returns: false when another refresh token is stored; nothing is changed then.
    /// - Throws: `noSuchSession` when the account is not signed in.
    func markNeedsInteraction(
        _ account: AccountKey, reason: String, claims: String?, ifRefreshTokenIs refreshToken: Data?
    ) async throws(StoreError) -> Bool
    /// Signs the account out, also when it was before, and gives the session the id `fresh`.
    ///
    /// - Throws: `noSuchSession` when there is no such session.
    func remove(_ account: AccountKey, keepAsPrevious: Bool, fresh: SHA256Hash, now: Int64) async throws(StoreError)
    /// Ends the account; the session's id stays. Does nothing when it was signed out before.
    func drop(_ account: AccountKey) async throws(StoreError)
    /// Makes the account the one that its application's page shows.
    ///
    /// - Throws: `noSuchSession` when the account is not signed in.
    func makeCurrent(_ account: AccountKey) async throws(StoreError)
    /// Ends the accounts that the provider signs out, and sessions that are left without one.
    ///
    /// - Returns: the accounts; nil when the logout token was used before.
    func endAccounts(_ logout: ProviderLogout) async throws(StoreError) -> [EndedAccountRow]?

    // MARK: Administration

    /// - Returns: the sessions after one, in the order of their keys.
    func list(after: SessionKey?, limit: Int) async throws(StoreError) -> [SessionSummary]
    /// Ends some sessions.
    ///
    /// - Returns: those that it ended.
    func revoke(_ which: Revocation) async throws(StoreError) -> [SessionKey]
    /// Counts the sessions: looks at all of them.
    func counts() async throws(StoreError) -> SessionStore.Counts

    // MARK: Upkeep

    /// Notes when sessions were last used, as far as it knows no later use.
    ///
    /// - Returns: the sessions that somebody else holds, of which nothing was noted.
    func noteUses(_ uses: [(key: SessionKey, at: Int64)]) async throws(StoreError) -> [SessionKey]
    /// Deletes sessions that are over, one small step; those in which somebody is at the provider are emptied. Decides
    /// again when it deletes: a session may have been used meanwhile.
    func purgeSessions(from cursor: StoreCursor, _ rules: SignInRules, now: Int64) async throws(StoreError) -> PurgeStep
    /// Deletes attempts that are over, the sessions that end with them, and the logout tokens that have ended; one small
    /// step.
    func purgeAttempts(_ rules: SignInRules, now: Int64) async throws(StoreError) -> PurgeStep
    /// One small step of the place's own housekeeping.
    ///
    /// - Returns: whether there is more to do.
    func tidyUp() async throws(StoreError) -> Bool

    /// Has no session be used, or begun, later than at a time: what noted it went by a clock that was ahead.
    func bringBack(to time: Int64) async throws(StoreError)

    // MARK: Health

    /// The time when it was opened: by the clock of a place that servers share, else the latest that it knows of; nil where
    /// it knows none.
    var openingTime: Int64? { get }
    /// Writes something, to see that it can.
    func confirmWritable(now: Int64) async throws(StoreError)
    /// How long ago the last write was stored; nil when that failed, or there was none.
    var sinceLastWrite: Duration? { get }
    /// - Parameter reserve: how many bytes should be free; where there is little space in all, a tenth of that.
    /// - Returns: whether less is free. It may be a second old. A place that knows no such thing is never short.
    func isShortOfSpace(reserve: Int, now: Int64) -> Bool

    // MARK: Changes by others

    /// How long what was read is taken for granted; nil where `changeMark()` is enough to know of changes by others.
    var trust: Duration? { get }

    /// The mark before anything was read.
    var openingMark: ChangeMark? { get }
    /// - Returns: a mark that is another one when somebody else has changed something; nil when that is not known now.
    func changeMark() async -> ChangeMark?

    // MARK: Sealing keys

    /// - Returns: how many values each key seals.
    func sealedCounts() async throws(StoreError) -> [KeyRing.KeyID: Int]
    /// Notes a key with which values are sealed from now on, so that its loss is noticed when the place is opened.
    func note(sealingKey: KeyRing.KeyID) async throws(StoreError)
    /// Forgets keys that seal nothing any more.
    func forget(sealingKeys: Set<KeyRing.KeyID>) async throws(StoreError)
    /// Looks for values that another key than `key` sealed; one small step.
    ///
    /// - Returns: the values, and where to go on; nil at the end.
    func values(notSealedBy key: KeyRing.KeyID, from cursor: StoreCursor) async throws(StoreError) -> SealedValues?
    /// Puts values sealed anew in the place of the old ones. One that was renewed meanwhile stays.
    ///
    /// - Returns: how many were replaced.
    func replace(_ values: [ResealedValue]) async throws(StoreError) -> Int

    /// Refuses new work, waits for what is under way and closes the place.
    func close() async
}

/// What a read that waits for nobody came to.
public enum ImmediateRead<Value: Sendable>: Sendable {
    /// It is there.
    case found(Value)
    /// It is not there.
    case absent
    /// It cannot be had without waiting, or not at all (the place is busy, slow, damaged or closed): the verb that waits
    /// returns it, or throws why.
    case mustWait

    /// With another value.
    package func map<Other>(_ change: (Value) -> ImmediateRead<Other>) -> ImmediateRead<Other> {
        switch self {
        case .found(let value): change(value)
        case .absent: .absent
        case .mustWait: .mustWait
        }
    }
}

/// What came back from the provider, and from which browser.
package struct ArrivedCallback: Sendable {
    package var state: SHA256Hash
    /// nil for an error response.
    package var code: SHA256Hash?
    /// Of the session that the browser has now.
    package var cookie: SHA256Hash?
    /// The session's next id, or that of a new session.
    package var fresh: SHA256Hash
    /// When the browser left.
    package var begunAt: Int64
    /// The session that it had then, and its id; nil when it had none.
    var origin: BegunSignIn.Origin?
    /// Why nobody without an account may go on; nil when they may.
    package var refusal: StoreError?
    /// The session that it had when it left.
    package var originSession: SessionKey? { origin?.session }
}

/// A sign-in that ends well.
package struct Completion: Sendable {
    package var state: SHA256Hash
    /// The session's next id.
    package var fresh: SHA256Hash
    /// nil when the attempt brings no account.
    package var account: AccountRow?
    package var tokens = RenewedTokens()
}

/// Whom the provider signs out: the accounts of the issuer with this session id, or subject, or both (OpenID Connect
/// Back-Channel Logout section 2.6).
package struct ProviderLogout: Sendable {
    package var issuer: String
    package var sid: String?
    package var subject: String?
    /// The logout token, which is good once; nil when there is none.
    package var token: (hash: SHA256Hash, endsAt: Int64)?

    /// Whether an account is meant.
    package func names(_ account: AccountRow) -> Bool {
        guard sid != nil || subject != nil else { return false }
        let identity = account.identity
        return identity.issuer == issuer && (sid == nil || identity.sid == sid)
            && (subject == nil || identity.subject == subject)
    }
}

/// Which sessions a person ends.
package enum Revocation: Sendable {
    case one(SessionKey)
    /// Those in which somebody of this name is signed in, whatever its case (of ASCII letters).
    case username(String)
    /// So many.
    case any(limit: Int)
}

/// One step of a purge.
package struct PurgeStep: Sendable {
    /// The sessions that it deleted or emptied.
    package var ended: [SessionKey]
    /// Where the next step begins.
    package var next: StoreCursor
    /// Whether another step may find more.
    package var isMore: Bool

    package init(ended: [SessionKey], next: StoreCursor = .beginning, isMore: Bool) {
        self.ended = ended
        self.next = next
        self.isMore = isMore
    }
}

/// See ``StoreBackend/changeMark()``.
package struct ChangeMark: Sendable, Equatable {
    private let value: Int64
    package init(_ value: Int64) { self.value = value }
}

/// A place in a walk through all that is kept. Each backend writes and reads its own.
package struct StoreCursor: Sendable, Equatable {
    package let text: String
    package init(_ text: String) { self.text = text }
    /// Where each walk begins.
    package static let beginning = StoreCursor("")
}

/// What a step of such a walk found.
package struct SealedValues: Sendable {
    package var values: [(place: SealedPlace, sealed: Data)]
    package var next: StoreCursor

    package init(values: [(place: SealedPlace, sealed: Data)], next: StoreCursor) {
        self.values = values
        self.next = next
    }
}

/// A value to be put in the place of another.
package struct ResealedValue: Sendable {
    package var place: SealedPlace
    package var old: Data
    package var new: Data

    package init(place: SealedPlace, old: Data, new: Data) {
        self.place = place
        self.old = old
        self.new = new
    }
}
