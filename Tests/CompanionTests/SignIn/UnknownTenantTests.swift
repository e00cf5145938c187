import Foundation
import HTTPTypes
import OpenIDConnect
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn
@testable import TenantDirectory

/// Tenants that requests name, which anyone can make up.
@Suite struct UnknownTenantTests {
    private static let contoso = Tenant.contoso

    private static func status(_ visitor: Visitor, tenant: String, from address: String) async throws -> Int {
        try await visitor.send(
            .get, "/auth/ios/sign-in?tenant=\(tenant)", headers: [.xForwardedFor: address, .accept: "text/html"]
        ).status
    }

    /// A site whose application is of many tenants and lists one of them, behind a proxy.
    private static func run(_ test: (Site) async throws -> Void) async throws {
        try await Site.run(configured: { configuration in
            configuration.trustedProxies = ["127.0.0.1"].compactMap(AddressRange.init)
            let own = configuration.applications[0].registration
            configuration.applications[0].registration = ClientRegistration(
                clientID: own.clientID, redirectURI: own.redirectURI, scopes: own.scopes,
                allowedTenants: [contoso], clientCapabilities: own.clientCapabilities)
        }) { site in
            site.clock.stop()
            try await test(site)
        }
    }

    @Test(arguments: [1, 30])
    func `made-up tenants keep no member of a listed tenant out`(addresses: Int) async throws {
        try await Self.run { site in
            let adele = Visitor(site)
            try await adele.signIn()
            let strangers = Visitor(site)
            for number in 0..<120 {
                let status = try await Self.status(
                    strangers, tenant: "made-up-\(number).example", from: "203.0.113.\(number % addresses)")
                #expect(status != 302, "\(number)")
            }
            for number in 0..<20 {
                let status = try await Self.status(
                    Visitor(site), tenant: Self.contoso, from: "198.51.100.\(number)")
                #expect(status == 302, "\(number)")
            }
            // Members who are signed in get tokens when theirs have run out.
            let forced = try await adele.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(forced.json["source"] as? String == "refreshed", "\(forced.text)")
        }
    }

    @Test func `a domain of a listed tenant stays known, however many others are made up`() async throws {
        try await Self.run { site in
            #expect(try await Self.status(Visitor(site), tenant: "contoso.example", from: "198.51.100.1") == 302)
            for number in 0..<60 {
                _ = try await Self.status(
                    Visitor(site), tenant: "made-up-\(number).example", from: "203.0.113.\(number % 30)")
            }
            #expect(try await Self.status(Visitor(site), tenant: "contoso.example", from: "198.51.100.2") == 302)
        }
    }
}
