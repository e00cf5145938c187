import EventLoop
import Foundation
import HTTPClient
import HTTPTypes
import Logging
import Synchronization
import TestSupport
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

/// A demo tenant on a port of its own, with a clock that tests move.
struct TestTenant: Sendable {
    static let web = withOptionalClaims(
        DemoClient(
            id: "11111111-aaaa-4bbb-8ccc-000000000001", name: "Web tutorial", secret: "the web client's secret: %+&",
            web: ["http://localhost:8080/auth/callback", "http://localhost:8080/auth/signed-out"]))
    static let native = withOptionalClaims(
        DemoClient(
            id: "11111111-aaaa-4bbb-8ccc-000000000002", name: "Native <tutorial>",
            native: ["http://localhost:8080/native", "msauth.com.contoso.tasks://auth"]))
    static let script = DemoClient(
        id: "11111111-aaaa-4bbb-8ccc-000000000003", name: "Script tutorial", spa: ["http://localhost:8080/spa"])

    /// Returns a registration that asks for the claims that sign-outs and fresh sign-ins need.
    private static func withOptionalClaims(_ client: DemoClient) -> DemoClient {
        var client = client
        client.optionalClaims = DemoClient.OptionalClaims(idToken: ["auth_time", "login_hint", "sid"])
        return client
    }

    /// RFC 7636 appendix B.
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    /// The real texts.
    static let publicFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Public").standardized.path

    /// Graph's permissions.
    static let reference = Result { try PermissionReference(publicFolder: publicFolder) }

    let tenant: DemoTenant
    let workers: WorkerGroup
    let client: HTTPClient
    let clock: Clock

    final class Clock: Sendable {
        private let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000.25))
        var now: Date { time.withLock { $0 } }
        func advance(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }
    }

    /// Keys take a second of a processor to make, so tenants without a file of the caller's begin with these.
    private static let keys = Result { try DemoSigningKey.first() }

    /// The real texts and Graph's permissions, read once.
    private static let content = Result { try TenantContent(publicFolder: publicFolder) }

    /// The path of a file that does not exist yet, in a folder of its own.
    static func temporaryPath() throws -> String {
        let folder = TemporaryFolder.ofProcess.appendingPathComponent("demo-tenant-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appendingPathComponent("state.json").path
    }

    /// The platform of a tenant that is asked without a connection.
    static func platform(_ configuration: DemoTenantConfiguration) throws -> Platform {
        var configuration = configuration
        configuration.makeSigningKeys = keys.get
        configuration.content = try content.get()
        return try Platform(configuration, logger: Logger(label: "demo tenant"))
    }

    /// Removes the file with its folder, so that a request which outlived the tenant's stop leaves nothing either.
    static func remove(_ path: String) {
        TemporaryFolder.remove(URL(fileURLWithPath: path).deletingLastPathComponent())
    }

    /// Runs a test against a tenant that is stopped afterwards.
    /// - Parameter stateFile: Kept by the caller; nil gives the test a file that is removed.
    static func run<Value: Sendable>(
        stateFile: String? = nil, clock: Clock = Clock(),
        configured configure: (inout DemoTenantConfiguration) -> Void = { _ in },
        _ body: @Sendable (TestTenant) async throws -> Value
    ) async throws -> Value {
        let path = try stateFile ?? temporaryPath()
        defer { if stateFile == nil { remove(path) } }
        let workers = try WorkerGroup(count: 1)
        var configuration = DemoTenantConfiguration(
            clients: [web, native, script], publicFolder: publicFolder, stateFile: path, now: { clock.now })
        if stateFile == nil { configuration.makeSigningKeys = keys.get }
        configure(&configuration)
        if configuration.publicFolder == publicFolder { configuration.content = try content.get() }
        let tenant = try DemoTenant(
            configuration: configuration, workers: workers, logger: Logger(label: "demo tenant"))
        _ = try await tenant.start()
        let client = HTTPClient(workers: workers)
        let result: Result<Value, any Error>
        do {
            result = .success(
                try await body(TestTenant(tenant: tenant, workers: workers, client: client, clock: clock)))
        } catch {
            result = .failure(error)
        }
        await client.shutdown()
        await tenant.stop()
        await workers.shutdown()
        return try result.get()
    }

    /// A browser without cookies.
    ///
    /// - Parameter host: The name by which it reaches the tenant.
    func browser(at host: String = "localhost") -> Browser {
        Browser(baseURL: tenant.baseURL.replacing("localhost", with: host), client: client)
    }
}

