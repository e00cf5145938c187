/// What can go wrong in the store. No case carries a token, code, verifier, nonce or cookie value.
public enum StoreError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The database cannot be used now: the disk is full or failing, the file is read-only, another process holds the
    /// write lock, or the store is closed. Nothing was changed. It may work again later, without a restart.
    case unavailable(String)
    /// The file is damaged, is not ours, or holds something that no version of ours wrote.
    case corrupt(String)
    /// The database was made by a newer version; this one leaves it alone.
    case newerSchema(String)
    /// The key file or key text cannot be used. The text says what to do.
    case keyFile(String)
    /// Something was sealed with a key that the key ring does not hold, or was tampered with. The text says what to do.
    case cannotUnseal(String)
    /// There are sessions where others were to be copied. The text says what to do.
    case notEmpty(String)
    /// There is no room for one more person who is not signed in; everybody else goes on. The text says which limit.
    case noRoom(String)
    /// The session, or its account, was revoked, expired or signed out meanwhile.
    case noSuchSession
    /// The sign-in attempt is not consumed, or already completed or failed, or gone with its session.
    case attemptNotPending

    /// True when trying again later can succeed: the answer is 503, and nobody is signed out.
    public var isUnavailable: Bool {
        switch self {
        case .unavailable, .noRoom: true
        default: false
        }
    }

    /// What happened, for the log and the operator.
    public var description: String {
        switch self {
        case .unavailable(let reason): "storage unavailable: \(reason)"
        case .noRoom(let reason): "no room for newcomers: \(reason)"
        case .corrupt(let reason): "storage damaged: \(reason)"
        case .newerSchema(let reason), .keyFile(let reason), .cannotUnseal(let reason), .notEmpty(let reason): reason
        case .noSuchSession: "the session or account is gone"
        case .attemptNotPending: "the sign-in attempt is no longer pending"
        }
    }
}
