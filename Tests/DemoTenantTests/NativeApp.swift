import Foundation
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantServer
@testable import TenantSignIn

/// An app with native authentication, which sends each request with the newest continuation token, as MSAL does.
actor NativeApp {
    static let person = "customer@fabrikam.example"
    static let newcomer = "casey@customer.example"
    static let password = "Vinter-2027"

    let browser: Browser
    private let client: DemoClient
    private let authority: String
    private let challengeTypes: String
    private let capabilities: String?
    private(set) var token: String?

    init(
        _ tenant: TestTenant, _ client: DemoClient = .nativeSample, authority: String = "fabrikam.example",
        challengeTypes: String = "oob password redirect", capabilities: String? = "mfa_required registration_required"
    ) {
        browser = tenant.browser()
        self.client = client
        self.authority = authority
        self.challengeTypes = challengeTypes
        self.capabilities = capabilities
    }

    func use(_ token: String?) { self.token = token }

    /// Sends a request, and keeps the token of its answer.
    func send(
        _ endpoint: String, _ fields: [String: String] = [:], headers: [(String, String)] = []
    ) async throws -> Answer {
        var all = ["client_id": client.id]
        if let token { all["continuation_token"] = token }
        all.merge(fields) { $1 }
        let answer = try await browser.post(
            "/\(authority)/\(endpoint)", all.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }, headers: headers)
        if let next = answer.member("continuation_token") { token = next }
        return answer
    }

    /// Begins a flow.
    func begin(_ endpoint: String, _ username: String, _ fields: [String: String] = [:]) async throws -> Answer {
        token = nil
        return try await send(
            endpoint,
            ["username": username, "challenge_type": challengeTypes, "capabilities": capabilities ?? ""]
                .merging(fields) { $1 })
    }

    func challenge(_ endpoint: String, _ fields: [String: String] = [:]) async throws -> Answer {
        try await send(endpoint, ["challenge_type": challengeTypes].merging(fields) { $1 })
    }

    /// Asks for tokens.
    func tokens(_ grant: String, _ fields: [String: String] = [:]) async throws -> Answer {
        try await send(
            "oauth2/v2.0/token",
            ["grant_type": grant, "scope": "openid profile offline_access", "client_info": "true"]
                .merging(fields) { $1 })
    }

    /// Returns the newest code that was sent to an address.
    func code(to address: String) async throws -> String { try await browser.code(to: address) }

    /// Signs a person in by the password, up to the answer of the token endpoint.
    func signIn(_ username: String = person, password: String = "demo") async throws -> Answer {
        _ = try await begin("oauth2/v2.0/initiate", username)
        _ = try await challenge("oauth2/v2.0/challenge")
        return try await tokens("password", ["username": username, "password": password])
    }

    /// Begins a sign-up, up to the request for the code.
    func startSignUp(_ fields: [String: String] = [:], as username: String = newcomer) async throws -> Answer {
        _ = try await begin("signup/v1.0/start", username, fields)
        return try await challenge("signup/v1.0/challenge")
    }

    /// Begins a reset, up to the request for a new password.
    func reset(_ username: String = person) async throws -> Answer {
        _ = try await begin("resetpassword/v1.0/start", username)
        _ = try await challenge("resetpassword/v1.0/challenge")
        return try await send(
            "resetpassword/v1.0/continue", ["grant_type": "oob", "oob": try await code(to: username)])
    }
}

extension Answer {
    /// The error and the suberror of an answer, or its challenge type, or `ok`.
    var outcome: String {
        [member("error") ?? member("challenge_type") ?? "ok", member("suberror")].compactMap(\.self)
            .joined(separator: " ")
    }
}

extension Browser {
    /// Returns the newest code that was sent to an address.
    func code(to address: String, headers: [(String, String)] = []) async throws -> String {
        let outbox = try await get("/outbox", [("to", address)], headers: headers)
        guard let code = outbox.json?["messages"]?.array?.first?["code"]?.string else {
            throw TestFailure("no code for \(address): \(outbox.text)")
        }
        return code
    }
}
