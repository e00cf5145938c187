import Foundation

/// The IDs of the tenants.
package enum Tenant {
    /// The first organization, whose domain is `contoso.example`.
    package static let contoso = "5c7d0b28-bdf8-410c-aa93-4df372b16203"
    package static let contosoDomain = "contoso.example"
    /// A second organization, where Adele is a guest.
    static let tailspin = "3e7a9b5c-1d24-4f68-9a0b-c5d2e8f16b47"
    static let tailspinDomain = "tailspin.example"
    /// The external tenant.
    package static let fabrikam = "d4b1c8a0-7e4f-4f0e-8d24-3a6b1f7c9e52"
    package static let fabrikamDomain = "fabrikam.example"
    /// The external tenant's name on this machine. MSAL takes a host for an external tenant's whose second part is
    /// `ciamlogin`, and only then gives an app the claims of the account.
    package static let fabrikamHost = "fabrikam.ciamlogin.localhost"
    /// The Azure AD B2C tenant.
    package static let fabrikamB2C = "9c2f6d1e-0b7a-4c53-b1f8-6e4d8a27c3f0"
    package static let fabrikamB2CDomain = "fabrikamb2c.example"
    /// The tenant of all personal accounts (the real platform's ID, because clients compare with it).
    package static let consumers = "9188040d-6c67-4c5b-b112-36a304b66dad"
    /// The domain of the built-in personal account.
    static let outlookDomain = "outlook.example"

    /// The tenants of organizations, whose members have work accounts.
    package static let organizations: Set = [contoso, tailspin]

    private static let idByDomain = [
        contosoDomain: contoso, tailspinDomain: tailspin, fabrikamDomain: fabrikam, fabrikamB2CDomain: fabrikamB2C,
        outlookDomain: consumers,
    ]

    /// All domains, for people.
    static let domainList = idByDomain.keys.sorted().joined(separator: ", ")
    /// The domains of organizations, for people.
    static let organizationList = [contosoDomain, tailspinDomain].joined(separator: ", ")

    package static func id(ofDomain domain: String) -> String? { idByDomain[domain.lowercased()] }

    /// Returns the domain of a tenant's ID.
    package static func domain(ofID id: String) -> String? { idByDomain.first { $0.value == id }?.key }

    /// Returns the name that people see, which is the first part of the domain.
    package static func name(ofID id: String) -> String { (domain(ofID: id) ?? id).prefix { $0 != "." }.capitalized }
}
