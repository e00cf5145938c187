import XCTest

/// A fresh person signs up in the app of the project *External ID*, *SwiftUI, native authentication*, and meets the errors of each
/// screen. Copy it into a UI test target. `xcodebuild test` gives the runner `TENANT_URL` and `CONTROL_TOKEN` from its own environment
/// as `TEST_RUNNER_TENANT_URL` and `TEST_RUNNER_CONTROL_TOKEN`; the simulator has to trust the tenant's certificate.
@MainActor
final class NativeAuthenticationTests: XCTestCase {
    /// An error on demand: the endpoint that answers with it, and the app's sentence.
    private typealias Row = (endpoint: String, error: String, suberror: String?, number: Int?, sentence: String)

    private let password = "Vinter-2027"

    func testAFreshPersonSignsUp() async throws {
        let (app, tenant, address) = (launched(), try Tenant(), newcomer())
        try await signUp(address, in: app, at: tenant)
        expect(address, in: app)
    }

    func testEachErrorOfTheFirstScreenIsSaid() async throws {
        let (app, tenant, address) = (launched(), try Tenant(), newcomer())
        enter(address, in: app.textFields["Email"])
        let (taken, nobody) = (
            "There is an account with this address: sign in.", "There is no account with this address."
        )
        let rows: KeyValuePairs<String, [Row]> = [
            "Sign up": [
                ("signup/v1.0/start", "user_already_exists", nil, 1_003_037, taken),
                ("signup/v1.0/start", "invalid_request", nil, 90100, "This is not an address."),
                ("signup/v1.0/start", "invalid_grant", "password_banned", nil, "Choose another password."),
                ("signup/v1.0/start", "invalid_grant", "attribute_validation_failed", nil, "Wrong: displayName"),
            ],
            "Sign in": [("oauth2/v2.0/initiate", "user_not_found", nil, 50034, nobody)],
            "Reset password": [
                (
                    "resetpassword/v1.0/start", "invalid_request", nil, 500_222,
                    "This account has no password: sign in with a code."
                ),
                ("resetpassword/v1.0/start", "user_not_found", nil, 50034, nobody),
            ],
        ]
        for (button, rows) in rows {
            for row in rows { try await meet(row, of: address, by: button, in: app, at: tenant) }
        }
    }

    func testAPersonIsLeftOnTheScreenThatRefuses() async throws {
        let (app, tenant, address) = (launched(), try Tenant(), newcomer())
        startSignUp(address, in: app)
        enter(try await tenant.code(for: address), in: app.textFields["Code"])
        // A refused code has to be typed once more, and a refused password is still there.
        let wrong: Row = ("signup/v1.0/continue", "invalid_grant", "invalid_oob_value", nil, "The code is wrong.")
        try await meet(wrong, of: address, in: app, at: tenant)
        enter(try await tenant.code(for: address), in: app.textFields["Code"])
        app.buttons["Continue"].tap()
        enter(password, in: app.secureTextFields["Password"])
        let weak: Row = ("signup/v1.0/continue", "invalid_grant", "password_too_weak", nil, "Choose another password.")
        try await meet(weak, of: address, in: app, at: tenant)
        app.buttons["Continue"].tap()
        expect(address, in: app)
    }

    func testAWrongPasswordIsSaid() async throws {
        let (app, tenant, address) = (launched(), try Tenant(), newcomer())
        try await signUp(address, in: app, at: tenant)
        app.buttons["Sign out"].tap()
        app.buttons["Sign in"].tap()
        enter("wrong", in: app.secureTextFields["Password"])
        app.buttons["Continue"].tap()
        expect("The password is wrong.", in: app)
    }

    func testAPasswordIsReset() async throws {
        let (app, tenant, address) = (launched(), try Tenant(), newcomer())
        try await signUp(address, in: app, at: tenant)
        app.buttons["Sign out"].tap()
        app.buttons["Reset password"].tap()
        let code = try await tenant.code(for: address)
        enter(code, in: app.textFields["Code"])
        let wrong: Row = (
            "resetpassword/v1.0/continue", "invalid_grant", "invalid_oob_value", nil, "The code is wrong."
        )
        try await meet(wrong, of: address, in: app, at: tenant)
        enter(code, in: app.textFields["Code"])
        app.buttons["Continue"].tap()
        enter("Sommar-2027", in: app.secureTextFields["Password"])
        let used: Row = (
            "resetpassword/v1.0/submit", "invalid_grant", "password_recently_used", nil, "Choose another password."
        )
        try await meet(used, of: address, in: app, at: tenant)
        app.buttons["Continue"].tap()
        expect(address, in: app)
    }

    func testASecondFactorIsDemanded() async throws {
        let (app, tenant) = (launched(), try Tenant())
        let address = try await tenant.person(secondFactor: "email", password: password)
        signIn(address, in: app)
        // It has the address as it is shown to others.
        let method = app.buttons.matching(NSPredicate(format: "label CONTAINS '@'")).firstMatch
        XCTAssertTrue(method.waitForExistence(timeout: 30))
        method.tap()
        enter(try await tenant.code(for: address), in: app.textFields["Code"])
        let wrong: Row = ("oauth2/v2.0/token", "invalid_grant", "invalid_oob_value", nil, "The code is wrong.")
        try await meet(wrong, of: address, in: app, at: tenant)
        let blocked: Row = (
            "oauth2/v2.0/challenge", "access_denied", "provider_blocked_by_rep", nil, "This second factor is blocked."
        )
        try await meet(blocked, of: address, by: "Send another code", in: app, at: tenant)
        enter(try await tenant.code(for: address), in: app.textFields["Code"])
        app.buttons["Continue"].tap()
        expect(address, in: app)
    }

