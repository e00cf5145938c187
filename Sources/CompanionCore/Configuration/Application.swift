package import Foundation
package import OpenIDConnect
package import SessionStore
import WebFormats

/// One application that the companion signs people in to.
package struct Application: Sendable {
    /// The name in paths: lower-case letters, digits and `-`.
    package var id: String
    /// The page that `/{id}` shows.
    package var page: Page
    /// What the home page calls it.
    package var title: String
    /// Where people sign in; with B2C, the user flow for signing up or in.
    package var authority: Authority
    /// B2C's other user flows.
    package var userFlows: [UserFlow: Authority]
    /// The relying party's registration at the authority.
    package var registration: ClientRegistration {
        didSet { scopes = ScopeSet(registration.scopes) }
    }
    /// The registration's scopes as tokens are found by.
    package private(set) var scopes: ScopeSet
    /// How the application proves who it is: read when it is needed, to make an `AuthenticatedClient` of the registration.
    package var credential: ClientCredential
    /// The API that `/api/{app}/me` calls; nil asks the provider's UserInfo endpoint.
    package var api: Endpoint?
    /// The prompt when a sign-in names none; nil is MSAL's "if necessary".
    package var prompt: Prompt?
    /// Parameters that a sign-in may hand on to the provider.
    package var extraQueryParameters: [String]
    /// Who may sign in; empty: everybody of the admitted tenants.
    package var allowedUsers: [AllowedUser] = []
    /// When the client secret ends, as far as the operator has said: the platform does not reveal it.
    package var clientSecretExpires: Date?

    /// The tutorial apps' screens.
    package enum Page: String, Sendable, CaseIterable {
        case ios, macos, external, b2c, portal, kiosk
    }

    /// First path segments that no application may take: pages, and what the route table has.
    package static let reservedIDs: Set<String> = ["api", "auth", "assets", "healthz", "readyz", "metrics", "native"]

    /// The kinds of identity platform.
    package typealias Kind = Authority.Kind

    /// What a B2C user flow is for.
    package enum UserFlow: String, Sendable, CaseIterable {
        /// Signing up or in: the flow to which accounts belong.
        case signIn = "sign_in"
        /// Changing one's profile.
        case editProfile = "edit_profile"
        /// Setting a new password.
        case resetPassword = "reset_password"
    }

    /// The identity platform's kind.
    package var kind: Kind { authority.kind }

    /// An application as configured.
    package init(
        id: String, page: Page, title: String, authority: Authority, userFlows: [UserFlow: Authority] = [:],
        registration: ClientRegistration, credential: ClientCredential, api: Endpoint?,
        prompt: Prompt? = .selectAccount, extraQueryParameters: [String] = []
    ) {
        self.id = id
        self.page = page
        self.title = title
        self.authority = authority
        self.userFlows = userFlows
        self.registration = registration
        scopes = ScopeSet(registration.scopes)
        self.credential = credential
        self.api = api
        self.prompt = prompt
        self.extraQueryParameters = extraQueryParameters
    }

    /// Where an account's tokens are renewed: where it signed in. At an authority of many tenants that is the tenant
    /// itself for somebody who signed in as a guest, since at home the ID token is about another object; at an authority
    /// of one tenant, for somebody of another tenant that the operator lists.
    package func authority(for account: Account) -> Authority {
        guard kind == .workforce, let tenant = account.identity.tenantID?.lowercased() else { return authority }
        let isOwn =
            switch authority.segment {
            case .common, .organizations, nil: account.id.split(separator: ".").last?.lowercased() == tenant
            case .consumers: tenant == Authority.consumersTenantID
            case .tenant(let name): name == tenant || registration.allowedTenants.isEmpty
            }
        return isOwn ? authority : (try? authority.withTenant(tenant)) ?? authority
    }

    /// Whether anyone who signs in here may see the sessions of others: at a portal whose operator has written down who
    /// that is. The authority alone says who may sign in, and not who operates. On one's own machine there is nobody else.
    package func admitsOperators(at publicURL: PublicURL, mode: DeviceMode) -> Bool {
        let isRestricted = !allowedUsers.isEmpty || !registration.allowedTenants.isEmpty
        let isOwnMachine = mode == .private && Loopback.contains(publicURL.host)
        return page == .portal && (isRestricted || isOwnMachine)
    }

    /// The authority of another tenant, which a request names. Whether it is admitted is not asked here.
    ///
    /// - Throws: ``Problem`` `bad_request` when the name cannot be a tenant's.
    package func authority(ofTenant name: String) throws(Problem) -> Authority {
        do throws(AuthorityError) {
            return try authority.withTenant(name)
        } catch {
            throw Problem(.badRequest, "“tenant” cannot be used: \(error.reason)")
        }
    }

    /// The authority of a user flow; nil when it is not configured.
    package func authority(of flow: UserFlow) -> Authority? {
        flow == .signIn ? authority : userFlows[flow]
    }
}
