package import SessionStore

/// The result of looking up a request's session, which happens once.
package enum LookedUpSession: Sendable {
    /// The session exists, and all of its accounts are admitted.
    case found(Session)
    /// The session does not exist, or has ended.
    case absent
    /// The lookup failed with an error. The session is present if it was found but the admission of its accounts could
    /// not be checked.
    case unknown(any Error, Session?)

    /// Returns the session; nil if there is none.
    ///
    /// - Throws: ``StoreError``; ``OpenIDError`` if the metadata of an authority is needed and not available.
    package func get() throws -> Session? {
        switch self {
        case .found(let session): session
        case .absent: nil
        case .unknown(let error, _): throw error
        }
    }

    /// Returns the stored session, even if its accounts could not be checked because an authority is not available.
    ///
    /// - Throws: ``StoreError``.
    package func stored() throws -> Session? {
        if case .unknown(_, let session?) = self { session } else { try get() }
    }

    /// The session's key, if an account is signed in there; nil also if the session could not be looked up.
    package var signedIn: SessionKey? {
        guard case .found(let session) = self, !session.accounts.isEmpty else { return nil }
        return session.key
    }
}
