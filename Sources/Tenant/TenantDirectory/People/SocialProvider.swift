/// The second way in which customers sign in: the consumers' tenant, which stands for a social provider.
package enum SocialProvider {
    package static let name = "Contoso Social"
    /// The value of the claim `idp`.
    package static let id = "social.contoso.example"
    /// The scopes that the customers' tenants ask it for.
    package static let scopes = ["openid", "profile", "email"]

    /// The customers' tenants as an application of the provider.
    package static let client = DemoClient(id: Tenant.fabrikam, name: Tenant.name(ofID: Tenant.fabrikam))
}
