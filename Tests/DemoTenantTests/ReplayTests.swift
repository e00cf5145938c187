import Foundation
import TestSupport
import Testing

@testable import TenantControl
@testable import TenantDirectory

/// The failures of one sign-in, by which a case is repeated.
@Suite struct ReplayTests {
    @Test func `the page of cases offers all numbers of the tenant, and no others`() throws {
        let script = try String(contentsOfFile: TestTenant.publicFolder + "/scripts/base/case.js", encoding: .utf8)
        let known = PlatformError.numbers.map { "\(PlatformError.numbered($0)?.prefix ?? "")\($0)" }
        #expect(Set(script.matches(of: /"((?:AADSTS|AADB2C)\d+)"/).map { String($0.output.1) }) == Set(known))
    }

    @Test func `a number comes back, stays on a page, or keeps a code from being redeemed`() async throws {
        try await TestTenant.run { (tenant) async throws in
            for number in PlatformError.numbers {
                let error = try #require(PlatformError.numbered(number))
                let said = "\(error.prefix)\(number): "
                let page = try await tenant.browser().authorize(["companion_replay": "page-\(number)"])
                #expect(page["Location"] == nil && page.text.contains(said), "\(page.text)")
                let answer = try await tenant.browser().authorize(["companion_replay": "authorize-\(number)"])
                let text = answer["Location"] ?? answer.text
                #expect(text.contains("\(error.prefix)\(number)"))
                #expect(error.isShownByTenant == (answer["Location"] == nil))
                let browser = tenant.browser()
                let asked = ["companion_replay": "token-\(number)"]
                let (failing, _) = try await browser.signIn("adele@contoso.example", asked)
                let refused = try await browser.redeem(failing["code"])
                #expect(refused.text.contains(said), "\(refused.text)")
                let (next, _) = try await browser.signIn("adele@contoso.example")
                #expect(try await browser.redeem(next["code"]).status == 200, "only the one sign-in fails")
            }
        }
    }

    @Test func `the page of an unregistered redirect URI names what was sent`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let page = try await tenant.browser().authorize(["companion_replay": "page-50011"])
            let uri = TestTenant.web.redirectURIs[0]
            #expect(page.text.contains("'\(uri)'") || page.text.contains("&#39;\(uri)&#39;"), "\(page.text)")
            #expect(page.text.contains(TestTenant.web.id))
        }
    }

    @Test func `the request of a sign-in that ends on a later page is noted with its error`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let id = "00000000-0000-4000-8000-000000000001"
            let asked = ["login_hint": "blocked@contoso.example", "client-request-id": id]
            let page = try await browser.submit(try await browser.authorize(asked), "password", "demo")
            #expect(page.text.contains(id) && page.text.contains("AADSTS53003"))
            let requests = try await browser.get("/clients").json?["clients"]?.array?.first?["requests"]?.array ?? []
            let began = try #require(requests.first { $0["step"] == "authorize" })
            #expect(began["correlation_id"] == .string(id) && began["error"] == "AADSTS53003")
        }
    }

    @Test(arguments: ["", "cancelled", "page-1", "page-", "page-50011-1", "sign_out-50011", "token-x"])
    func `other texts are none`(text: String) { #expect(Replay(text) == nil) }
}
