package import CompanionCore
import EventLoop
import Foundation
package import Logging
import OpenIDConnect
package import SessionStore
import WebFormats

/// Sign-out: here first, then at the provider.
package struct SignOutFlow: Sendable {
    package let configuration: CompanionConfiguration
    package let store: SessionStore
    package let providers: Providers
    package let timeline: Timeline
    package let memory: SessionMemory
    package let audit: AuditLog
    package let logger: Logger

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

    /// Removes the account's tokens, then says where the browser ends the provider's session.
    ///
    /// - Parameters:
    ///   - ofBrowser: whether the provider's session ends too; always so on a shared device, unless the account is
    ///     only taken off the list.
    ///   - isForgotten: whether the account leaves the list without a trace.
    /// - Returns: the rotated session id, and the provider's URL; nil when it is not wanted or not known.
    package func signOut(
        _ asking: SignedIn, ofBrowser: Bool, isForgotten: Bool = false
    ) async throws -> (sessionID: SessionID, redirect: String?) {
        let (application, session, account) = (asking.application, asking.session, asking.account)
        let start = ContinuousClock.now
        let isShared = configuration.deviceMode == .shared
        // What cannot be read any more is no reason to stay signed in.
        let idToken = try? await store.idToken(of: asking.key)
        // The next person at a shared device learns nothing of who was there, and finds nobody signed in.
        if isShared, !isForgotten {
            for other in session.accounts where other.app != account.app || other.id != account.id {
                _ = try await remove(other, of: session, keepAsPrevious: false, as: .signedOut)
            }
        }
        let sessionID = try await remove(
            account, of: session, keepAsPrevious: !isShared && !isForgotten,
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
        return (sessionID, url)
    }

    /// Where the browser ends the provider's session when nobody is signed in here any more, as at a kiosk whose session
    /// ended by itself. Without the account the provider may ask which one.
    package func signOutOfProvider(_ application: Application) async -> String? {
        guard configuration.deviceMode == .shared else { return nil }
        return await providerURL(application, nil, idToken: nil)
    }

    /// Nil when the provider has no such page or does not answer.
    private func providerURL(_ application: Application, _ account: Account?, idToken: String?) async -> String? {
        do {
            try await providers.client.requireAnswer(of: application.authority)
            let metadata = try await providers.directory.metadata(for: application.authority)
            return logoutURL(application, account, idToken: idToken, metadata: metadata)
        } catch {
            // The person is signed out here all the same; the provider's session cannot be ended by us now.
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

    /// An account's tokens are gone here when this returns; at the provider, a moment later.
    private func remove(
        _ account: Account, of session: Session, keepAsPrevious: Bool, as event: AuditEvent
    ) async throws(StoreError) -> SessionID {
        let key = session.key(of: account)
        let refreshToken = try? await store.refreshToken(of: key)
        let sessionID = try await store.removeAccount(key, keepAsPrevious: keepAsPrevious)
        audit.write(
            event, application: account.app, account: store.pseudonym(of: account), session: session.key)
        if let refreshToken, let application = configuration.applications.first(where: { $0.id == account.app }) {
            revoke(refreshToken, application)
        }
        return sessionID
    }

    /// Entra ID knows the session by its own hint, which names nobody; B2C and other providers want the ID token.
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

    /// Ends the refresh token where the provider has an endpoint for it. Nobody waits for it: here it is gone already.
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
