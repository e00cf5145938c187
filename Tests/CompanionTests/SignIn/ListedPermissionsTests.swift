import Testing

@testable import TenantDirectory

/// The demo's pages with an application that lists its permissions, and with one of them forgotten (t2-authz-08).
@Suite struct ListedPermissionsTests {
    /// Each page with a person, and the API that it asks for.
    private static let pages = [
        ("ios", "adele@contoso.example", Scopes.graphIdentifier),
        ("macos", "adele@contoso.example", Scopes.graphIdentifier),
        ("external", "customer@fabrikam.example", OwnAPI.external.audience),
        ("b2c", "b2cuser@fabrikamb2c.example", OwnAPI.b2c.audience),
    ]
    private static let listed = [
        Scopes.graphIdentifier: ["User.Read"], OwnAPI.external.audience: [OwnAPI.external.scope],
        OwnAPI.b2c.audience: [OwnAPI.b2c.scope],
    ]

    @Test(arguments: pages)
    func `a page works while its API is among the permissions, and without it nobody is signed in`(
        _ app: String, _ username: String, _ api: String
    ) async throws {
        for isListed in [true, false] {
            let permissions = Self.listed.filter { isListed || $0.key != api }
            try await Site.run(registered: { $0.permissions = permissions }, configured: { _ in }) { site in
                let visitor = Visitor(site)
                let end = try await visitor.signIn(app: app, username: username).location ?? ""
                #expect(end.contains("sign_in_error=") == !isListed, "\(end)")
                let me = try await visitor.api(.get, "/api/\(app)/me")
                #expect((me.status == 200) == isListed, "\(me.text)")
            }
        }
    }
}
