package import SessionStore

/// The result of the one look-up of a request's session.
package enum LookedUpSession: Sendable {
    /// It is there, and all of its accounts may be in it.
    case found(Session)
    /// There is none, or it has ended.
    case absent
    /// It cannot be known now: why, and the session where only that is unknown whether its accounts may be in it.
    case unknown(any Error, Session?)

    /// The session; nil when there is none.
    ///
    /// - Throws: ``StoreError``; ``OpenIDError`` when the metadata of an authority is needed and cannot be had.
    package func get() throws -> Session? {
        switch self {
        case .found(let session): session
        case .absent: nil
        case .unknown(let error, _): throw error
        }
    }

    /// The session as it is stored, also where an authority cannot say who may be in it: it may be signed in to all the same.
    ///
    /// - Throws: ``StoreError``.
    package func stored() throws -> Session? {
        if case .unknown(_, let session?) = self { session } else { try get() }
    }

    /// The session in which somebody is signed in. One that cannot be read now is not known to be anybody's.
    package var signedIn: SessionKey? {
        guard case .found(let session) = self, !session.accounts.isEmpty else { return nil }
        return session.key
    }
}
