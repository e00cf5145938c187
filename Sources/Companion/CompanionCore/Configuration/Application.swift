package import Foundation
package import OpenIDConnect
package import SessionStore
import WebFormats

/// One application that people sign in to.
package struct Application: Sendable {
    /// The name in paths: lower-case letters, digits and `-`.
    package var id: String
    /// The page shown at `/{id}`.
    package var page: Page
    /// The title on the home page.
    package var title: String
    /// The authority for signing in; with B2C, the user flow for signing up or in.
    package var authority: Authority
    /// B2C's other user flows.
    package var userFlows: [UserFlow: Authority]
    /// The relying party's registration at the authority.
    package var registration: ClientRegistration {
        didSet { scopes = ScopeSet(registration.scopes) }
    }
    /// The registration's scopes as the key of stored tokens.
    package private(set) var scopes: ScopeSet
    /// The source of the application's credential. It is read when an `AuthenticatedClient` of the registration is
    /// needed.
    package var credential: ClientCredential
    /// The API that `/api/{app}/me` calls; nil stands for the provider's UserInfo endpoint.
    package var api: Endpoint?
    /// The prompt of a sign-in that specifies none; nil is MSAL's "if necessary".
    package var prompt: Prompt?
    /// Whether authorization requests are sent to the provider in advance (RFC 9126).
    package var pushedAuthorization = PushedAuthorization.auto
    /// Parameters that a sign-in may pass on to the provider.
    package var extraQueryParameters: [String]
    /// The accounts that may sign in; an empty list admits everyone from the admitted tenants.
    package var allowed = AccountList()
    /// The accounts that may operate a portal; nil leaves it to ``allowed`` and the allowed tenants.
    package var operators: AccountList?
    /// The accounts that may see what a portal's operators see, and change nothing.
    package var readers = AccountList()
    /// The client secret's expiry date, if the operator has configured it. The platform does not reveal it.
    package var clientSecretExpires: Date?

    /// Whether the application may have tokens of its own, for reading its registration and for a portal's operators.
    package var isAppOnlyAllowed = false

    /// Whether visitors of a kiosk choose it there (`kiosk.tiles`).
    package var isKioskTile = false

    /// The tutorial apps' screens.
    package enum Page: String, Sendable, CaseIterable {
        case ios, macos, external, b2c, portal, kiosk
    }

    /// First path segments that are reserved for pages and routes, so that no application may use them.
    package static let reservedIDs: Set<String> = [
        "api", "auth", "assets", "healthz", "readyz", "metrics", "native", "paste", "truth",
    ]

    /// The kinds of identity platform.
    package typealias Kind = Authority.Kind

    /// Whether authorization requests are sent to the provider in advance.
    package enum PushedAuthorization: String, Sendable, CaseIterable {
        /// Where the provider's metadata offers it.
        case auto
        /// Never.
        case off
    }

    /// The purpose of a B2C user flow.
    package enum UserFlow: String, Sendable, CaseIterable {
        /// Signing up or in. Accounts belong to this flow.
        case signIn = "sign_in"
        /// Editing a profile.
        case editProfile = "edit_profile"
        /// Resetting a password.
        case resetPassword = "reset_password"
    }

    /// The identity platform's kind.
    package var kind: Kind { authority.kind }

    /// Creates an application from its configuration.
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

    /// Returns the authority that renews an account's tokens, which is the one where it signed in. For a guest this
    /// is the tenant itself, even if the configured authority covers many tenants, because the guest's home tenant
    /// knows the person by another object ID. It is also the tenant itself if the configured authority has one tenant
    /// and the account belongs to another that the operator lists.
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

    /// The address of Graph's `/me` in the application's cloud: the configured one, otherwise Microsoft's.
    package var graph: Endpoint? {
        guard kind == .workforce || kind == .external else { return nil }
        return graphMe ?? MicrosoftGraph.me(authority: authority.description)
    }

    /// The authority at which the application gets tokens of its own: that of one tenant. Nil if it may have none.
    package var appOnlyAuthority: Authority? {
        guard isAppOnlyAllowed, credential.isConfigured, kind == .workforce || kind == .external else { return nil }
        switch authority.segment {
        case .tenant: return authority
        case nil: return kind == .external ? authority : nil
        case .common, .organizations, .consumers:
            let tenants = registration.allowedTenants
            guard tenants.count == 1, let tenant = tenants.first else { return nil }
            return try? authority.withTenant(tenant)
        }
    }

    /// The groups that rules name.
    package var namedGroups: Set<String> {
        allowed.groups.union(operators?.groups ?? []).union(readers.groups)
    }

    /// The address of Graph's `/me`, if that is the application's API. Its access tokens are then for Graph.
    package var graphMe: Endpoint? {
        api.flatMap { GraphProfile.isServed(at: $0, with: authority) ? $0 : nil }
    }

    /// Whether accounts that may sign in here may see other people's sessions. This takes a portal whose operator has
    /// listed the users or tenants. The authority alone does not count, because it says who may sign in, and not who
    /// operates the server. On a private machine no list is needed, since there are no other people.
    package func admitsOperators(at publicURL: PublicURL, mode: DeviceMode) -> Bool {
        let isRestricted = operators != nil || !allowed.isEmpty || !registration.allowedTenants.isEmpty
        let isOwnMachine = mode == .private && Loopback.contains(publicURL.host)
        return page == .portal && (isRestricted || isOwnMachine)
    }

    /// Returns the authority for another tenant, which a request names. The caller checks whether that tenant is
    /// admitted.
    ///
    /// - Throws: ``Problem`` `bad_request` if the name cannot be a tenant's.
    package func authority(ofTenant name: String) throws(Problem) -> Authority {
        do throws(AuthorityError) {
            return try authority.withTenant(name)
        } catch {
            throw Problem(.badRequest, "“tenant” cannot be used: \(error.reason)")
        }
    }

    /// Returns the authority of a user flow; nil if it is not configured.
    package func authority(of flow: UserFlow) -> Authority? {
        flow == .signIn ? authority : userFlows[flow]
    }
}
