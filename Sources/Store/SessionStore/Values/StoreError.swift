/// An error of the store. No case contains a token, code, verifier, nonce or cookie value.
public enum StoreError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The database cannot be used now: the disk is full or failing, the file is read-only, another process holds the
    /// write lock, or the store is closed. Nothing has changed. It may work again later, without a restart.
    case unavailable(String)
    /// The file is damaged, does not belong to this server, or contains something that no version of it wrote.
    case corrupt(String)
    /// The database was created by a newer version; this version does not touch it.
    case newerSchema(String)
    /// The key file or key text cannot be used. The text says what to do.
    case keyFile(String)
    /// A value was sealed with a key that the key ring does not contain, or was tampered with. The text says what to
    /// do.
    case cannotUnseal(String)
    /// The target of a copy already has sessions. The text says what to do.
    case notEmpty(String)
    /// There is no room for another person who is not signed in; everyone else can go on. The text names the limit.
    case noRoom(String)
    /// The session, or its account, was revoked, has expired or was signed out in the meantime.
    case noSuchSession
    /// The sign-in attempt is not consumed, was already completed or has failed, or is gone with its session.
    case attemptNotPending

    /// Whether trying again later can succeed. The response is 503, and no one is signed out.
    public var isUnavailable: Bool {
        switch self {
        case .unavailable, .noRoom: true
        default: false
        }
    }

    /// A description for the log and the operator.
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
