package import CompanionCore
import Foundation
package import OpenIDConnect
package import SessionStore

/// Handles sign-outs that the provider initiates, by the front channel or the back channel. Front-channel requests come
/// through the browser and prove nothing, but can only end the sessions that they name. Back-channel requests have a
/// signed token.
package final class ChannelLogout: Sendable {
    private let applications: [Application]
    private let store: SessionStore
    private let directory: ProviderDirectory
    private let audit: AuditLog

    package init(applications: [Application], store: SessionStore, directory: ProviderDirectory, audit: AuditLog) {
        self.applications = applications
        self.store = store
        self.directory = directory
        self.audit = audit
    }

    /// Ends the sessions with this issuer and session ID (Front-Channel Logout 1.0 section 2).
    ///
    /// - Throws: ``Problem`` `bad_request` if a value is missing or the issuer belongs to no application.
    package func front(issuer: String?, sid: String?) async throws {
        guard let issuer, let sid, !sid.isEmpty, sid.utf8.count <= 512 else {
            throw Problem(.badRequest, "The provider has to include iss and sid.")
        }
        await note(try await store.removeSessions(issuer: issuer, sid: sid))
    }

    private func note(_ ended: [EndedAccount]) async {
        RequestContext.current?.note(endedAccounts: ended.count)
        for account in ended {
            await audit.write(
                .signedOutByProvider, application: account.app, account: account.pseudonym, session: account.session)
        }
    }

    /// Validates the token, then ends the sessions that it names (Back-Channel Logout 1.0 section 2.6).
    package func back(token: String?) async throws(Problem) {
        guard let token, let issuer = LogoutToken.unverifiedIssuer(of: token) else {
            throw Problem(.badRequest, "The logout_token is missing or cannot be read.")
        }
        let claims = try await claims(of: token, issuer: issuer)
        let ended: [EndedAccount]?
        do {
            ended = try await store.removeSessions(
                issuer: claims.issuer, sid: claims.sessionID, subject: claims.subject, tokenID: claims.tokenID,
                until: claims.expiresOn)
        } catch {
            throw Problem(error)
        }
        guard let ended else { throw Problem(.badRequest, "This logout token has already been used.") }
        await note(ended)
    }

    /// Returns the validated claims. Several applications may share the issuer, and the token is valid for one of them.
    private func claims(of token: String, issuer: String) async throws(Problem) -> LogoutTokenClaims {
        var refusal = Problem(.badRequest, "No application here has this issuer.")
        for application in applications {
            do throws(OpenIDError) {
                let metadata = try await directory.metadata(for: application.authority)
                return try await LogoutToken.claims(
                    of: token, metadata: metadata, registration: application.registration, directory: directory)
            } catch {
                if error.idTokenFault == .issuer || error.code == .invalidMetadata { continue }
                guard error.code == .invalidIDToken || error.code == .nonceMismatch else {
                    refusal = Problem(error)
                    continue
                }
                refusal = Problem(
                    .badRequest, "The logout token was refused: \(error.idTokenFault?.rawValue ?? "malformed").")
                if error.idTokenFault != .audience { throw refusal }
            }
        }
        throw refusal
    }
}
