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

    /// A session that can be had at once, with the answers that were prepared from it; nil when there is none, when the store
    /// has to be waited for, or when an account may have to go.
    func cached(_ id: SessionID) -> (session: Session, answers: SessionAnswers)? {
        guard case .found(let session) = store.sessionNow(id) else { return nil }
        // Who is admitted does not change while this process runs: what was checked for these accounts holds for them.
        let answers = session.derived.value {
            session.accounts.allSatisfy { admission.admits($0) == true } ? SessionAnswers() : nil
        }
        return answers.map { (session, $0) }
    }

    /// The version of a call's session, where the call, or another one a moment ago, has changed it here and other servers
    /// may have it as it was.
    func changedVersion(after call: Call) async -> Int64? {
        guard let session = call.context.session else { return nil }
        return await store.changedVersion(of: session)
    }

    /// The session of a call. An account that the configuration no longer admits is signed out.
    ///
    /// - Returns: nil when there is none, or when it has ended.
    /// - Throws: ``StoreError``; ``OpenIDError`` when the metadata of an authority is needed and cannot be had.
    func session(of call: Call) async throws -> Session? {
        guard let id = call.cookie else { return nil }
        if let known = cached(id)?.session {
            if notesSessions { call.context.note(session: known.key) }
            return known
        }
        guard let session = try await store.session(id) else { return nil }
        if notesSessions { call.context.note(session: session.key) }
        let refused = try await admission.refused(in: session)
        guard !refused.isEmpty else { return session }
        for account in refused {
            try await store.dropAccount(session.key(of: account))
            audit.write(
                .noLongerAdmitted, application: account.app, account: store.pseudonym(of: account), session: session.key
            )
            logger.notice(
                "an account was signed out: the configuration does not admit it to the application",
                metadata: ["app": "\(account.app)", "request_id": "\(call.context.correlationID)"])
        }
        return try await store.session(id)
    }
}
