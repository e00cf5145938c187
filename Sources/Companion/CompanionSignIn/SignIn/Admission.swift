package import CompanionCore
import Foundation
package import OpenIDConnect
package import SessionStore
import WebFormats
import Synchronization

/// Decides which accounts may sign in to an application and stay signed in. Admitted are the tenants of its authority
/// and those that the operator lists; within these, the accounts may be restricted to users, groups and app roles. The
/// check compares validated or stored values, never those from a request (security law 7).
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

    /// Checks an account against the operator's lists. The tenant was checked with the ID token.
    ///
    /// - Parameter groups: Graph's answer about the account's groups, if the ID token has too many.
    /// - Throws: ``Problem`` `access_denied` if the account is not listed.
    package func check(_ claims: IDTokenClaims, _ groups: GroupAnswer?, _ application: Application) throws(Problem) {
        guard !application.allowed.isEmpty else { return }
        let match = application.allowed.match(
            AllowedUser.Claims(claims),
            Membership(claims: JSONValue(parsing: claims.json.utf8)?.object ?? [:], groups))
        guard !match.isNamed else { return }
        throw Admission.refusal(by: application.allowed)
    }

    /// Returns the refusal of an account that no rule names. It says which kinds of rules there are, and not whom they
    /// name.
    private static func refusal(by rules: AccountList) -> Problem {
        let lists = [
            ("allowed_users", rules.users.isEmpty), ("allowed_groups", rules.groups.isEmpty),
            ("allowed_roles", rules.roles.isEmpty),
        ]
        let reason = "no entry of \(lists.filter { !$0.1 }.map(\.0).joined(separator: ", ")) names the account"
        return switch (rules.groups.isEmpty, rules.roles.isEmpty) {
        case (false, false):
            Problem(
                .accessDenied,
                "This application admits members of certain groups and holders of certain app roles. This account is neither. Ask the operator.",
                reason: reason)
        case (false, true):
            Problem(
                .accessDenied,
                "This application admits members of certain groups, and this account is in none of them. Ask the operator.",
                reason: reason)
        case (true, false):
            Problem(
                .accessDenied,
                "This application admits holders of certain app roles, and this account has none of them. Ask the operator.",
                reason: reason)
        case (true, true):
            Problem(
                .accessDenied, "This account is not allowed to use this application. Ask the operator.", reason: reason)
        }
    }

    /// Whether the lists admit an account. It stays while its groups are not known: a list may name a group about which
    /// Graph was not asked when the account signed in.
    private func allows(_ account: Account, _ application: Application) -> Bool {
        application.allowed.isEmpty || account.match(application.allowed) != .no
    }

    // MARK: Tenants

    /// Checks that the configuration admits the tenant that a request names.
    ///
    /// - Parameter requester: the address or session of the request. The ID of a tenant that is named by a domain is in
    ///   its metadata, and anyone can make up domains.
    /// - Throws: ``Problem`` `bad_request` if it does not; ``OpenIDError`` if metadata is needed and not available.
    package func check(_ authority: Authority, _ application: Application, requester: String) async throws {
        guard authority != application.authority, case .tenant(let name) = authority.segment else { return }
        let admitted = try await admittedTenants(of: application)
        let isDomain = UUID(uuidString: name) == nil
        let tenantID =
            isDomain ? try await directory.metadata(for: authority, requester: requester).tenantID : name
        guard admitted.contains(tenantID) else {
            throw Problem(
                .badRequest, "“tenant” cannot be used: this application does not admit accounts from that tenant.")
        }
        // From now on, no other name delays or evicts this domain. No provider says which domains a listed tenant has.
        if isDomain, let tenantID, application.registration.allowedTenants.contains(tenantID) {
            _ = try await directory.metadata(for: authority)
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

extension AllowedUser.Claims {
    fileprivate init(_ claims: IDTokenClaims) {
        self.init(
            tenantID: claims.tenantID, objectID: claims.objectID, subject: claims.subject,
            preferredUsername: { claims.preferredUsername })
    }
}

extension Account {
    /// Returns whether and why a list names the account.
    package func match(_ list: AccountList) -> AccountList.Match {
        // The stored username is not used, because it may have been an e-mail address or a name.
        let claims = AllowedUser.Claims(
            tenantID: identity.tenantID, objectID: identity.objectID, subject: identity.subject,
            preferredUsername: { self.claims["preferred_username"]?.string })
        return list.match(claims, membership)
    }

    /// The groups and app roles of the account.
    package var membership: Membership { Membership(claims: claims, annotation.flatMap(GroupAnswer.init)) }
}
