import Logging
import SessionStore

/// Finds the session of a request, with the accounts that may still be in it.
struct SessionLookup: Sendable {
    let store: SessionStore
    let admission: Admission
    let audit: AuditLog
    let logger: Logger
    /// Whether calls note which session they are of: only where other servers may have it as it was.
    private let notesSessions: Bool

    init(store: SessionStore, admission: Admission, audit: AuditLog, logger: Logger) {
        self.store = store
        self.admission = admission
        self.audit = audit
        self.logger = logger
        notesSessions = store.staleness != nil
    }

    /// The session that a cookie names, as far as it is known at once; nil when the store has to be waited for, or when an
    /// account may have to go.
    func now(_ id: SessionID?) -> LookedUpSession? {
        guard let id else { return .absent }
        switch store.sessionNow(id) {
        case .found(let session): return answers(of: session).map { .found(session, $0) }
        case .absent: return .absent
        case .mustWait: return nil
        }
    }

    /// Who is admitted does not change while this process runs: what was checked for these accounts holds for them.
    private func answers(of session: Session) -> SessionAnswers? {
        session.derived.value {
            session.accounts.allSatisfy { admission.admits($0) == true } ? SessionAnswers() : nil
        }
    }

    /// The version of a call's session, where the call, or another one a moment ago, has changed it here and other servers
    /// may have it as it was.
    func changedVersion(after call: Call) async -> Int64? {
        guard let session = call.context.session else { return nil }
        return await store.changedVersion(of: session)
    }

    /// The session of a call, which is looked up once. An account that the configuration no longer admits is signed out.
    func session(of call: Call) async -> LookedUpSession {
        if let known = call.session { return noted(known, for: call) }
        return await lookUp(call)
    }

    /// The session of a call as it is now, after something has changed it.
    func lookUp(_ call: Call) async -> LookedUpSession {
        if let known = now(call.cookie) { return noted(known, for: call) }
        guard let id = call.cookie else { return .absent }
        var stored: Session?
        do {
            stored = try await store.session(id)
            guard let session = stored else { return .absent }
            if try await signOutRefused(in: session, call) { stored = try await store.session(id) }
            guard let session = stored else { return .absent }
            return noted(.found(session, answers(of: session) ?? SessionAnswers()), for: call)
        } catch {
            return noted(.unknown(error, stored), for: call)
        }
    }

    private func noted(_ session: LookedUpSession, for call: Call) -> LookedUpSession {
        guard notesSessions else { return session }
        switch session {
        case .found(let session, _), .unknown(_, let session?): call.context.note(session: session.key)
        case .absent, .unknown: break
        }
        return session
    }

    /// - Returns: whether there were any.
    private func signOutRefused(in session: Session, _ call: Call) async throws -> Bool {
        let refused = try await admission.refused(in: session)
        for account in refused {
            try await store.dropAccount(session.key(of: account))
            audit.write(
                .noLongerAdmitted, application: account.app, account: store.pseudonym(of: account), session: session.key
            )
            logger.notice(
                "an account was signed out: the configuration does not admit it to the application",
                metadata: ["app": "\(account.app)", "request_id": "\(call.context.correlationID)"])
        }
        return !refused.isEmpty
    }
}
