import XCTest

/// A fresh person signs up in the app of the project *External ID*, *SwiftUI, native authentication*, and meets each error of the first
/// screens. Copy it into a UI test target. `xcodebuild test` gives the runner `TENANT_URL` and `CONTROL_TOKEN` from its own environment
/// as `TEST_RUNNER_TENANT_URL` and `TEST_RUNNER_CONTROL_TOKEN`; the simulator has to trust the tenant's certificate.
@MainActor
final class NativeAuthenticationTests: XCTestCase {
    func testAFreshPersonSignsUp() async throws {
        let (app, tenant, address) = (XCUIApplication(), try Tenant(), newcomer())
        app.launch()
        startSignUp(address, in: app)
        enter(try await tenant.code(for: address), in: app.textFields["Code"])
        app.buttons["Continue"].tap()
        enter("Vinter-2027", in: app.secureTextFields["Password"])
        app.buttons["Continue"].tap()
        expect(address, in: app)
    }

    func testAWrongCodeLeavesTheScreen() async throws {
        let (app, tenant, address) = (XCUIApplication(), try Tenant(), newcomer())
        app.launch()
        startSignUp(address, in: app)
        let code = try await tenant.code(for: address)
        try await tenant.fail("signup/v1.0/continue", error: "invalid_grant", suberror: "invalid_oob_value")
        enter(code, in: app.textFields["Code"])
        app.buttons["Continue"].tap()
        expect("The code is wrong.", in: app)
        enter(code, in: app.textFields["Code"])
        app.buttons["Continue"].tap()
        XCTAssertTrue(app.secureTextFields["Password"].waitForExistence(timeout: 30))
    }

    func testEachErrorOfTheFirstScreenIsSaid() async throws {
        let (app, tenant) = (XCUIApplication(), try Tenant())
        app.launch()
        enter(newcomer(), in: app.textFields["Email"])
        let rows: [(error: String, suberror: String?, number: Int?, sentence: String)] = [
            ("user_already_exists", nil, 1_003_037, "There is an account with this address: sign in."),
            ("invalid_request", nil, 90100, "This is not an address."),
            ("invalid_grant", "password_banned", nil, "Choose another password."),
        ]
        for row in rows {
            try await tenant.fail("signup/v1.0/start", error: row.error, suberror: row.suberror, number: row.number)
            app.buttons["Sign up"].tap()
            expect(row.sentence, in: app)
        }
    }

    /// The address of a person whom nobody knows yet, so that nothing has to be cleaned up.
    private func newcomer() -> String { "\(UUID().uuidString.lowercased())@customer.example" }

    private func startSignUp(_ address: String, in app: XCUIApplication) {
        enter(address, in: app.textFields["Email"])
        app.buttons["Sign up"].tap()
    }

    private func enter(_ text: String, in field: XCUIElement) {
        XCTAssertTrue(field.waitForExistence(timeout: 30))
        field.tap()
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

    /// Returns the newest code that was sent to an address, as soon as it is there.
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

    /// Has the next request of native authentication to an endpoint fail.
    func fail(_ endpoint: String, error: String, suberror: String? = nil, number: Int? = nil) async throws {
        var failure: [String: Any] = ["endpoint": endpoint, "error": error]
        if let suberror { failure["suberror"] = suberror }
        if let number { failure["code"] = number }
        let rule: [String: Any] = ["when": [String: String](), "times": 1, "native_failure": failure]
        _ = try await send("control", body: JSONSerialization.data(withJSONObject: ["rules": [rule]]))
    }

    private func send(_ path: String, body: Data? = nil) async throws -> Data {
        var request = URLRequest(url: try XCTUnwrap(URL(string: path, relativeTo: url)))
        if let controlToken { request.setValue("Bearer \(controlToken)", forHTTPHeaderField: "Authorization") }
        if let body {
            (request.httpMethod, request.httpBody) = ("POST", body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        XCTAssertEqual((response as? HTTPURLResponse)?.statusCode, 200, String(decoding: data, as: UTF8.self))
        return data
    }
}
