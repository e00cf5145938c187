import WebFormats

/// One of the people who can sign in.
struct DemoAccount: Sendable, Hashable {
    /// The password of the built-in accounts and of people who sign up.
    static let demoPassword = "demo"

    enum Kind: Sendable {
        /// A member of the first organization.
        case work
        /// A consumer, in the consumers' tenant.
        case personal
        /// A customer in the external tenant.
        case external
        /// A consumer of the Azure AD B2C tenant.
        case b2c

        /// Whether applications need these people's consent. For customers, the tenant's owner has already consented.
        var asksForConsent: Bool { self == .work || self == .personal }
    }

    /// A special behaviour of an account.
    enum Trait: Sendable {
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

    var username: String
    var password = DemoAccount.demoPassword
    var kind: Kind
    /// The home tenant of a work account.
    var organization = Tenant.contoso
    var objectID: String
    var givenName: String
    var surname: String
    var displayName: String
    var jobTitle: String?
    var mobilePhone: String?
    var officeLocation: String?
    var traits: Set<Trait> = []
    /// The object IDs of the account as a guest of other organizations, by tenant ID.
    var guestObjectIDs: [String: String] = [:]
    /// The names of the groups that the account is a member of.
    var groups: [String] = []
    /// The values of app roles, by client ID in lower case.
    var roles: [String: [String]] = [:]
    /// The profile photo; nil if there is none.
    var portrait: Portrait?
    /// The line for the account picker that says what this account demonstrates.
    var hint: HTML

    /// The home tenant.
    var tenantID: String {
        switch kind {
        case .work: organization
        case .personal: Tenant.consumers
        case .external: Tenant.fabrikam
        case .b2c: Tenant.fabrikamB2C
        }
    }

    /// Returns the account's object ID in a tenant, at home or as a guest; nil if it has none.
    func objectID(in tenantID: String) -> String? {
        tenantID == self.tenantID ? objectID : guestObjectIDs[tenantID]
    }

    /// The value of the optional claim `login_hint`. It is opaque, stable, and accepted as `login_hint` and
    /// `logout_hint`.
    var loginHint: String { "O." + Base64URL.encode("\(objectID)|\(tenantID)".utf8) }

    /// Graph's `id`: the object ID, or for consumers its last 16 hexadecimal digits.
    var graphID: String {
        kind != .personal ? objectID : String(objectID.filter { $0 != "-" }.suffix(16))
    }
}