    func testAFirstSecondFactorIsRegistered() async throws {
        let (app, tenant) = (launched(), try Tenant())
        let address = try await tenant.person(secondFactor: "unregistered", password: password)
        signIn(address, in: app)
        // The address of the account needs no code, so another one is made of it.
        enter("x", in: app.textFields["Address or number for codes"])
        let rows: [Row] = [
            (
                "register/v1.0/challenge", "invalid_request", nil, 901_001,
                "This is no address or number to which a code can be sent."
            ),
            (
                "register/v1.0/challenge", "access_denied", "provider_blocked_by_rep", nil,
                "This address or number is blocked."
            ),
        ]
        for row in rows { try await meet(row, of: address, by: address, in: app, at: tenant) }
        app.buttons[address].tap()
        let code = try await tenant.code(for: "\(address)x")
        enter(code, in: app.textFields["Code"])
        let wrong: Row = ("register/v1.0/continue", "invalid_grant", "invalid_oob_value", nil, "The code is wrong.")
        try await meet(wrong, of: address, in: app, at: tenant)
        enter(code, in: app.textFields["Code"])
        app.buttons["Continue"].tap()
        expect(address, in: app)
    }

    // MARK: Steps

    /// Starts the app, in which somebody of the test before may be signed in.
    private func launched() -> XCUIApplication {
        let app = XCUIApplication()
        app.launch()
        if app.buttons["Sign out"].exists { app.buttons["Sign out"].tap() }
        return app
    }

    /// The address of a person whom nobody knows yet, so that nothing has to be cleaned up.
    private func newcomer() -> String { "\(UUID().uuidString.lowercased())@customer.example" }

    private func startSignUp(_ address: String, in app: XCUIApplication) {
        enter(address, in: app.textFields["Email"])
        app.buttons["Sign up"].tap()
    }

    private func signUp(_ address: String, in app: XCUIApplication, at tenant: Tenant) async throws {
        startSignUp(address, in: app)
        enter(try await tenant.code(for: address), in: app.textFields["Code"])
        app.buttons["Continue"].tap()
        enter(password, in: app.secureTextFields["Password"])
        app.buttons["Continue"].tap()
        expect(address, in: app)
    }

    private func signIn(_ address: String, in app: XCUIApplication) {
        enter(address, in: app.textFields["Email"])
        enter(password, in: app.secureTextFields["Password, if you have one"])
        app.buttons["Sign in"].tap()
    }

    /// Has the next request of a person fail, presses the button that sends it, and waits for the app's sentence.
    private func meet(
        _ row: Row, of address: String, by button: String = "Continue", in app: XCUIApplication, at tenant: Tenant
    ) async throws {
        try await tenant.fail(row.endpoint, error: row.error, suberror: row.suberror, number: row.number, for: address)
        app.buttons[button].tap()
        expect(row.sentence, in: app)
    }

    private func enter(_ text: String, in field: XCUIElement) {
        XCTAssertTrue(field.waitForExistence(timeout: 30))
        // Behind what is there already.
        field.coordinate(withNormalizedOffset: CGVector(dx: 0.95, dy: 0.5)).tap()
        field.typeText(text)
    }

    private func expect(_ text: String, in app: XCUIApplication) {
        let found = app.staticTexts.matching(NSPredicate(format: "label CONTAINS %@", text)).firstMatch
        XCTAssertTrue(found.waitForExistence(timeout: 30), text)
    }
}

/// The outbox and the failures of a tenant.
struct Tenant {
    let url: URL
    /// The control token; nil on the tenant's own machine.
    let controlToken: String?

    init() throws {
        let environment = ProcessInfo.processInfo.environment
        url = try XCTUnwrap(URL(string: environment["TENANT_URL"] ?? "https://127.0.0.1:8443"))
        controlToken = environment["CONTROL_TOKEN"]
    }

    /// Returns the newest code that was sent to an address, as soon as one is valid.
    func code(for address: String) async throws -> String {
        struct Outbox: Decodable {
            struct Message: Decodable { var code: String }
            var messages: [Message]
        }
        // URLComponents would leave the `+` of a telephone number, which stands for a space in a query.
        let to = address.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? address
        let outbox = try JSONDecoder().decode(Outbox.self, from: try await send("outbox?to=\(to)&wait=30"))
        return try XCTUnwrap(outbox.messages.first).code
    }

    /// Registers a fresh person with a second factor, and returns the address.
    func person(secondFactor: String, password: String) async throws -> String {
        let address = "\(UUID().uuidString.prefix(8).lowercased())@fabrikam.example"
        let person = ["username": address, "password": password, "second_factor": secondFactor]
        _ = try await send("control/users", body: JSONSerialization.data(withJSONObject: person), expecting: 201)
        return address
    }

    /// Has the next request of native authentication to an endpoint fail that a person sends.
    func fail(
        _ endpoint: String, error: String, suberror: String? = nil, number: Int? = nil, for address: String
    ) async throws {
        var failure: [String: Any] = ["endpoint": endpoint, "error": error]
        if let suberror { failure["suberror"] = suberror }
        if let number { failure["code"] = number }
        let rule: [String: Any] = ["when": ["user": address], "times": 1, "native_failure": failure]
        _ = try await send("control", body: JSONSerialization.data(withJSONObject: ["rules": [rule]]))
    }

    private func send(_ path: String, body: Data? = nil, expecting status: Int = 200) async throws -> Data {
        var request = URLRequest(url: try XCTUnwrap(URL(string: path, relativeTo: url)))
        if let controlToken { request.setValue("Bearer \(controlToken)", forHTTPHeaderField: "Authorization") }
        if let body {
            (request.httpMethod, request.httpBody) = ("POST", body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        XCTAssertEqual((response as? HTTPURLResponse)?.statusCode, status, String(decoding: data, as: UTF8.self))
        return data
    }
}
