import Foundation
import Logging
import OpenIDConnect
import SessionStore

/// Sign-out: here first, then at the provider.
struct SignOutFlow: Sendable {
    let configuration: CompanionConfiguration
    let store: SessionStore
    let directory: ProviderDirectory
    let timeline: Timeline
    let trips: TripLimit
    let logger: Logger

    /// Removes the account's tokens, then says where the browser ends the provider's session.
    ///
    /// - Parameter ofBrowser: whether the provider's session ends too; always so on a shared device.
    /// - Returns: the rotated session id, and the provider's URL; nil when it is not wanted or not known.
    func signOut(
        _ application: Application, session: Session, account: Account, ofBrowser: Bool
    ) async throws -> (sessionID: SessionID, redirect: String?) {
        let start = ContinuousClock.now
        let isShared = configuration.deviceMode == .shared
        // The next person at a shared device does not learn who was there.
        let sessionID = try await store.removeAccount(
            session.key, app: application.id, accountID: account.id, keepAsPrevious: !isShared)
        trips.reset(session: session.key.value, app: application.id)
        timeline.record(session: session.key.value, app: application.id, step: "sign_out", since: start)
        guard ofBrowser || isShared else { return (sessionID, nil) }
        do {
            let metadata = try await directory.metadata(for: application.authority)
            let request = LogoutRequest(
                postLogoutRedirectURI: configuration.publicURL.origin + "/auth/signed-out",
                logoutHint: account.claims["login_hint"] as? String)
            return (sessionID, request.url(metadata: metadata, registration: application.registration))
        } catch {
            // The person is signed out here all the same; the provider's session cannot be ended by us now.
            logger.warning("sign-out at the provider is not possible", metadata: ["reason": "\(error)"])
            return (sessionID, nil)
        }
    }
}
