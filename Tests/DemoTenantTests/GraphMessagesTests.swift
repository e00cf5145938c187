import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("Graph's mailbox")
struct GraphMessagesTests {
    private func run(
        _ username: String = "adele@contoso.example", segment: String = "common",
        _ body: @Sendable (Browser, String) async throws -> Void
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            try await body(browser, try await browser.graphToken(username, "Mail.Read", segment: segment))
        }
    }

    @Test func `a mailbox has a dozen messages, the newest first, in pages of ten`() async throws {
        try await run { (browser, token) async throws in
            let page = try await browser.me(token, path: "/v1.0/me/messages")
            let dates = page.values("receivedDateTime").compactMap(\.self)
            #expect(dates.count == 10 && dates == dates.sorted(by: >) && dates.first == "2026-09-30T08:00:00Z")
            let link = try #require(page.member("@odata.nextLink")?.split(separator: "/v1.0").last)
            #expect(link == "/me/messages?$skip=10")
            let rest = try await browser.me(token, path: "/v1.0\(link)")
            #expect(rest.json?["value"]?.array?.count == 2 && rest.member("@odata.nextLink") == nil)
            #expect(Set(page.values("id") + rest.values("id")).count == 12)
            let again = try await browser.me(token, path: "/v1.0/users/adele@contoso.example/messages")
            #expect(again.values("id") == page.values("id"))
        }
    }

    @Test func `a message is found by its id, and its address names its sender`() async throws {
        try await run { (browser, token) async throws in
            let list = try await browser.me(token, path: "/v1.0/me/messages?$top=1&$select=subject,from")
            let found = try #require(list.json?["value"]?.array?.first)
            #expect(found.object?.keys.sorted() == ["@odata.etag", "from", "id", "subject"])
            #expect(found["from"]?["emailAddress"]?["address"] == "ines.almeida@contoso.example")
            let ids = try await browser.me(token, path: "/v1.0/me/messages?$top=2&$select=id").values("id").compactMap(
                \.self)
            let message = try await browser.me(token, path: "/v1.0/me/messages/\(ids[0])")
            #expect(message.json?["subject"] == found["subject"] && message.json?["isRead"] == false)
            #expect(message.json?["toRecipients"]?.array?.first?["emailAddress"]?["address"] == "adele@contoso.example")
            let selected = try await browser.me(token, path: "/v1.0/me/messages('\(ids[1])')?$select=subject")
            #expect(selected.member("subject") == "Your password expires in 14 days" && selected.member("id") == ids[1])
            for (id, status, code) in [
                ("\(ids[0])x", 404, "ErrorItemNotFound"), ("garbage", 400, "ErrorInvalidIdMalformed"),
            ] {
                let unknown = try await browser.me(token, path: "/v1.0/me/messages/\(id)")
                #expect(unknown.status == status && unknown.graphError == code)
            }
        }
    }

    @Test(
        arguments: [
            ("$filter=isRead+eq+false", 3), ("$filter=importance+eq+'high'&$count=true", 2),
            ("$filter=from/emailAddress/address+eq+'facilities@contoso.example'", 2),
            ("$filter=receivedDateTime+ge+2026-09-29T00:00:00Z", 5), ("$filter=contains(subject,'Re:')", 2),
            ("$search=%22catalogue%22", 1), ("$search=ines", 2), ("$top=1000", 12), ("$top=1000&$skip=11", 1),
            ("$skip=12", 0), ("$skip=9223372036854775807", 0), ("$orderby=subject&$top=3", 3),
        ])
    func `a query finds messages`(_ query: String, _ count: Int) async throws {
        try await run { (browser, token) async throws in
            let answer = try await browser.me(token, path: "/v1.0/me/messages?\(query)")
            #expect(answer.json?["value"]?.array?.count == count)
            if query.contains("$count") { #expect(answer.json?["@odata.count"] == .integer(count)) }
            if query.contains("orderby") {
                #expect(answer.values("subject").first == "Agenda for Thursday")
            }
        }
    }

    @Test(arguments: ["$top=1001", "$select=nothing", "$filter=nothing+eq+1", "$orderby=nothing", "$top=0"])
    func `a wrong query is refused`(_ query: String) async throws {
        try await run { (browser, token) async throws in
            let answer = try await browser.me(token, path: "/v1.0/me/messages?\(query)")
            #expect(answer.status == 400 && answer.graphError?.isEmpty == false)
        }
    }

    @Test func `a personal account has a mailbox, a guest has none`() async throws {
        try await run("alex@outlook.example") { (browser, token) async throws in
            let page = try await browser.me(token, path: "/v1.0/me/messages")
            #expect(page.json?["value"]?.array?.count == 10)
        }
        try await run(segment: "tailspin.example") { (browser, token) async throws in
            let none = try await browser.me(token, path: "/v1.0/me/messages")
            #expect(none.status == 404 && none.graphError == "MailboxNotEnabledForRESTAPI")
        }
    }
}
