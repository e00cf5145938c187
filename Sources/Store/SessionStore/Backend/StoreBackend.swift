package import Foundation

/// A database that stores sessions.
///
/// Each method is one transaction: when it returns, its changes survive a crash; when it throws, nothing has changed.
/// Decisions about rows come from ``SignInRules``, which is called inside the transaction. A method is never cancelled
/// half-way. No secret reaches the backend: values are sealed, and ids, states and codes are hashes.
///
/// Every method throws `StoreError.unavailable` when the database cannot be used, including after `close()`; it may
/// work again later. `now` is in milliseconds since 1970.
package protocol StoreBackend: Sendable {
    /// The database's name in messages to the operator.
    var name: String { get }

    // MARK: Sessions

    /// - Returns: the session with this id; nil if it does not exist. It may have expired.
    func session(withID idHash: SHA256Hash) async throws(StoreError) -> SealedSession?
    /// - Returns: the session with this key; nil if it does not exist. It may have expired.
    func session(_ key: SessionKey) async throws(StoreError) -> SealedSession?
    /// Reads the session with this id on the calling thread, without blocking it for long.
    func sessionNow(withID idHash: SHA256Hash) -> ImmediateRead<SealedSession>

    // MARK: Sign-in

    /// Applies ``SignInRules/decide(_:in:_:now:)`` to a callback. If the callback is consumed, the row of the attempt
    /// is inserted; of several callers at the same time only one succeeds. The oldest expired attempts of people
    /// without an account are deleted to make room (``SignInRules/maxNewcomers``), together with the sessions that end
    /// with them.
    ///
    /// - Returns: the decision, and the session that the attempt now belongs to.
    /// - Throws: the callback's refusal, for a person without an account.
    func consume(_ callback: ArrivedCallback, _ rules: SignInRules, now: Int64)
        async throws(StoreError) -> (decision: CallbackDecision, session: SessionKey?)
    /// Completes an attempt: stores the account with its tokens, makes it current, and gives the session another id.
    /// Leases of the account that were taken before are no longer valid (``RefreshState/renewed``).
    ///
    /// - Throws: `attemptNotPending` unless the attempt is being redeemed.
    func complete(_ completion: Completion, now: Int64) async throws(StoreError)
    /// Marks an attempt as failed, unless it was completed.
    func fail(state: SHA256Hash, now: Int64) async throws(StoreError)

    // MARK: Accounts

    /// - Returns: the account's access tokens, in the order in which they were stored.
    func accessTokens(of account: AccountKey) async throws(StoreError) -> [AccessTokenRow]
    /// Reads the account's access tokens on the calling thread, without blocking it for long.
    func accessTokensNow(of account: AccountKey) -> ImmediateRead<[AccessTokenRow]>
    /// - Returns: the account's sealed refresh token; nil if it has none.
    func refreshToken(of account: AccountKey) async throws(StoreError) -> Data?
    /// - Returns: the account's sealed ID token; nil if it has none.
    func idToken(of account: AccountKey) async throws(StoreError) -> Data?
    /// Stores a refresh response, ends the lease under which it was requested, and clears the mark that the person must
    /// sign in again.
    ///
    /// - Parameter lease: the lease, which ``SignInRules/mayStore(under:fence:refreshToken:)`` has to accept; nil
    ///   always stores.
    /// - Returns: whether the response was stored; if not, nothing has changed.
    /// - Throws: `noSuchSession` when the account is not signed in.
    func replaceTokens(
        of account: AccountKey, with tokens: RenewedTokens, under lease: RefreshLease?, now: Int64
    ) async throws(StoreError) -> Bool
    /// Replaces the refresh token and nothing else, for a response that is not checked yet. The lease continues.
    ///
    /// - Parameters:
    ///   - refreshToken: the sealed refresh token.
    ///   - lease: the lease, which ``SignInRules/mayStore(under:fence:refreshToken:)`` has to accept.
    /// - Returns: whether it was replaced; if not, nothing has changed.
    /// - Throws: `noSuchSession` when the account is not signed in.
    func replaceRefreshToken(of account: AccountKey, with refreshToken: Data, under lease: RefreshLease)
        async throws(StoreError) -> Bool
    /// Marks that the provider wants the person to sign in again.
    ///
    /// - Parameter refreshToken: the sealed refresh token that must still be stored; nil for any.
    /// - Returns: false when a different refresh token is stored; nothing has changed then.
    /// - Throws: `noSuchSession` when the account is not signed in.
    func markNeedsInteraction(
        _ account: AccountKey, reason: String, claims: String?, ifRefreshTokenIs refreshToken: Data?
    ) async throws(StoreError) -> Bool
    /// Signs the account out, even if it is signed out already, and gives the session the id `fresh`.
    ///
    /// - Throws: `noSuchSession` when the session does not exist.
    func remove(_ account: AccountKey, keepAsPrevious: Bool, fresh: SHA256Hash, now: Int64) async throws(StoreError)
    /// Removes the account and keeps the session's id. Does nothing if the account is signed out already.
    func drop(_ account: AccountKey) async throws(StoreError)
    /// Makes the account the one that its application's page shows.
    ///
    /// - Throws: `noSuchSession` when the account is not signed in.
    func makeCurrent(_ account: AccountKey) async throws(StoreError)
    /// Removes the accounts that the provider signs out, and sessions that have no account left.
    ///
    /// - Returns: the accounts; nil when the logout token was used before.
    func endAccounts(_ logout: ProviderLogout) async throws(StoreError) -> [EndedAccountRow]?

    // MARK: Administration

    /// - Returns: the sessions after the given one, in the order of their keys.
    func list(after: SessionKey?, limit: Int) async throws(StoreError) -> [SessionSummary]
    /// Ends sessions.
    ///
    /// - Returns: the sessions that were ended.
    func revoke(_ which: Revocation) async throws(StoreError) -> [SessionKey]
    /// Counts the sessions. This reads all of them.
    func counts() async throws(StoreError) -> SessionCounts
    /// - Returns: the last round of checks of each application.
    func checkRounds() async throws(StoreError) -> [StoredCheckRound]
    /// Stores a round of checks in place of the application's last one.
    func keep(_ round: StoredCheckRound) async throws(StoreError)

    // MARK: Upkeep

    /// Records when sessions were last used, unless a later use is recorded already.
    ///
    /// - Returns: the sessions that another transaction holds, for which nothing was recorded.
    func noteUses(_ uses: [(key: SessionKey, at: Int64)]) async throws(StoreError) -> [SessionKey]
    /// Deletes expired sessions in one small step. Sessions whose person is at the provider are emptied instead.
    /// Decides again at the moment of deletion, because a session may have been used in the meantime.
    func purgeSessions(from cursor: StoreCursor, _ rules: SignInRules, now: Int64) async throws(StoreError) -> PurgeStep
    /// Deletes expired attempts, the sessions that end with them, and expired logout tokens, in one small step.
    func purgeAttempts(_ rules: SignInRules, now: Int64) async throws(StoreError) -> PurgeStep
    /// Does one small step of the database's own housekeeping.
    ///
    /// - Returns: whether there is more to do.
    func tidyUp() async throws(StoreError) -> Bool

    /// Moves times of use and of beginning that are later than `time` back to it: they were recorded while a clock was
    /// ahead.
    func bringBack(to time: Int64) async throws(StoreError)

    // MARK: Health

    /// The time at which the database was opened: by the database's own clock if it is clustered, otherwise the latest
    /// time that it contains; nil if it contains none.
    var openingTime: Int64? { get }
    /// Writes something, to confirm that writing works.
    func confirmWritable(now: Int64) async throws(StoreError)
    /// The time since the last write was stored; nil if it failed, or if nothing has been written.
    var sinceLastWrite: Duration? { get }
    /// Damage that the database has met, files that were deleted or replaced, or a second server of a file; nil while all
    /// is well. If the database is a file, writes then throw `unavailable`, although the disk would accept them. A
    /// clustered database, whose sound tables serve on, is its administrator's to repair.
    var unsoundness: String? { get }
    /// Whether the disk has less space left than it should. The answer may be a second old. A backend that cannot know
    /// is never short.
    ///
    /// - Parameter reserve: how many bytes should be free; on a small disk, a tenth of the disk.
    func isShortOfSpace(reserve: Int, now: Int64) -> Bool

    // MARK: Changes by others

    /// The time for which a cached read is trusted; nil if `changeMark()` is enough to notice changes by others.
    var trust: Duration? { get }

    /// The mark before anything was read.
    var openingMark: ChangeMark? { get }
    /// - Returns: a mark that is different after another process has changed something; nil if it is not known now.
    func changeMark() async -> ChangeMark?

    // MARK: Sealing keys

    /// - Returns: how many values each key seals.
    func sealedCounts() async throws(StoreError) -> [KeyRing.KeyID: Int]
    /// Records a key that seals values from now on, so that its loss is noticed when the database is opened.
    func note(sealingKey: KeyRing.KeyID) async throws(StoreError)
    /// Removes the record of keys that no longer seal anything.
    func forget(sealingKeys: Set<KeyRing.KeyID>) async throws(StoreError)
    /// Finds values that a key other than `key` sealed, in one small step.
    ///
    /// - Returns: the values, and where to continue; nil at the end.
    func values(notSealedBy key: KeyRing.KeyID, from cursor: StoreCursor) async throws(StoreError) -> SealedValues?
    /// Replaces values with resealed ones. A value that was changed in the meantime stays.
    ///
    /// - Returns: how many values were replaced.
    func replace(_ values: [ResealedValue]) async throws(StoreError) -> Int

    /// Refuses new work, waits for the work in progress, and closes the database.
    func close() async
}

