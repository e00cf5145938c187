import Cryptography
import Foundation
import OpenIDConnect
import SessionStore
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// In the demo, on a person's own device, the steps of a sign-in that is over have the values that it used up.
@Suite struct SpentValuesTests {
    private static let names: Set<String> = ["state", "nonce", "code_challenge", "code", "code_verifier"]

    private static func demo(_ configuration: inout CompanionConfiguration) {
        configuration.demoControlURL = configuration.applications[0].api.map { $0.origin + "/control" }
    }

    private static func usual(_ configuration: inout CompanionConfiguration) {}

    private static func shared(_ configuration: inout CompanionConfiguration) {
        demo(&configuration)
        configuration.deviceMode = .shared
    }

    private static func hidden(_ configuration: inout CompanionConfiguration) {
        demo(&configuration)
        configuration.tokenDisplay = .hidden
    }

    private static func kiosk(_ configuration: inout CompanionConfiguration) {
        demo(&configuration)
        configuration.applications[0].page = .kiosk
    }

    private func events(_ visitor: Visitor, _ app: String = "ios") async throws -> [[String: Any]] {
        try await visitor.api(.get, "/api/\(app)/events").json["events"] as? [[String: Any]] ?? []
    }

    /// The names of the values that each step of the newest sign-in has, as `step: name name`.
    private func shown(_ visitor: Visitor, _ app: String = "ios") async throws -> [String] {
        let events = try await events(visitor, app)
        let newest = events.compactMap { $0["attempt"] as? Int }.max()
        return events.filter { $0["attempt"] as? Int == newest }.map { event in
            let values = Self.names.filter { event[$0] != nil }.sorted()
            return "\(event["step"] as? String ?? ""): \(values.joined(separator: " "))"
        }
    }

    private static let all = [
        "authorize: code_challenge nonce state", "callback: code state", "token: code code_verifier",
    ]
    private static let none = ["authorize: ", "callback: ", "token: "]

    @Test(
        arguments: [
            ("in the demo on one's own device", demo, all), ("outside the demo", usual, none),
            ("on a shared device", shared, none), ("where tokens are hidden", hidden, none),
            ("at a kiosk", kiosk, none),
        ] as [(String, @Sendable (inout CompanionConfiguration) -> Void, [String])])
    func `the values are shown where nobody else is concerned`(
        row: String, configure: @Sendable (inout CompanionConfiguration) -> Void, expected: [String]
    ) async throws {
        try await Site.run(configured: configure) { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            #expect(try await shown(visitor) == expected, "\(row)")
        }
    }

    @Test func `they are those of the flow, and the verifier is that of the challenge`() async throws {
        try await Site.run(configured: Self.demo) { site in
            let visitor = Visitor(site)
            let callback = try #require(try await visitor.walkToCallback().location)
            _ = try await visitor.get(callback)
            let events = try await events(visitor)
            func value(_ name: String, of step: String) throws -> String {
                try #require(events.first { $0["step"] as? String == step }?[name] as? String)
            }
            let sent = URLComponents(string: callback)?.queryItems ?? []
            for name in ["code", "state"] {
                #expect(try value(name, of: "callback") == sent.first { $0.name == name }?.value)
            }
            #expect(try value("state", of: "authorize") == value("state", of: "callback"))
            #expect(try value("code", of: "token") == value("code", of: "callback"))
            let secrets = Secrets(site.traffic)
            #expect(try value("nonce", of: "authorize") == secrets.latest(.nonce))
            let verifier = try value("code_verifier", of: "token")
            #expect(verifier == secrets.latest(.codeVerifier) && verifier.utf8.count == 43)
            let challenge = Base64URL.encode(SHA256.hash(data: Data(verifier.utf8)))
            #expect(try value("code_challenge", of: "authorize") == challenge)
        }
    }

    @Test func `before the code is redeemed there are none, and those of the sign-in before stay`() async throws {
        try await Site.run(configured: Self.demo) { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let callback = try #require(try await visitor.walkToCallback(query: "prompt=login").location)
            #expect(try await shown(visitor) == ["authorize: "])
            try await site.hold()
            let tab = visitor.copy()
            async let answer = tab.get(callback)
            try await site.untilHeld()
            #expect(try await shown(visitor) == ["authorize: ", "callback: "])
            #expect(try await events(visitor).count { $0["code"] != nil } == 2, "of the first sign-in")
            try await site.letGo()
            #expect(try await answer.location == "/ios")
            #expect(try await shown(tab) == Self.all)
        }
    }