/// A browser as curl is one: keeps cookies, follows redirects to the tenant's own pages alone, and fills in forms.
actor Browser {
    private let baseURL: String
    private let client: HTTPClient
    private(set) var cookies: [String: String] = [:]

    init(baseURL: String, client: HTTPClient) {
        self.baseURL = baseURL
        self.client = client
    }

    func use(_ cookies: [String: String]) { self.cookies = cookies }

    /// Another browser with the cookies that this one has now.
    func copy() async -> Browser {
        let other = Browser(baseURL: baseURL, client: client)
        await other.use(cookies)
        return other
    }

    func get(_ path: String, _ fields: [(String, String)] = [], headers: [(String, String)] = []) async throws -> Answer
    {
        try await send("GET", path.appending(query: fields), headers)
    }

    func post(_ path: String, _ fields: [(String, String)], headers: [(String, String)] = []) async throws -> Answer {
        try await send(
            "POST", path, [("Content-Type", "application/x-www-form-urlencoded")] + headers,
            Array(FormEncoding.encode(fields).utf8))
    }

    /// Sends a request, and follows redirects to the page of a step.
    func send(
        _ method: String, _ path: String, _ headers: [(String, String)] = [], _ body: [UInt8] = []
    ) async throws -> Answer {
        var answer = try await sendOnce(method, path, headers, body)
        for _ in 0..<3 {
            guard answer.status == 303, let page = answer["Location"], page.contains("?flow=") else { break }
            answer = try await sendOnce("GET", page, headers.filter { $0.0 != "Content-Type" })
        }
        return answer
    }

    /// Sends a request and follows nothing.
    func sendOnce(
        _ method: String, _ path: String, _ headers: [(String, String)] = [], _ body: [UInt8] = []
    ) async throws -> Answer {
        var request = HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get, scheme: "http",
            authority: String(baseURL.dropFirst("http://".count)), path: path)
        if !cookies.isEmpty {
            request.headerFields[.cookie] = cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
        }
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { request.headerFields[name] = value }
        }
        let answer = Answer(try await client.send(request, body: body))
        for cookie in answer.fields[values: .setCookie] {
            let pair = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            cookies[pair[0]] = pair.count == 2 && !pair[1].isEmpty ? pair[1] : nil
        }
        return answer
    }

    /// Sends the form of a page with one field of its own.
    func submit(_ page: Answer, _ name: String, _ value: String, headers: [(String, String)] = []) async throws
        -> Answer
    {
        let (action, fields) = try page.form()
        return try await post(action, fields + [(name, value)], headers: headers)
    }
}

extension Browser {
    /// The parameters of an authorization request in order, with changes: an empty value leaves one out.
    static func authorization(_ client: DemoClient, _ changes: [String: String] = [:]) -> [(String, String)] {
        var parameters = [
            "client_id": client.id, "redirect_uri": client.redirectURIs.first ?? "", "response_type": "code",
            "scope": "openid profile offline_access user.read", "state": "the state / & ü", "nonce": "the nonce",
            "code_challenge": TestTenant.challenge, "code_challenge_method": "S256", "client_info": "1",
        ]
        for (name, value) in changes { parameters[name] = value.isEmpty ? nil : value }
        return parameters.sorted { $0.key < $1.key }
    }

    func authorize(
        _ changes: [String: String] = [:], client: DemoClient = TestTenant.web, segment: String = "common"
    ) async throws -> Answer {
        try await get("/\(segment)/oauth2/v2.0/authorize", Self.authorization(client, changes))
    }

    /// Goes through the pages until the application has its answer; the fields of which pages were shown are noted.
    func signIn(
        _ username: String, _ changes: [String: String] = [:], client: DemoClient = TestTenant.web,
        segment: String = "common"
    ) async throws -> (answer: [String: String], pages: [String]) {
        var page = try await authorize(changes, client: client, segment: segment)
        var pages: [String] = []
        while let form = page.shownField, pages.count < 6 {
            pages.append(form)
            switch form {
            case "username": page = try await submit(page, "username", username)
            case "password": page = try await submit(page, "password", "demo")
            case "second_factor": page = try await submit(page, "second_factor", "approve")
            default: page = try await submit(page, "consent", "accept")
            }
        }
        return (try page.callback(), pages)
    }

    /// The parameters of a code's redemption, with changes.
    func redeem(
        _ code: String?, _ changes: [String: String] = [:], client: DemoClient = TestTenant.web,
        segment: String = "common", headers: [(String, String)] = []
    ) async throws -> Answer {
        var fields = [
            "grant_type": "authorization_code", "client_id": client.id, "code": code ?? "",
            "redirect_uri": client.redirectURIs.first ?? "", "code_verifier": TestTenant.verifier, "client_info": "1",
            "client_secret": client.secret ?? "",
        ]
        for (name, value) in changes { fields[name] = value }
        return try await post(
            "/\(segment)/oauth2/v2.0/token", fields.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key },
            headers: headers)
    }

    func refresh(
        _ token: String?, _ changes: [String: String] = [:], client: DemoClient = TestTenant.web,
        segment: String = "common"
    ) async throws -> Answer {
        try await redeem(
            nil,
            [
                "grant_type": "refresh_token", "refresh_token": token ?? "", "redirect_uri": "", "code_verifier": "",
            ].merging(changes) { $1 }, client: client, segment: segment)
    }

    /// Signs in and redeems the code.
    func tokens(
        _ username: String, _ changes: [String: String] = [:], client: DemoClient = TestTenant.web,
        segment: String = "common"
    ) async throws -> Answer {
        let (answer, _) = try await signIn(username, changes, client: client, segment: segment)
        return try await redeem(answer["code"], client: client, segment: segment)
    }

    func me(_ accessToken: String?, path: String = "/v1.0/me", headers: [(String, String)] = []) async throws -> Answer
    {
        try await get(path, headers: accessToken.map { [("Authorization", "Bearer \($0)")] + headers } ?? headers)
    }

    /// `POST /control` with JSON.
    func control(_ json: JSONValue) async throws -> Answer {
        try await send("POST", "/control", [("Content-Type", "application/json")], json.bytes)
    }

    func count(_ name: String) async throws -> Int? {
        try await get("/control").json?["counts"]?[name]?.integer
    }

    /// The number of requests of an endpoint that wait.
    func held(at endpoint: String) async throws -> Int {
        guard let held = try await get("/control").json?["held"]?[endpoint]?.integer else {
            throw TestFailure("the state says nothing of \(endpoint)")
        }
        return held
    }

    /// Waits until this many requests of an endpoint wait.
    nonisolated func untilHeld(_ number: Int, at endpoint: String) async -> Bool {
        await eventually { (try? await held(at: endpoint)) == number }
    }
}
