import Foundation
import Testing

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("Discovery and keys")
struct DiscoveryTests {
    @Test(
        arguments: [
            ("common", "{tenantid}", "common"), ("organizations", "{tenantid}", "organizations"),
            ("consumers", Tenant.consumers, "consumers"), (Tenant.contoso, Tenant.contoso, Tenant.contoso),
            ("contoso.example", Tenant.contoso, Tenant.contoso), ("Contoso.Example", Tenant.contoso, Tenant.contoso),
        ])
    func `the issuer is a template where several tenants sign in`(_ segment: String, _ issuer: String, _ path: String)
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let document = try await tenant.browser().get("/\(segment)/v2.0/.well-known/openid-configuration")
            let base = tenant.tenant.baseURL
            #expect(document.status == 200)
            #expect(document.member("issuer") == "\(base)/\(issuer)/v2.0")
            #expect(document.member("authorization_endpoint") == "\(base)/\(path)/oauth2/v2.0/authorize")
            #expect(document.member("token_endpoint") == "\(base)/\(path)/oauth2/v2.0/token")
            #expect(document.member("end_session_endpoint") == "\(base)/\(path)/oauth2/v2.0/logout")
            #expect(document.member("jwks_uri") == "\(base)/\(path)/discovery/v2.0/keys")
        }
    }

    @Test func `an unknown tenant gets AADSTS90002 in JSON`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let answer = try await tenant.browser().get("/woodgrove.example/v2.0/.well-known/openid-configuration")
            #expect(answer.status == 400)
            #expect(answer.member("error") == "invalid_tenant")
            #expect(answer.number == 90002)
        }
    }

    @Test func `a discovery document has no empty member but the platform's own`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let document = try await tenant.browser().get("/common/v2.0/.well-known/openid-configuration")
            let empty = document.json?.object?.filter { $0.value == .null }.keys.sorted()
            #expect(empty == ["tenant_region_scope"])
        }
    }

    @Test func `all keys are RSA keys until one of another type is asked for`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            func types() async throws -> Set<String?> {
                let keys = try await browser.get("/common/discovery/v2.0/keys").json?["keys"]?.array ?? []
                return Set(keys.map { $0["kty"]?.string })
            }
            #expect(try await types() == ["RSA"])
            #expect(try await browser.control(["unknown_key": true]).json?["unknown_key"] == true)
            #expect(try await types() == ["RSA", "AKP"])
            _ = try await browser.control(["reset": true])
            #expect(try await types() == ["RSA"])
        }
    }

    @Test func `the keys of common name their issuers`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let base = tenant.tenant.baseURL
            func issuers(_ segment: String) async throws -> [String?] {
                guard
                    case .array(let keys) = try await tenant.browser().get("/\(segment)/discovery/v2.0/keys").json?[
                        "keys"]
                else { return [] }
                #expect(keys.allSatisfy { $0["kty"] == "RSA" && $0["alg"] == nil && $0["x5c"]?.array?.count == 1 })
                // There are two of each kind.
                let issuers = keys.map { $0["issuer"]?.string }
                #expect(stride(from: 0, to: issuers.count, by: 2).allSatisfy { issuers[$0] == issuers[$0 + 1] })
                return stride(from: 0, to: issuers.count, by: 2).map { issuers[$0] }
            }
            #expect(
                try await issuers("common") == ["\(base)/{tenantid}/v2.0", "\(base)/\(Tenant.consumers)/v2.0"])
            #expect(try await issuers("organizations") == ["\(base)/{tenantid}/v2.0"])
            #expect(try await issuers("consumers") == ["\(base)/\(Tenant.consumers)/v2.0"])
            #expect(try await issuers("contoso.example") == ["\(base)/\(Tenant.contoso)/v2.0"])
        }
    }
}
