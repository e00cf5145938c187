package import CompanionCore
import EventLoop
import Foundation
package import Logging
import OpenIDConnect
package import SessionStore
import Synchronization
import WebFormats

/// Signs out: first here, then at the provider.
package struct SignOutFlow: Sendable {
    package let configuration: CompanionConfiguration
    package let store: SessionStore
    package let providers: Providers
    package let timeline: Timeline
    package let memory: SessionMemory
    package let audit: AuditLog
    package let logger: Logger
    private let saidBefore = SaidOnce()

    package init(
        configuration: CompanionConfiguration, store: SessionStore, providers: Providers, timeline: Timeline,
        memory: SessionMemory, audit: AuditLog, logger: Logger
    ) {
        self.configuration = configuration
        self.store = store
        self.providers = providers
        self.timeline = timeline
        self.memory = memory
        self.audit = audit
        self.logger = logger
    }

    /// Removes the account's tokens, and returns the address at which the browser ends the provider's session.
    ///
    /// - Parameters:
    ///   - ofBrowser: whether to end the provider's session too. A shared device always does so, unless the account is
    ///     only removed from the list.
    ///   - isForgotten: whether to remove the account from the list of remembered accounts too.
    /// - Returns: the session's new ID, and the provider's URL; nil if the URL is not wanted or not available.
    package func signOut(
        _ asking: SignedIn, ofBrowser: Bool, isForgotten: Bool = false
    ) async throws -> (sessionID: SessionID, redirect: String?) {
        let (application, session, account) = (asking.application, asking.session, asking.account)
        let start = ContinuousClock.now
        let isShared = configuration.deviceMode == .shared
        // An unreadable ID token does not prevent the sign-out.
        let idToken = try? await store.idToken(of: asking.key)
        // On a shared device the next person must find no account signed in, and no trace of earlier people.
        if isShared, !isForgotten {
            for other in session.accounts where other.app != account.app || other.id != account.id {
                _ = try await remove(other, of: session, keepAsPrevious: false, as: .signedOut)
            }
        }
        let sessionID = try await remove(
            account, of: session, keepAsPrevious: !isShared && !isForgotten && !application.isAtKiosk,
            as: isForgotten ? .accountRemoved : .signedOut)
        memory.note(.acted, of: session.key, app: application.id, isSignedIn: false)
        let isLast = session.accounts.allSatisfy { $0.app == account.app && $0.id == account.id }
        if isLast || isShared && !isForgotten { await memory.forget(session.key) }
        guard ofBrowser || isShared && !isForgotten else {
            record(session, application, since: start)
            return (sessionID, nil)
        }
        let url = await providerURL(application, account, idToken: idToken)
        record(session, application, at: url, since: start)
        if keepsSession(application) {
            logger.notice(
                "somebody has signed out, and the session at the provider goes on",
                metadata: ["app": "\(application.id)"])
        }
        return (sessionID, url)
    }

    /// Whether the application's provider is known to have no page for signing out, so that its session goes on whatever
    /// happens here. The log says so before the first sign-out.
    package func keepsSession(_ application: Application) -> Bool {
        guard let metadata = providers.directory.knownMetadata(of: application.authority),
            metadata.endSessionEndpoint == nil
        else { return false }
        if saidBefore.isFirst(application.id) {
            logger.notice(
                "the provider has no end_session_endpoint, so its sessions go on after a sign-out",
                metadata: ["app": "\(application.id)"])
        }
        return true
    }

    /// Returns the address that ends the provider's session when no account is signed in here any more, for example at
    /// a kiosk after its session has expired. Without the account the provider may ask for it.
    package func signOutOfProvider(_ application: Application) async -> String? {
        guard configuration.deviceMode == .shared else { return nil }
        return await providerURL(application, nil, idToken: nil)
    }

    /// Returns nil if the provider has no such page or does not respond.
    private func providerURL(_ application: Application, _ account: Account?, idToken: String?) async -> String? {
        do {
            try await providers.client.requireAnswer(of: application.authority)
            let metadata = try await providers.directory.metadata(for: application.authority)
            return logoutURL(application, account, idToken: idToken, metadata: metadata)
        } catch {
            // The person is signed out here in any case; only the provider's session cannot be ended now.
            RequestContext.current?.note(cause: "sign-out at the provider is not possible: \(error)")
            return nil
        }
    }

    private func record(
        _ session: Session, _ application: Application, at url: String? = nil, since start: ContinuousClock.Instant
    ) {
        guard configuration.deviceMode == .private else { return }
        timeline.record(TimelineStep("sign_out", at: url, since: start), of: session.key, app: application.id)
    }

    /// Removes an account. Its tokens are gone here on return, and are revoked at the provider shortly after.
    private func remove(
        _ account: Account, of session: Session, keepAsPrevious: Bool, as event: AuditEvent
    ) async throws(StoreError) -> SessionID {
        let key = session.key(of: account)
        let refreshToken = try? await store.refreshToken(of: key)
        let sessionID = try await store.removeAccount(key, keepAsPrevious: keepAsPrevious)
        await audit.write(
            event, application: account.app, account: store.pseudonym(of: account), session: session.key)
        if let refreshToken, let application = configuration.applications.first(where: { $0.id == account.app }) {
            revoke(refreshToken, application)
        }
        return sessionID
    }

    /// Returns the provider's sign-out URL. Entra ID identifies the session by its own hint, which contains no name;
    /// B2C and other providers require the ID token.
    private func logoutURL(
        _ application: Application, _ account: Account?, idToken: String?, metadata: ProviderMetadata
    ) -> String? {
        let hint = account?.claims["login_hint"]?.string
        let wantsIDToken = application.kind == .b2c || application.kind == .oidc
        let state = Hex.encode(providers.randomBytes(16))
        return LogoutRequest(
            postLogoutRedirectURI: configuration.publicURL.postLogoutRedirectURI,
            logoutHint: wantsIDToken ? nil : hint, idTokenHint: wantsIDToken ? idToken : nil, state: state
        ).url(metadata: metadata, registration: application.registration)
    }

    /// Revokes the refresh token if the provider has an endpoint for that. It is already gone here, so the caller does
    /// not wait.
    private func revoke(_ refreshToken: String, _ application: Application) {
        Task.detached(executorPreference: Worker.current) {
            do {
                let metadata = try await providers.directory.metadata(for: application.authority)
                let client = try providers.credentials.client(of: application)
                guard
                    let request = try RevocationRequest(
                        refreshToken: refreshToken, metadata: metadata, client: client)
                else { return }
                let status = try await providers.client.send(request.providerRequest).head.status
                if status.kind == .successful {
                    logger.debug("a refresh token was revoked at the provider")
                } else {
                    logger.warning(
                        "the provider did not revoke a refresh token", metadata: ["status": "\(status.code)"])
                }
            } catch {
                let reason = (error as? OpenIDError)?.description ?? "\(type(of: error))"
                logger.warning("a refresh token was not revoked at the provider", metadata: ["reason": "\(reason)"])
            }
        }
    }
}

/// The applications of which something has been said.
private final class SaidOnce: Sendable {
    private let ids = Mutex<Set<String>>([])

    func isFirst(_ id: String) -> Bool { ids.withLock { $0.insert(id).inserted } }
}
