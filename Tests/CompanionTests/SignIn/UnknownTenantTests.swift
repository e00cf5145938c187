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

    private static func begin(_ visitor: Visitor, tenant: String, from address: String) async throws -> Visitor.Answer {
        try await visitor.send(
            .get, "/auth/ios/sign-in?tenant=\(tenant)", headers: [.xForwardedFor: address, .accept: "text/html"])
    }

    /// A whole sign-in that names a tenant.
    ///
    /// - Returns: the page to which it leads.
    private static func signIn(_ visitor: Visitor, tenant: String, from address: String) async throws -> String? {
        let back = try await visitor.walk(from: try await begin(visitor, tenant: tenant, from: address))
        return try await visitor.get(try #require(back.location)).location
    }

    /// A site whose application is of many tenants and lists one of them, behind a proxy.
    private static func run(_ test: (Site) async throws -> Void) async throws {
        try await Site.run(configured: { configuration in
            configuration.trustedProxies = ["127.0.0.1"].compactMap(AddressRange.init)
            // No other application is configured with the tenant's domain.
            configuration.applications.removeAll { $0.id != "ios" }
            let own = configuration.applications[0].registration
            configuration.applications[0].registration = ClientRegistration(
                clientID: own.clientID, redirectURI: own.redirectURI, scopes: own.scopes,
                allowedTenants: [contoso], clientCapabilities: own.clientCapabilities)
        }) { site in
            try await test(site)
        }
    }

    @Test(arguments: [contoso, "contoso.example"], [1, 30])
    func `made-up tenants keep no member of a listed tenant out`(tenant: String, addresses: Int) async throws {
        try await Self.run { site in
            let adele = Visitor(site)
            try await adele.signIn()
            let strangers = Visitor(site)
            for number in 0..<120 {
                let answer = try await Self.begin(
                    strangers, tenant: "made-up-\(number).example", from: "203.0.113.\(number % addresses)")
                #expect(answer.status != 302, "\(number)")
            }
            for number in 0..<20 {
                // A listed ID has no limit, also at the address of the strangers.
                let address = tenant == Self.contoso ? "203.0.113.0" : "198.51.100.\(number)"
                let page = try await Self.signIn(adele.knownToProvider(), tenant: tenant, from: address)
                #expect(page == "/ios", "\(number)")
            }
            // Members who are signed in get tokens when theirs have run out.
            let forced = try await adele.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(forced.json["source"] as? String == "refreshed", "\(forced.text)")
        }
    }

    @Test func `a listed domain is refused at the address of strangers only until anybody has named it`() async throws {
        try await Self.run { site in
            func isRefused(_ tenant: String, from address: String) async throws -> Bool {
                let answer = try await Self.begin(Visitor(site), tenant: tenant, from: address)
                return answer.location?.contains("sign_in_error=throttled") == true
            }
            for number in 0...10 {
                let isLast = number == 10
                let wasRefused = try await isRefused("made-up-\(number).example", from: "203.0.113.0")
                #expect(wasRefused == isLast)
            }
            let (strangers, other) = ("203.0.113.0", "198.51.100.0")
            for (address, refused) in [(strangers, true), (other, false), (strangers, false)] {
                let wasRefused = try await isRefused("contoso.example", from: address)
                #expect(wasRefused == refused)
            }
        }
    }

    @Test func `the networks of one site are one stranger, who hears how long to wait`() async throws {
        try await Self.run { site in
            var places: [String] = []
            for number in 0..<11 {
                let answer = try await Self.begin(
                    Visitor(site), tenant: "made-up-\(number).example", from: "2001:db8:1:\(number)::1")
                places.append(answer.location ?? "")
            }
            let refused = places.map { $0.contains("sign_in_error=throttled") }
            #expect(refused == Array(repeating: false, count: 10) + [true])
            #expect(places.last?.hasSuffix("&retry_after=60") == true, "\(places.last ?? "")")
        }
    }
}
