import CompanionCore
import CompanionSignIn
import Languages

/// The part that an account may take in a portal's operation. A higher role includes the lower one.
enum PortalRole: String, Sendable, CaseIterable, Comparable {
    /// May see the applications' health and other people's sessions.
    case reader
    /// May also end sessions.
    case `operator`

    static func < (one: PortalRole, other: PortalRole) -> Bool { one == .reader && other == .operator }
}

/// Decides which role an account has at a portal. ``Route/table`` says which role an address needs.
struct PortalAccess: Sendable {
    let configuration: CompanionConfiguration

    /// Checks that the account belongs to a portal that is not open to everyone, and has the role there.
    ///
    /// - Throws: ``Problem`` `not_found` if the application is no portal; `access_denied` without the role.
    func require(_ role: PortalRole, _ asking: SignedIn) throws(Problem) {
        let application = asking.application
        guard application.page == .portal else { throw Problem(.notFound, "This application is not a portal.") }
        guard application.admitsOperators(at: configuration.publicURL, mode: configuration.deviceMode) else {
            throw Problem(
                .accessDenied,
                "This portal is open to everybody, so it does not show other people's sessions. "
                    + "The operator can name those who may see them in allowed_users or allowed_tenants."
            )
        }
        // If no users are listed, the accounts of the allowed tenants are operators. The authority's own tenant alone
        // is not enough.
        let tenants = application.registration.allowedTenants
        guard
            !application.allowedUsers.isEmpty || tenants.isEmpty
                || asking.account.identity.tenantID.map({ tenants.contains($0.lowercased()) }) ?? false
        else {
            throw Problem(
                .accessDenied, "This account is not allowed to use this application. Ask the operator.")
        }
    }
}
