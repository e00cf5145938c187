import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantServer
@testable import TenantSignIn

@Suite("What MSAL does after a failure, at /clients")
struct ClientMemoryTests {
    private static let html = [("Accept", "text/html")]

    /// A request of MSAL: the seconds since the first, the step, the status, Retry-After.
    private struct Sent: Sendable {
        var at = 0.0
        var step = ClientStep.refresh
        var status: Int? = 200
        var retryAfter: Int?
        var library = "MSAL.iOS"
        var correlationID = "5e1d9f0a-6f0b-4c83-9a0e-1a2b3c4d5e6f"
    }

    private static func journal(_ requests: [Sent]) throws -> ClientJournal {
        let journal = ClientJournal()
        for sent in requests {
            var fields: HTTPFields = [:]
            fields[try #require(HTTPField.Name("x-client-SKU"))] = sent.library
            fields[try #require(HTTPField.Name("client-request-id"))] = sent.correlationID
            let head = try RequestHead(target: "/common/oauth2/v2.0/token", headerFields: fields)
            let request = Request(head: head, peer: PeerAddress(ipv4: (127, 0, 0, 1), port: 1))
            journal.add(
                ClientRequest(
                    request, nil, step: sent.step, note: .init(), status: sent.status, retryAfter: sent.retryAfter,
                    time: Date(timeIntervalSince1970: sent.at), milliseconds: 0, isRegistered: { _ in true }))
        }
        return journal
    }

    @Test(
        arguments: [
            ("after 503", [Sent(status: 503), Sent(at: 0.5)], true),
            ("after no answer", [Sent(status: nil), Sent(at: 0.5)], true),
            ("of another step", [Sent(status: 503), Sent(at: 0.5, step: .metadata)], false),
            ("after an OAuth error", [Sent(status: 400), Sent(at: 0.5)], false),
            ("after 429", [Sent(status: 429), Sent(at: 0.5)], false),
            ("much later", [Sent(status: 503), Sent(at: 30)], false),
            ("of another call", [Sent(status: 503), Sent(at: 0.5, correlationID: "\(UUID())")], false),
            (
                "of another library",
                [Sent(status: 503, library: "MSAL.Python"), Sent(at: 0.5, library: "MSAL.Python")], false
            ),
            ("after a second try", [Sent(status: 503), Sent(at: 0.5, status: 503), Sent(at: 1)], false),
        ] as [(String, [Sent], Bool)])
    private func `only the same request soon after 5xx or no answer is a second try`(
        _ which: String, _ requests: [Sent], _ isRetry: Bool
    ) throws {
        #expect(try Self.journal(requests).now.requests.last?.isRetry == isRetry)
    }

    @Test(
        arguments: [
            ("an OAuth error", [Sent(status: 400)], 120, true), ("a wrong client", [Sent(status: 401)], 120, true),
            ("429", [Sent(status: 429)], 60, false), ("429 with a pause", [Sent(status: 429, retryAfter: 7)], 7, false),
            ("429 with a very long pause", [Sent(status: 429, retryAfter: 7201)], 3600, false),
            ("403 with a pause", [Sent(status: 403, retryAfter: 9)], 9, false),
            ("the first 503", [Sent(status: 503)], nil, false),
            ("503 twice", [Sent(status: 503), Sent(at: 0.5, status: 503)], 60.5, false),
            ("503 twice with a pause", [Sent(status: 503), Sent(at: 0.5, status: 503, retryAfter: 5)], 5.5, false),
            ("no answer twice", [Sent(status: nil), Sent(at: 0.5, status: nil)], nil, false),
            ("403", [Sent(status: 403)], nil, false), ("success", [Sent()], nil, false),
            ("an OAuth error for a code", [Sent(step: .code, status: 400)], nil, false),
            ("an OAuth error of another library", [Sent(status: 400, library: "MSAL.Python")], nil, false),
        ] as [(String, [Sent], Double?, Bool)])
    private func `the app answers from memory after what MSAL throttles`(
        _ what: String, _ requests: [Sent], _ end: Double?, _ endsBySignIn: Bool
    ) throws {
        let memory = try Self.journal(requests).now.requests.last?.memory
        #expect(memory?.end.timeIntervalSince1970 == end)
        #expect(memory?.endsBySignIn ?? false == endsBySignIn)
    }

    @Test func `a sign-in ends what an OAuth error began, and the time ends the rest`() throws {
        func end(_ requests: [Sent], at time: Double) throws -> Double? {
            try Self.journal(requests).now.memoryEnd(after: Date(timeIntervalSince1970: time))?.timeIntervalSince1970
        }
        let signedIn = Sent(at: 10, step: .code)
        #expect(try end([Sent(status: 400)], at: 119) == 120)
        #expect(try end([Sent(status: 400)], at: 120) == nil)
        #expect(try end([Sent(status: 400), signedIn], at: 20) == nil)
        #expect(try end([Sent(status: 400), Sent(at: 10, step: .code, status: 400)], at: 20) == 120)
        #expect(try end([Sent(status: 429), signedIn], at: 20) == 60)
        #expect(try end([], at: 0) == nil)
    }

    @Test func `the page, JSON and the reset say how long`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let library = [("x-client-SKU", "MSAL.iOS"), ("client-request-id", UUID().uuidString)]
            let code = try await browser.signIn("adele@contoso.example", client: TestTenant.native).answer["code"]
            let tokens = try await browser.redeem(code, client: TestTenant.native)
            func refresh() async throws -> Answer {
                try await browser.redeem(
                    nil, ["grant_type": "refresh_token", "refresh_token": tokens.member("refresh_token") ?? ""],
                    client: TestTenant.native, headers: library)
            }
            _ = try await browser.control(["token_error": ["status": 503, "times": 2]])
            for _ in 0..<2 { #expect(try await refresh().status == 503) }
            let page = try await browser.get("/control?ui_locales=en", headers: Self.html).text
            #expect(page.ranges(of: "MSAL’s second try").count == 1)
            #expect(page.ranges(of: "The app will answer this from memory until <time").count == 1)
            let requests = try await browser.get("/clients").json?["clients"]?.array?.first?["requests"]?.array ?? []
            #expect(requests.prefix(2).map { $0["is_retry"] } == [true, false])
            #expect(requests.prefix(2).map { $0["from_memory_until"] == .null } == [false, true])
            _ = try await browser.post("/control", [("reset", "true")], headers: Self.html)
            let reset = try await browser.get("/control?done=reset&ui_locales=en", headers: Self.html).text
            #expect(reset.contains("An app with MSAL still answers a failed request from memory until <time"))
            let other = try await browser.get("/control?done=rotate_key&ui_locales=en", headers: Self.html).text
            #expect(!other.contains("still answers"))
        }
    }
}
