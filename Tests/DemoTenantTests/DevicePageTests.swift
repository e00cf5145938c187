import Foundation
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("The pages of a device's sign-in")
struct DevicePageTests {
    @Test func `a code is taken whatever its case, spaces and hyphens, and every page has an address without it`()
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let codes = try await browser.deviceCode()
            let code = try #require(codes.member("user_code"))
            let typed = " \(code.prefix(3).lowercased())-\(code.dropFirst(3).prefix(3)) \(code.dropFirst(6)) "
            let (action, fields) = try await browser.get("/devicelogin").form()
            let answer = try await browser.sendOnce(
                "POST", action, [("Content-Type", "application/x-www-form-urlencoded")],
                Array(FormEncoding.encode(fields + [("user_code", typed)]).utf8))
            #expect(answer.status == 303)
            let address = try #require(answer["Location"])
            #expect(address.hasPrefix("/devicelogin?flow=") && !address.contains(code))
            var page = try await browser.get(address)
            #expect(page.shownField == "confirm")
            #expect(page.text.contains("Are you trying to sign in to Native &lt;tutorial&gt;?"))
            page = try await browser.submit(page, "confirm", "continue")
            // The person chooses the account, also when they are signed in.
            #expect(page.shownField == "username")
            page = try await browser.submit(page, "username", "adele@contoso.example")
            page = try await browser.submit(page, "password", "demo")
            let consent = page
            page = try await browser.submit(page, "consent", "accept")
            #expect(page.shownField == nil && page.text.contains("on your device. You can close this page."))
            // Going back leads to the end, or to the entry of another code.
            #expect(try await browser.get(address).text.contains("AADSTS90120"))
            #expect(try await browser.submit(consent, "consent", "accept").text.contains("You can close this page."))
            let second = try await browser.deviceCode()
            page = try await browser.submit(browser.enter(second.member("user_code")), "confirm", "continue")
            #expect(page.shownField == "username")
            page = try await browser.submit(page, "username", "adele@contoso.example")
            #expect(page.text.contains("You can close this page."), "single sign-on")
            #expect(try await browser.poll(second).status == 200)
        }
    }

    @Test func `a code that is not taken is asked for again, with the reason`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            func refusal(of code: String?) async throws -> String? {
                let page = try await browser.enter(code)
                #expect(page.status == 200 && page.shownField == "user_code")
                #expect(page.text.contains("aria-invalid=\"true\" aria-describedby=\"notice\""))
                return page.text.firstMatch(of: /AADSTS[0-9]+/).map { String($0.output) }
            }
            #expect(try await refusal(of: "") == "AADSTS90119")
            #expect(try await refusal(of: "WRONGCODE") == "AADSTS70018")
            let used = try await browser.deviceCode()
            _ = try await browser.approve(used)
            #expect(try await refusal(of: used.member("user_code")) == "AADSTS90120")
            let late = try await browser.deviceCode()
            tenant.clock.advance(900)
            #expect(try await refusal(of: late.member("user_code")) == "AADSTS70019")
            tenant.clock.advance(60)
            for _ in 0..<DeviceSignIns.mostTries {
                #expect(try await refusal(of: "WRONGCODE") == "AADSTS70018")
            }
            let good = try await browser.deviceCode()
            #expect(try await refusal(of: good.member("user_code")) == "AADSTS90055", "a right one neither")
            tenant.clock.advance(60)
            #expect(try await browser.enter(good.member("user_code")).shownField == "confirm")
        }
    }

    @Test func `a stranger's wrong codes do not keep out others of the network`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let (stranger, own) = (tenant.browser(), tenant.browser())
            for _ in 0...DeviceSignIns.mostTries { _ = try await stranger.enter("WRONGCODE") }
            #expect(try await stranger.enter("WRONGCODE").text.contains("AADSTS90055"))
            let code = try await own.deviceCode().member("user_code")
            #expect(try await own.enter(code).shownField == "confirm")
        }
    }

    @Test func `a network has a limit of its own, which browsers with a person do not share`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let own = tenant.browser()
            _ = try await own.signIn("adele@contoso.example")
            let code = try await own.deviceCode().member("user_code")
            let port = try #require(tenant.tenant.baseURL.split(separator: ":").last)
            // A guesser takes a new cookie for each code, or none.
            for number in 0..<DeviceSignIns.mostTriesOfNetwork {
                let stranger = tenant.browser()
                if number.isMultiple(of: 2) {
                    await stranger.use(["demo-tenant-\(port)-browser-\(number)": "\(number)"])
                }
                let answer = try await stranger.post("/devicelogin", [("user_code", "WRONGCODE")])
                #expect(answer.text.contains("AADSTS70018"))
            }
            #expect(try await tenant.browser().enter(code).text.contains("AADSTS90055"))
            #expect(try await own.enter(code).shownField == "confirm")
            for _ in 0..<DeviceSignIns.mostTries { _ = try await own.enter("WRONGCODE") }
            #expect(try await own.enter(code).text.contains("AADSTS90055"), "it has a limit, too")
            tenant.clock.advance(60)
            #expect(try await tenant.browser().enter(code).shownField == "confirm")
        }
    }

    @Test(
        arguments: [
            (["confirm": "cancel"], 65004), (["consent": "cancel"], 65004), (["second_factor": "cancel"], 500_121),
        ])
    func `a person can decline on each page, which ends the device's wait`(
        _ answers: [String: String], _ number: Int
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.control(["require_mfa": "adele@contoso.example"])
            let codes = try await browser.deviceCode()
            var page = try await browser.enter(codes.member("user_code"))
            let confirm = page
            let usual = [
                "confirm": "continue", "username": "adele@contoso.example", "password": "demo",
                "second_factor": "approve", "consent": "accept",
            ]
            while let field = page.shownField {
                page = try await browser.submit(page, field, answers[field] ?? usual[field] ?? "")
            }
            #expect(page.text.contains("You are not signed in to <strong>Native &lt;tutorial&gt;</strong>."))
            let declined = try await browser.poll(codes)
            #expect(declined.status == 400 && declined.number == number)
            #expect(declined.member("error") == "authorization_declined")
            // A page that is still open changes nothing.
            #expect(try await browser.submit(confirm, "confirm", "continue").text.contains("AADSTS90120"))
            #expect(try await browser.poll(codes).number == number)
        }
    }

    @Test func `two people cannot decide about one code, and the first decision counts`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let (first, second) = (tenant.browser(), tenant.browser())
            let codes = try await first.deviceCode()
            let confirm = try await second.enter(codes.member("user_code"))
            var late = try await second.submit(confirm, "confirm", "continue")
            _ = try await first.approve(codes)
            for (name, value) in [
                ("username", "megan@contoso.example"), ("password", "demo"), ("consent", "accept"),
            ] { late = try await second.submit(late, name, value) }
            #expect(late.text.contains("AADSTS90120"))
            #expect(try await second.submit(confirm, "confirm", "cancel").text.contains("AADSTS90120"))
            let tokens = try await first.poll(codes)
            #expect(tokens.claims("id_token")?["preferred_username"] == "adele@contoso.example")
        }
    }

    @Test func `an address of another browser leads to nothing, and approves nothing`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let (attacker, victim) = (tenant.browser(), tenant.browser())
            _ = try await victim.signIn("adele@contoso.example", client: TestTenant.native)
            let codes = try await attacker.deviceCode()
            let question = try await attacker.enter(codes.member("user_code"))
            #expect(try await victim.submit(question, "confirm", "continue").shownField == "user_code")
            var page = try await attacker.submit(question, "confirm", "continue")
            #expect(page.shownField == "username")
            page = try await victim.submit(page, "username", "adele@contoso.example")
            #expect(page.text.contains("<h1>Start again</h1>"), "the victim is signed in and has consented")
            #expect(try await attacker.poll(codes).number == 70016)
        }
    }

    @Test(arguments: ["user_code", "confirm"])
    func `a form of another site enters no code and confirms nothing`(_ name: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let codes = try await browser.deviceCode()
            let page =
                name == "confirm"
                ? try await browser.enter(codes.member("user_code")) : try await browser.get("/devicelogin")
            let value = name == "confirm" ? "continue" : codes.member("user_code") ?? ""
            for headers in [[("Sec-Fetch-Site", "cross-site")], [("Origin", "http://evil.example")]] {
                let answer = try await browser.submit(page, name, value, headers: headers)
                #expect(answer.status == 400 && answer.shownField == nil)
            }
            #expect(try await browser.poll(codes).number == 70016)
        }
    }
}
