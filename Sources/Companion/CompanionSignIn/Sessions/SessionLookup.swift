package import CompanionCore
package import Logging
package import SessionStore

/// Looks up the session of a request, and signs out accounts that are no longer admitted.
package struct SessionLookup: Sendable {
    package let store: SessionStore
    package let admission: Admission
    package let audit: AuditLog
    package let logger: Logger
    /// Whether calls record their session. That is needed only if other servers may have an older version of it.
    private let notesSessions: Bool

    package init(store: SessionStore, admission: Admission, audit: AuditLog, logger: Logger) {
        self.store = store
        self.admission = admission
        self.audit = audit
        self.logger = logger
        notesSessions = store.staleness != nil
    }

    /// Returns the session for a cookie if it is available without waiting; nil if the store is too slow for that, or
    /// if an account may have to be signed out.
    package func now(_ id: SessionID?) -> LookedUpSession? {
        guard let id else { return .absent }
        switch store.sessionNow(id) {
        case .found(let session): return isAdmitted(session) ? .found(session) : nil
        case .absent: return .absent
        case .mustWait: return nil
        }
    }

    /// Whether all accounts are admitted. The configuration does not change while the process runs, so the result is
    /// cached with the session.
    private func isAdmitted(_ session: Session) -> Bool {
        session.derived.value {
            session.accounts.allSatisfy { admission.admits($0) == true } ? Admitted() : nil
        } != nil
    }

    /// Marks a session whose accounts are all admitted.
    private final class Admitted: Sendable {}

    /// Returns the new version of a request's session, if this request or another one recently changed it here and
    /// other servers may have an older version.
    package func changedVersion(after context: RequestContext) async -> Int64? {
        guard let session = context.session else { return nil }
        return await store.changedVersion(of: session)
    }

    /// Whether other servers may still have the session as it was before a recent change that the browser would see now.
    package func isNews(_ session: LookedUpSession?, for cookie: SessionID?) -> Bool {
        guard notesSessions, case .found(let session) = session else { return false }
        return store.isNews(session.key, for: cookie)
    }

    /// Returns the session for a cookie. Accounts that the configuration no longer admits are signed out.
    ///
    /// - Parameters:
    ///   - known: the result of an earlier lookup for this request; nil looks it up.
    ///   - mustWait: whether ``now(_:)`` has just said for this request that the session is not available at once.
    ///   - context: the request's context, which records the session's key.
    package func session(
        _ id: SessionID?, known: LookedUpSession? = nil, mustWait: Bool = false, for context: RequestContext
    ) async -> LookedUpSession {
        if let known = known ?? (mustWait ? nil : now(id)) { return noted(known, for: context) }
        guard let id else { return .absent }
        var stored: Session?
        do {
            stored = try await store.session(id, mustWait: true)
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

    /// - Returns: whether an account was signed out.
    private func signOutRefused(in session: Session, _ context: RequestContext) async throws -> Bool {
        let refused = try await admission.refused(in: session)
        for account in refused {
            try await store.dropAccount(session.key(of: account))
            await audit.write(
                .noLongerAdmitted, application: account.app, account: store.pseudonym(of: account), session: session.key
            )
            logger.notice(
                "an account was signed out: the configuration does not admit it to the application",
                metadata: ["app": "\(account.app)", "request_id": "\(context.correlationID)"])
        }
        return !refused.isEmpty
    }
}
