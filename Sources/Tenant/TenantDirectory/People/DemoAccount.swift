import Cryptography
import Foundation
package import WebFormats

/// One of the people who can sign in.
package struct DemoAccount: Sendable, Hashable {
    /// The password of the built-in accounts and of people who sign up.
    package static let demoPassword = "demo"

    /// The kind of tenant that an account belongs to.
    package enum Kind: Sendable {
        /// A member of the first organization.
        case work
        /// A consumer, in the consumers' tenant.
        case personal
        /// A customer in the external tenant.
        case external
        /// A consumer of the Azure AD B2C tenant.
        case b2c

        /// Whether applications need these people's consent. For customers, the tenant's owner has already consented.
        package var asksForConsent: Bool { self == .work || self == .personal }
    }

    /// A special behaviour of an account.
    package enum Trait: Sendable {
        case administrator
        /// The account may not consent for itself (AADSTS90094).
        case needsAdminConsent
        /// The first silent call asks for a second factor (AADSTS50076).
        case secondFactorOnSilentCall
        /// Each sign-in asks for a second factor.
        case secondFactorAlways
        /// A policy refuses every token (AADSTS53003).
        case blockedByPolicy
    }

    package var username: String
    package var password = DemoAccount.demoPassword
    /// Whether the password is of the configuration, and so the person's own.
    package var isConfigured = false
    /// The hash of a password that is not kept itself, in the place of ``password``.
    package var storedPassword: StoredPassword?
    /// See ``RunTimeIdentity``; nil for people who were there from the start.
    package var registered: RunTimeIdentity?
    package var kind: Kind
    /// The provider at which a customer signs in instead of here; nil for a local account.
    package var identityProvider: String?
    /// The address of a customer who signs in elsewhere.
    var email: String?
    /// The home tenant of a work account.
    package var organization = Tenant.contoso
    package var objectID: String
    package var givenName: String
    package var surname: String
    package var displayName: String
    package var jobTitle: String?
    package var mobilePhone: String?
    package var officeLocation: String?
    package var traits: Set<Trait> = []
    /// The way in which a customer signs in natively.
    package var signInMethod = SignInMethod.password
    /// The second factor that a customer needs natively; nil for none.
    package var secondFactor: SecondFactorMethod?
    /// Whether the platform sends no codes to the person's second factor, because of its reputation.
    package var isContactBlocked = false
    /// The object IDs of the account as a guest of other organizations, by tenant ID.
    var guestObjectIDs: [String: String] = [:]
    /// The names of the groups that the account is a member of.
    package var groups: [String] = []
    /// The values of app roles, by client ID in lower case.
    package var roles: [String: [String]] = [:]
    /// The profile photo; nil if there is none.
    package var portrait: Portrait?
    /// The line for the account picker that says what this account demonstrates.
    package var hint: HTML

    /// The name that people know: the address of who signs in elsewhere, and the username of everyone else.
    package var knownName: String { email ?? username }

    /// The home tenant.
    package var tenantID: String {
        switch kind {
        case .work: organization
        case .personal: Tenant.consumers
        case .external: Tenant.fabrikam
        case .b2c: Tenant.fabrikamB2C
        }
    }

    /// Returns the account's object ID in a tenant, at home or as a guest; nil if it has none.
    package func objectID(in tenantID: String) -> String? {
        tenantID == self.tenantID ? objectID : guestObjectIDs[tenantID]
    }

    /// The value of the optional claim `login_hint`. It is opaque, stable, and accepted as `login_hint` and
    /// `logout_hint`.
    package var loginHint: String { "O." + Base64URL.encode("\(objectID)|\(tenantID)".utf8) }

    /// Graph's `id`: the object ID, or for consumers its last 16 hexadecimal digits.
    package var graphID: String {
        kind != .personal ? objectID : String(objectID.filter { $0 != "-" }.suffix(16))
    }
}

/// The tenants at which accounts sign in.
extension TenantSegment {
    /// Whether an account may sign in there.
    package func admits(_ account: DemoAccount) -> Bool {
        switch self {
        case .common: account.kind == .work || account.kind == .personal
        case .organizations: account.kind == .work
        case .consumers: account.kind == .personal
        case .tenant(let id): account.objectID(in: id) != nil
        case .userFlow: account.kind == .b2c
        }
    }

    /// Returns the tenant that issues tokens for this account: the requested one, else the account's home.
    package func tenantID(for account: DemoAccount) -> String {
        if case .tenant(let id) = self { id } else { account.tenantID }
    }
}

extension DemoAccount {
    /// Returns a pairwise subject. It is always the same for one user at one application, and cannot be used to
    /// recognise the user at another.
    package func subject(in tenantID: String, audience: String) -> String {
        let object = objectID(in: tenantID) ?? objectID
        return Base64URL.encode(SHA256.hash(data: Data("\(tenantID)|\(object)|\(audience)".utf8)))
    }
}