/// The result of a read that does not wait.
public enum ImmediateRead<Value: Sendable>: Sendable {
    /// The value was found.
    case found(Value)
    /// The value does not exist.
    case absent
    /// The value cannot be read without waiting, or not at all (the database is busy, slow, damaged or closed). The
    /// method that waits returns it, or throws the reason.
    case mustWait

    /// Returns the same result for another value.
    package func map<Other>(_ change: (Value) -> ImmediateRead<Other>) -> ImmediateRead<Other> {
        switch self {
        case .found(let value): change(value)
        case .absent: .absent
        case .mustWait: .mustWait
        }
    }
}

/// A callback from the provider, with the browser that brought it.
package struct ArrivedCallback: Sendable {
    package var state: SHA256Hash
    /// The hash of the code; nil for an error response.
    package var code: SHA256Hash?
    /// The id of the session that the browser has now.
    package var cookie: SHA256Hash?
    /// The session's next id, or the id of a new session.
    package var fresh: SHA256Hash
    /// The time when the browser left.
    package var begunAt: Int64
    /// The session that the browser had then, with its id; nil if it had none.
    var origin: BegunSignIn.Origin?
    /// The reason for refusing a person without an account; nil if they may continue.
    package var refusal: StoreError?
    /// The session that the browser had when it left.
    package var originSession: SessionKey? { origin?.session }
}

