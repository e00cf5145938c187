import Testing

@testable import OpenIDConnect

@Suite("Admitted tenants")
struct AdmittedTenantsTests {
    private static let own = "11111111-1111-4111-8111-111111111111"
    private static let other = "22222222-2222-4222-8222-222222222222"
    private static let personal = Authority.consumersTenantID

    @Test(
        arguments: [
            ("common", [], [own, other, personal, nil]), ("common", [other], [other]),
            ("common", [personal], [personal]), ("organizations", [], [own, other, nil]),
            ("organizations", [other], [other]), ("organizations", [other, personal], [other]),
            ("consumers", [], [personal]), ("consumers", [other], [other, personal]), (own, [], [own]),
            (own, [other], [own, other]),
        ] as [(String, Set<String>, [String?])])
    func `the configured authority and the list decide which tenants are admitted`(
        segment: String, listed: Set<String>, admitted: [String?]
    ) throws {
        let authority = try Authority("https://login.microsoftonline.com/\(segment)")
        let tenants = try #require(authority.admittedTenants(listed: listed))
        let candidates = [Self.own, Self.other, Self.personal, nil]
        #expect(candidates.filter(tenants.contains) == admitted)
        #expect(candidates.filter { tenants.contains($0?.uppercased()) } == admitted)
    }

    @Test func `a domain's tenant is known from its metadata alone`() throws {
        let authority = try Authority("https://login.microsoftonline.com/contoso.example")
        #expect(authority.admittedTenants(listed: [Self.other]) == nil)
    }

    @Test(arguments: [Authority.Kind.external, .oidc])
    func `for other kinds a list only narrows the tenants`(kind: Authority.Kind) throws {
        let authority = try Authority("https://id.example.com/\(Self.own)", kind: kind)
        #expect(authority.admittedTenants(listed: [])?.contains(nil) == true)
        #expect(authority.admittedTenants(listed: [Self.other])?.contains(Self.own) == false)
        #expect(authority.admittedTenants(listed: [Self.other])?.contains(Self.other) == true)
    }
}
