package import CompanionCore
package import Logging
package import SessionStore

/// Finds the session of a request, with the accounts that may still be in it.
package struct SessionLookup: Sendable {
    package let store: SessionStore
    package let admission: Admission
    package let audit: AuditLog
    package let logger: Logger
    /// Whether calls note which session they are of: only where other servers may have it as it was.
    private let notesSessions: Bool

    package init(store: SessionStore, admission: Admission, audit: AuditLog, logger: Logger) {
        self.store = store
        self.admission = admission
        self.audit = audit
        self.logger = logger
        notesSessions = store.staleness != nil
    }

    /// The session that a cookie names, as far as it is known at once; nil when the store has to be waited for, or when an
    /// account may have to go.
    package func now(_ id: SessionID?) -> LookedUpSession? {
        guard let id else { return .absent }
        switch store.sessionNow(id) {
        case .found(let session): return isAdmitted(session) ? .found(session) : nil
        case .absent: return .absent
        case .mustWait: return nil
        }
    }

    /// Who is admitted does not change while this process runs: what was checked for these accounts holds for them.
    private func isAdmitted(_ session: Session) -> Bool {
        session.derived.value {
            session.accounts.allSatisfy { admission.admits($0) == true } ? Admitted() : nil
        } != nil
    }

    /// Derived from a session, all of whose accounts are admitted.
    private final class Admitted: Sendable {}

    /// The version of a request's session, where the request, or another one a moment ago, has changed it here and other
    /// servers may have it as it was.
    package func changedVersion(after context: RequestContext) async -> Int64? {
        guard let session = context.session else { return nil }
        return await store.changedVersion(of: session)
    }

    /// The session that a cookie names. An account that the configuration no longer admits is signed out.
    ///
    /// - Parameters:
    ///   - known: what has been looked up for this request before; nil looks it up.
    ///   - context: the request's, which learns the session's key.
    package func session(
        _ id: SessionID?, known: LookedUpSession? = nil, for context: RequestContext
    ) async -> LookedUpSession {
        if let known = known ?? now(id) { return noted(known, for: context) }
        guard let id else { return .absent }
        var stored: Session?
        do {
            stored = try await store.session(id)
            guard let session = stored else { return .absent }
            if try await signOutRefused(in: session, context) { stored = try await store.session(id) }
            guard let session = stored else { return .absent }
            return noted(.found(session), for: context)
        } catch {
            return noted(.unknown(error, stored), for: context)
        }
    }

    private func noted(_ session: LookedUpSession, for context: RequestContext) -> LookedUpSession {
        guard notesSessions else { return session }
        switch session {
        case .found(let session), .unknown(_, let session?): context.note(session: session.key)
        case .absent, .unknown: break
        }
        return session
    }

    /// - Returns: whether there were any.
    private func signOutRefused(in session: Session, _ context: RequestContext) async throws -> Bool {
        let refused = try await admission.refused(in: session)
        for account in refused {
            try await store.dropAccount(session.key(of: account))
            audit.write(
                .noLongerAdmitted, application: account.app, account: store.pseudonym(of: account), session: session.key
            )
            logger.notice(
                "an account was signed out: the configuration does not admit it to the application",
                metadata: ["app": "\(account.app)", "request_id": "\(context.correlationID)"])
        }
        return !refused.isEmpty
    }
}
