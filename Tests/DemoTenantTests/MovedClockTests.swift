import Foundation
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantServer
@testable import TenantSignIn

/// The clock of a tenant that a test has moved at `/control`.
@Suite struct MovedClockTests {
    private static let megan = "megan@contoso.example"

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let seconds: Int
        /// Gets something, and returns the answer that shows whether it is still good.
        let get: @Sendable (TestTenant) async throws -> @Sendable () async throws -> Answer
        let number: Int
        /// The answer before and afterwards; nil for success.
        var usual: Int?
    }

    @Test(arguments: [
        Row(
            testDescription: "a device's code", seconds: 900,
            get: { tenant in
                let browser = tenant.browser()
                let codes = try await browser.deviceCode()
                return { try await browser.poll(codes) }
            }, number: 70020, usual: 70016),
        Row(
            testDescription: "a refresh token", seconds: 90 * 86_400,
            get: { tenant in
                let browser = tenant.browser()
                let token = try await browser.tokens(megan).member("refresh_token")
                return { try await browser.refresh(token) }
            }, number: 700_082),
        Row(
            testDescription: "a secret", seconds: 366 * 86_400,
            get: { tenant in
                let browser = tenant.browser()
                let fields = [
                    "grant_type": "client_credentials", "scope": "https://graph.microsoft.com/.default",
                    "redirect_uri": "", "code_verifier": "",
                ]
                return { try await browser.redeem(nil, fields, segment: Tenant.contoso) }
            }, number: 7_000_222),
    ])
    func `what ends in time has ended once the clock is there, and is good again when it is put back`(_ row: Row)
        async throws
    {
        let year = TestTenant.Clock().now.addingTimeInterval(365 * 86_400)
        try await TestTenant.run(configured: { $0.clients[0].secretExpires = year }) { (tenant) async throws in
            let (browser, ask) = (tenant.browser(), try await row.get(tenant))
            for back in [["clock_seconds": 0], ["reset": true]] as [JSONValue] {
                #expect(try await ask().number == row.usual)
                let moved = try await browser.control(["clock_seconds": .integer(row.seconds)]).json
                #expect(moved?["clock_seconds"] == .integer(row.seconds))
                let late = try await ask()
                #expect(late.number == row.number, "\(late.text)")
                #expect(try await browser.control(back).json?["clock_seconds"] == 0)
                #expect(try await ask().number == row.usual)
            }
        }
    }

    @Test func `it goes only forward`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            for (change, status, seconds) in [
                (["clock_seconds": 60], 200, 60), (["clock_seconds": 60], 200, 60), (["clock_seconds": 59], 400, 60),
                (["clock_seconds": -1], 400, 60), (["clock_seconds": 900], 200, 900),
                (["reset": true, "clock_seconds": 60], 200, 60),
            ] as [(JSONValue, Int, Int)] {
                #expect(try await browser.control(change).status == status, "\(change)")
                #expect(try await browser.get("/control").json?["clock_seconds"] == .integer(seconds), "\(change)")
            }
        }
    }

    @Test(arguments: [true, false])
    func `nobody gets tokens of the future after a revocation of the future`(_ isRestarted: Bool) async throws {
        let file = try TestTenant.temporaryPath()
        defer { TestTenant.remove(file) }
        let issue: @Sendable (TestTenant) async throws -> Answer = { try await $0.browser().tokens(Self.megan) }
        try await TestTenant.run(stateFile: file) { (tenant) async throws in
            let browser = tenant.browser()
            let old = try await issue(tenant).member("refresh_token")
            _ = try await browser.control(["clock_seconds": 3600, "revoke": .string(Self.megan)])
            if isRestarted { return }
            _ = try await browser.control(["reset": true])
            #expect(try await browser.refresh(old).number == 50173)
            try await Self.expectPresent(issue(tenant), tenant)
        }
        if !isRestarted { return }
        try await TestTenant.run(stateFile: file) { (tenant) async throws in
            try await Self.expectPresent(issue(tenant), tenant)
        }
    }

    private static func expectPresent(_ tokens: Answer, _ tenant: TestTenant) throws {
        let issued = try #require(tokens.claims("id_token")?["iat"]?.integer, "\(tokens.text)")
        #expect(Double(issued) <= tenant.clock.now.timeIntervalSince1970 + 1)
    }
}