/// A sign-in that succeeds.
package struct Completion: Sendable {
    package var state: SHA256Hash
    /// The session's next id.
    package var fresh: SHA256Hash
    /// The account; nil when the attempt brings none.
    package var account: AccountRow?
    package var tokens = RenewedTokens()
}

/// A sign-out by the provider. It applies to the accounts of the issuer with this session id, or subject, or both
/// (OpenID Connect Back-Channel Logout section 2.6).
package struct ProviderLogout: Sendable {
    package var issuer: String
    package var sid: String?
    package var subject: String?
    /// The logout token, which can be used once; nil if there was none.
    package var token: (hash: SHA256Hash, endsAt: Int64)?

    /// Whether the sign-out applies to an account.
    package func names(_ account: AccountRow) -> Bool {
        guard sid != nil || subject != nil else { return false }
        let identity = account.identity
        return identity.issuer == issuer && (sid == nil || identity.sid == sid)
            && (subject == nil || identity.subject == subject)
    }
}

/// The sessions that an administrator ends.
package enum Revocation: Sendable {
    case one(SessionKey)
    /// The sessions in which a person with this username is signed in. ASCII letters are compared without regard to
    /// case.
    case username(String)
    /// Up to `limit` sessions.
    case any(limit: Int)
}

/// One step of a purge.
package struct PurgeStep: Sendable {
    /// The sessions that were deleted or emptied.
    package var ended: [SessionKey]
    /// The cursor at which the next step begins.
    package var next: StoreCursor
    /// Whether another step may find more.
    package var isMore: Bool

    package init(ended: [SessionKey], next: StoreCursor = .beginning, isMore: Bool) {
        self.ended = ended
        self.next = next
        self.isMore = isMore
    }
}

/// A value of ``StoreBackend/changeMark()``.
package struct ChangeMark: Sendable, Equatable {
    private let value: Int64
    package init(_ value: Int64) { self.value = value }
}

/// A position in a walk through all rows. Each backend has its own format.
package struct StoreCursor: Sendable, Equatable {
    package let text: String
    package init(_ text: String) { self.text = text }
    /// The beginning of every walk.
    package static let beginning = StoreCursor("")
}

/// The sealed values that one step of a walk found.
package struct SealedValues: Sendable {
    package var values: [(place: SealedPlace, sealed: Data)]
    package var next: StoreCursor

    package init(values: [(place: SealedPlace, sealed: Data)], next: StoreCursor) {
        self.values = values
        self.next = next
    }
}

/// A sealed value and the one that replaces it.
package struct ResealedValue: Sendable {
    package var place: SealedPlace
    package var old: Data
    package var new: Data
}
