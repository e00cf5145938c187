import WebFormats

/// One of the people who can sign in, all with `DemoAccount.password`.
struct DemoAccount: Sendable, Hashable {
    static let password = "demo"

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
        /// A policy refuses every token (AADSTS53003).
        case blockedByPolicy
    }

    var username: String
    var kind: Kind
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
    var hasPhoto = false
    /// The line for the account picker that says what this account demonstrates.
    var hint: HTML

    /// The home tenant.
    var tenantID: String {
        switch kind {
        case .work: Tenant.contoso
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

/// The IDs of the tenants.
enum Tenant {
    /// The first organization, whose domain is `contoso.example`.
    static let contoso = "5c7d0b28-bdf8-410c-aa93-4df372b16203"
    static let contosoDomain = "contoso.example"
    static let contosoName = "Contoso"
    /// A second organization, where Adele is a guest.
    static let tailspin = "3e7a9b5c-1d24-4f68-9a0b-c5d2e8f16b47"
    static let tailspinDomain = "tailspin.example"
    /// The external tenant.
    static let fabrikam = "d4b1c8a0-7e4f-4f0e-8d24-3a6b1f7c9e52"
    static let fabrikamDomain = "fabrikam.example"
    /// The Azure AD B2C tenant.
    static let fabrikamB2C = "9c2f6d1e-0b7a-4c53-b1f8-6e4d8a27c3f0"
    static let fabrikamB2CDomain = "fabrikamb2c.example"
    /// The tenant of all personal accounts (the real platform's ID, because clients compare with it).
    static let consumers = "9188040d-6c67-4c5b-b112-36a304b66dad"
}

/// The built-in accounts.
enum Directory {
    static let accounts: [DemoAccount] = [
        DemoAccount(
            username: "adele@contoso.example", kind: .work, objectID: "87d349ed-44d7-43e1-9a83-5f2406dee5bd",
            givenName: "Adele", surname: "Vance", displayName: "Adele Vance", jobTitle: "Retail Manager",
            mobilePhone: "+1 425 555 0109", officeLocation: "18/2111", traits: [.administrator],
            guestObjectIDs: [Tenant.tailspin: "b0a6c1d4-5f1e-4d0b-8b57-2a9f6c3e7d18"], hasPhoto: true,
            hint: "Work account, administrator, guest of tailspin.example"),
        DemoAccount(
            username: "megan@contoso.example", kind: .work, objectID: "48d31887-5fad-4d73-a9f5-3c356e68a038",
            givenName: "Megan", surname: "Bowen", displayName: "Megan Bowen", jobTitle: "Marketing Manager",
            mobilePhone: "+1 412 555 0109", officeLocation: "12/1110", hint: "Work account without a photo"),
        DemoAccount(
            username: "alex@outlook.example", kind: .personal, objectID: "00000000-0000-0000-6d1f-0a3b52c48e97",
            givenName: "Alex", surname: "Wilber", displayName: "Alex Wilber", hasPhoto: true,
            hint: "Personal account"),
        DemoAccount(
            username: "nevena@contoso.example", kind: .work, objectID: "e46cc6c9-7d44-4b8c-9d1f-ca0d2ef3a0ff",
            givenName: "Nevena", surname: "Kirova", displayName: "Nevena Kirova", jobTitle: "Trainee",
            officeLocation: "20/2107", traits: [.needsAdminConsent], hint: "Needs an administrator’s consent"),
        DemoAccount(
            username: "mfa@contoso.example", kind: .work, objectID: "c8913c86-ceea-4d39-b1ea-f63a5b675166",
            givenName: "Mira", surname: "Farooq", displayName: "Mira Farooq", jobTitle: "Security Analyst",
            mobilePhone: "+1 206 555 0105", officeLocation: "23/3101", traits: [.secondFactorOnSilentCall],
            hint: "Second factor asked on the silent call"),
        DemoAccount(
            username: "blocked@contoso.example", kind: .work, objectID: "4782e723-f4f4-4af3-a76e-25e3bab0d896",
            givenName: "Bruno", surname: "Locke", displayName: "Bruno Locke", jobTitle: "Contractor",
            traits: [.blockedByPolicy], hint: "Blocked by policy"),
        DemoAccount(
            username: "customer@fabrikam.example", kind: .external, objectID: "6f0b2a7d-93c4-4e18-a5d6-0c8e7b41f295",
            givenName: "Casey", surname: "Jensen", displayName: "Casey Jensen", hint: "Customer, external tenant"),
        DemoAccount(
            username: "b2cuser@fabrikamb2c.example", kind: .b2c, objectID: "2d8e5c19-7a60-4b3f-9e71-d4f0a6b83c52",
            givenName: "Bianca", surname: "Pisani", displayName: "Bianca Pisani", hint: "Consumer, Azure AD B2C"),
    ]

    private static let byName = Dictionary(accounts.map { ($0.username, $0) }) { first, _ in first }
    private static let byHint = Dictionary(accounts.map { ($0.loginHint, $0) }) { first, _ in first }

    /// Returns the account with a username, in any case.
    static func account(username: String) -> DemoAccount? { byName[username.lowercased()] }

    /// Returns the account for a username or for the value of the claim `login_hint`.
    static func account(hint: String) -> DemoAccount? { byHint[hint] ?? account(username: hint) }

    /// Returns the account for the value of the claim `login_hint`, which is also the `logout_hint`.
    static func account(loginHintClaim: String) -> DemoAccount? { byHint[loginHintClaim] }
}
