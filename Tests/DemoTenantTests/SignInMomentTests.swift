import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory

@Suite("The moment at which a failure on demand ends a sign-in")
struct SignInMomentTests {
    private static let user = "adele@contoso.example"

    /// The numbers that come only when the account is named, and only when it has signed in; all others come at once.
    private static let later: [Int: String] = [
        50034: "account", 50020: "authentication", 50055: "authentication", 50057: "authentication",
        50076: "authentication", 50079: "authentication", 50105: "authentication", 53000: "authentication",
        53001: "authentication", 53003: "authentication", 53005: "authentication", 65001: "authentication",
        65004: "authentication", 90094: "authentication", 500_011: "authentication",
    ]

    /// Signs in until the failure comes, and returns the page before it.
    private func moment(_ browser: Browser, _ number: Int, _ rule: JSONValue) async throws -> String {
        _ = try await browser.control(["reset": true])
        _ = try await browser.control(rule)
        var page = try await browser.authorize()
        guard page.shownField == "username" else { return try ended(page, number) ? "request" : "another" }
        page = try await browser.submit(page, "username", Self.user)
        guard page.shownField == "password" else { return try ended(page, number) ? "account" : "another" }
        page = try await browser.submit(page, "password", "demo")
        return try ended(page, number) ? "authentication" : "none"
    }

    /// Whether a sign-in has ended with this error, at the application or on a page.
    private func ended(_ answer: Answer, _ number: Int) throws -> Bool {
        let text = try answer["Location"] == nil ? answer.text : answer.callback()["error_description"] ?? ""
        return text.contains("\(number): ")
    }

    @Test func `each number comes when the platform finds it out, for everyone and for one person`() async throws {
        try await TestTenant.run { (tenant) async throws in
            for number in PlatformError.numbers {
                let failure: [String: JSONValue] = ["authorize_platform_error": .integer(number)]
                let expected = Self.later[number] ?? "request"
                let found = try await moment(tenant.browser(), number, .object(failure))
                #expect(found == expected, "\(number)")
                // The request need not name the person.
                let rule = failure.merging(["when": ["user": .string(Self.user)], "times": 1]) { $1 }
                let ofPerson = try await moment(tenant.browser(), number, ["rules": [.object(rule)]])
                #expect(ofPerson == (expected == "request" ? "account" : expected), "\(number) for one person")
            }
        }
    }

    @Test(arguments: [50034, 50105, 53003, 65001])
    func `who is signed in already meets it without a page, and who asks silently as an interaction`(
        _ number: Int
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.signIn(Self.user)
            for (changes, error) in [
                ([:], PlatformError.numbered(number)?.error), (["prompt": "none"], "interaction_required"),
            ] as [([String: String], String?)] {
                _ = try await browser.control(["authorize_platform_error": .integer(number)])
                // Nobody whose account it could be about: it waits.
                let stranger = try await tenant.browser().authorize(["prompt": "none"]).callback()
                #expect(stranger["error"] == "login_required")
                let answer = try await browser.authorize(changes).callback()
                #expect(answer["error"] == error && answer["error_description"]?.contains("\(number): ") == true)
                #expect(try await browser.authorize(changes).callback()["code"] != nil, "it comes once")
            }
        }
    }
}
