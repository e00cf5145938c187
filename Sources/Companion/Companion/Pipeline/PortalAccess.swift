import CompanionCore
import CompanionSignIn
import Languages
import SessionStore

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
        guard let own = self.role(of: asking) else {
            throw Problem(
                .accessDenied, "This account is not allowed to use this application. Ask the operator.")
        }
        guard own >= role else {
            throw Problem(.accessDenied, "Your role at this portal is reader. Only its operators may do this.")
        }
    }

    /// Returns the highest role of a session's accounts at any portal; nil if none has one.
    func role(of session: Session) -> PortalRole? {
        configuration.applications.filter { $0.page == .portal }.flatMap { portal in
            session.accounts(for: portal.id).compactMap { role(of: $0, at: portal) }
        }.max()
    }

    /// Returns the role of an account; nil if it has none.
    func role(of asking: SignedIn) -> PortalRole? { role(of: asking.account, at: asking.application) }

    private func role(of account: Account, at application: Application) -> PortalRole? {
        guard application.page == .portal,
            application.admitsOperators(at: configuration.publicURL, mode: configuration.deviceMode)
        else { return nil }
        if let operators = application.operators {
            if account.match(operators).isNamed { return .operator }
            return account.match(application.readers).isNamed ? .reader : nil
        }
        // If no accounts are listed, those of the allowed tenants are operators. The authority's own tenant alone is
        // not enough.
        let tenants = application.registration.allowedTenants
        let isListed =
            !application.allowed.isEmpty || tenants.isEmpty
            || account.identity.tenantID.map({ tenants.contains($0.lowercased()) }) ?? false
        return isListed ? .operator : nil
    }
}