    @Test(
        arguments: [
            ("the code was not redeemed", #"{"token_platform_error": 7000222}"#, none),
            ("nobody knows whether it was", #"{"close_connection": "token"}"#, none),
            ("it was, and the ID token is refused", #"{"bad_id_token": "nonce"}"#, all),
        ])
    func `of a sign-in that failed they are shown if the code is spent`(
        row: String, control: String, expected: [String]
    ) async throws {
        try await Site.run(configured: Self.demo) { site in
            let visitor = Visitor(site)
            try await site.control(control)
            #expect(try await visitor.signIn().location?.contains("sign_in_error") == true)
            #expect(try await shown(visitor) == expected, "\(row)")
        }
    }

    @Test func `one that came back without a code is over, and its verifier, which nothing has sent, stays hidden`()
        async throws
    {
        try await Site.run(configured: Self.demo) { site in
            let visitor = Visitor(site)
            try await site.control(#"{"require_consent": "adele@contoso.example"}"#)
            #expect(try await visitor.signIn(consent: "cancel").location?.contains("sign_in_error") == true)
            #expect(try await shown(visitor) == ["authorize: code_challenge nonce state", "callback: state"])
        }
    }

    @Test func `neither another session nor another application nor another address has them, and sign-out ends them`()
        async throws
    {
        try await Site.run(configured: Self.demo) { site in
            let (visitor, other) = (Visitor(site), Visitor(site))
            try await visitor.signIn()
            try await other.signIn(app: "macos")
            let secrets = Secrets(site.traffic)
            let verifier = secrets.latest(.codeVerifier)
            func hasVerifier(_ visitor: Visitor, _ path: String) async throws -> Bool {
                try await visitor.api(.get, path).text.contains(verifier)
            }
            #expect(try await hasVerifier(other, "/api/macos/events"))
            for path in ["/api/ios/events", "/api/attempts", "/api/macos/tokens", "/api/macos/sign-in-failure"] {
                #expect(try await !hasVerifier(other, path), "\(path)")
            }
            #expect(try await !hasVerifier(visitor, "/api/macos/events"))
            #expect(try await !hasVerifier(visitor, "/api/ios/events"))
            #expect(try await other.api(.post, "/auth/macos/sign-out").status == 200)
            try await other.signIn(app: "ios", query: "prompt=login")
            #expect(try await !hasVerifier(other, "/api/macos/events"))
        }
    }

    @Test func `a session has those of its last five sign-ins with an application`() async throws {
        try await Site.run(configured: Self.demo) { site in
            let visitor = Visitor(site)
            for _ in 0..<6 { try await visitor.signIn() }
            let events = try await events(visitor)
            let authorized = events.filter { $0["step"] as? String == "authorize" }
            #expect(authorized.map { $0["nonce"] != nil } == [false, true, true, true, true, true])
        }
    }

    @Test func `they take no more memory than sessions may, and the ones used last stay`() throws {
        let memory = SessionMemory(clocks: TestClock().clocks)
        let secrets = AuthorizationAttempt(state: "state", nonce: "nonce", codeVerifier: "verifier")
        let code = String(repeating: "c", count: 2_000)
        let keys = try (1...2_000).map { try #require(SessionKey(String($0))) }
        for key in keys {
            for attempt in 1...6 {
                let values = SpentValues(attempt: attempt, secrets: secrets, code: code)
                memory.change(key, isSignedIn: true) { $0.add(values, of: "ios") }
            }
        }
        #expect(memory.bytes.signedIn <= 10 << 20 && memory.bytes.signedIn > 9 << 20)
        #expect(memory.notes(of: keys[0]) == nil && memory.notes(of: keys[1_999]) != nil)
        #expect("\(SpentValues(attempt: 1, secrets: secrets, code: code))" == "SpentValues(redacted)")
    }
}
