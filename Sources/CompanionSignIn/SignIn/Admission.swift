package import CompanionCore
import Foundation
package import OpenIDConnect
package import SessionStore
import Synchronization

/// Decides which accounts may sign in to an application and stay signed in. Admitted are the tenants of its authority
/// and those that the operator lists; within these, `allowed_users` may restrict the accounts. The check compares
/// validated or stored values, never those from a request (security law 7).
package final class Admission: Sendable {
    private let applications: [String: Application]
    private let directory: ProviderDirectory
    /// The admitted tenants by application. If the authority is named by a domain, they are missing until its metadata
    /// has been loaded.
    private let tenants: Mutex<[String: AdmittedTenants]>

    package init(applications: [Application], directory: ProviderDirectory) {
        self.applications = Dictionary(applications.map { ($0.id, $0) }) { first, _ in first }
        self.directory = directory
        tenants = Mutex(
            self.applications.compactMapValues {
                $0.authority.admittedTenants(listed: $0.registration.allowedTenants)
            })
    }

    // MARK: Accounts

    /// Whether an account of a session may stay signed in, decided without any request.
    ///
    /// - Returns: nil if the authority is named by a domain whose metadata has not been loaded yet.
    func admits(_ account: Account) -> Bool? {
        guard let application = applications[account.app] else { return true }
        guard let tenants = tenants.withLock({ $0[application.id] }) else { return nil }
        return tenants.contains(account.identity.tenantID) && allows(account, application)
    }

    /// Returns the accounts of a session that may not stay signed in, because the configuration was changed after their
    /// sign-in.
    ///
    /// - Throws: ``OpenIDError`` if the metadata of an authority is needed and not available. That is no reason to sign
    ///   the account out.
    package func refused(in session: Session) async throws(OpenIDError) -> [Account] {
        var refused: [Account] = []
        for account in session.accounts {
            if admits(account) == nil, let application = applications[account.app] {
                _ = try await admittedTenants(of: application)
            }
            if admits(account) == false { refused.append(account) }
        }
        return refused
    }

    /// Checks an account against the operator's list of users. The tenant was checked with the ID token.
    ///
    /// - Throws: ``Problem`` `access_denied` if the account is not listed.
    package func check(_ claims: IDTokenClaims, _ application: Application) throws(Problem) {
        let account = AllowedUser.Claims(
            tenantID: claims.tenantID, objectID: claims.objectID, subject: claims.subject,
            preferredUsername: { claims.preferredUsername })
        guard application.allowedUsers.isEmpty || application.allowedUsers.contains(where: { $0.names(account) }) else {
            throw Problem(
                .accessDenied, "This account is not allowed to use this application. Ask the operator.")
        }
    }

    private func allows(_ account: Account, _ application: Application) -> Bool {
        guard !application.allowedUsers.isEmpty else { return true }
        let identity = account.identity
        // The stored username is not used, because it may have been an e-mail address or a name.
        let claims = AllowedUser.Claims(
            tenantID: identity.tenantID, objectID: identity.objectID, subject: identity.subject,
            preferredUsername: { account.claims["preferred_username"]?.string })
        return application.allowedUsers.contains { $0.names(claims) }
    }

    // MARK: Tenants

    /// Checks that the configuration admits the tenant that a request names.
    ///
    /// - Throws: ``Problem`` `bad_request` if it does not; ``OpenIDError`` if metadata is needed and not available.
    package func check(_ authority: Authority, _ application: Application) async throws {
        guard authority != application.authority, case .tenant(let name) = authority.segment else { return }
        let admitted = try await admittedTenants(of: application)
        let tenantID = UUID(uuidString: name) == nil ? try await directory.metadata(for: authority).tenantID : name
        guard admitted.contains(tenantID) else {
            throw Problem(
                .badRequest, "“tenant” cannot be used: this application does not admit accounts from that tenant.")
        }
    }

    private func admittedTenants(of application: Application) async throws(OpenIDError) -> AdmittedTenants {
        if let known = tenants.withLock({ $0[application.id] }) { return known }
        let metadata = try await directory.metadata(for: application.authority)
        let admitted = metadata.admittedTenants(listed: application.registration.allowedTenants)
        tenants.withLock { $0[application.id] = admitted }
        return admitted
    }
}
