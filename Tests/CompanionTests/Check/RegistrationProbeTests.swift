import EventLoop
import Foundation
import HTTPClient
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import OpenIDConnect
import Synchronization
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCheck
@testable import CompanionCore
@testable import CompanionPages
@testable import CompanionSignIn

/// The findings of `companion check` from a provider's answer to a request to sign in.
@Suite struct RegistrationProbeTests {
    /// The provider's answer: a status, the address to which it sends the browser, and its page.
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var kind = Authority.Kind.oidc
        var status = 302
        var location: String?
        var page = ""
        var redirectURI = "http://localhost:8080/auth/callback"
        var expected: [String]
    }

    private static let mayWork = ["good redirect_uri", "unknown scopes"]
    private static let onlySignIn = ["unknown redirect_uri", "unknown scopes"]

    @Test(arguments: [
        Row(testDescription: "nobody is signed in", location: "@?error=login_required", expected: mayWork),
        Row(testDescription: "consent is missing", location: "@?error=consent_required", expected: mayWork),
        Row(testDescription: "somebody is signed in at once", location: "@?code=1", expected: mayWork),
        Row(
            testDescription: "it is out of order", location: "@?error=server_error",
            expected: ["good redirect_uri", "mistake authorization", "unknown scopes"]),
        Row(
            testDescription: "it wants another prompt", location: "@?error=invalid_request",
            expected: ["good redirect_uri", "mistake authorization", "unknown scopes"]),
        Row(testDescription: "no state comes back", location: "@?error=login_required&state=", expected: mayWork),
        Row(
            testDescription: "a scope is wrong", location: "@?error=invalid_scope",
            expected: ["good redirect_uri", "mistake scopes"]),
        Row(
            testDescription: "the client may not sign people in", location: "@?error=unauthorized_client",
            expected: ["good redirect_uri", "mistake client_id", "unknown scopes"]),
        Row(testDescription: "its own sign-in page", location: "/login", expected: onlySignIn),
        Row(testDescription: "an address below ours", location: "@/more?error=login_required", expected: onlySignIn),
        Row(
            testDescription: "an address that begins like ours", location: "@x?error=login_required",
            expected: onlySignIn),
        Row(testDescription: "its answer in the fragment", location: "@#error=login_required", expected: mayWork),
        Row(testDescription: "a slash behind our path", location: "@/?error=login_required", expected: onlySignIn),
        Row(
            testDescription: "a slash for the path that ours lacks", location: "@/?error=login_required",
            redirectURI: "http://localhost:8080", expected: mayWork),
        Row(testDescription: "a page", status: 200, page: "<h1>Sign in", expected: onlySignIn),
        Row(testDescription: "a pause", status: 429, expected: onlySignIn),
        Row(testDescription: "a fault", status: 503, expected: ["mistake authorization", "unknown scopes"]),
        Row(testDescription: "400", status: 400, expected: ["mistake redirect_uri"]),
        Row(testDescription: "403", status: 403, page: "<h1>No", expected: ["mistake redirect_uri"]),
        Row(testDescription: "404", status: 404, expected: ["mistake redirect_uri"]),
        Row(testDescription: "Microsoft's 400", kind: .workforce, status: 400, expected: onlySignIn),
        Row(
            testDescription: "AADSTS50011", kind: .workforce, status: 200, page: "AADSTS50011: The redirect URI",
            expected: ["mistake redirect_uri"]),
        Row(
            testDescription: "AADB2C90006 at another address", kind: .workforce,
            location: "https://other.example/#error=redirect_uri_mismatch&error_description=AADB2C90006%3A+The",
            expected: ["mistake redirect_uri"]),
        Row(
            testDescription: "AADB2C90006 at ours with a slash", kind: .workforce,
            location: "@/#error=redirect_uri_mismatch&error_description=AADB2C90006%3A+The+redirect",
            redirectURI: "http://localhost:8080", expected: ["mistake redirect_uri"]),
        Row(
            testDescription: "AADSTS700016", kind: .workforce, status: 400, page: "AADSTS700016: Application",
            expected: ["mistake client_id"]),
        Row(
            testDescription: "AADSTS650053 on the page", kind: .workforce, status: 200, page: "AADSTS650053: The app",
            expected: ["unknown redirect_uri", "mistake scopes"]),
        Row(
            testDescription: "AADSTS650053 at our address", kind: .workforce,
            location: "@?error=invalid_client&error_description=AADSTS650053%3A+The+app",
            expected: ["good redirect_uri", "mistake scopes"]),
        Row(
            testDescription: "AADSTS500011", kind: .workforce,
            location: "@?error=invalid_resource&error_description=AADSTS500011%3A",
            expected: ["good redirect_uri", "mistake scopes"]),
        Row(
            testDescription: "an issuer of the tenant's own", kind: .external, location: "@?error=login_required",
            expected: mayWork + ["mistake kind"]),
    ])
    func `the probe finds what the provider shows, and leaves the rest to a sign-in`(row: Row) async throws {
        let provider = Provider(row)
        let workers = try WorkerGroup(count: 1)
        let server = HTTPServer(
            configuration: ServerConfiguration(), workers: workers, responder: provider,
            logger: Logger(label: "provider"))
        let port = try await server.start()
        let origin = "http://localhost:\(port)"
        provider.origin.withLock { $0 = origin }
        let client = HTTPClient(workers: workers)
        let path = row.kind == .oidc ? "" : "/\(row.kind == .workforce ? "common" : Provider.tenant)"
        let application = Application(
            id: "app", page: .ios, title: "App", authority: try Authority(origin + path, kind: row.kind),
            registration: ClientRegistration(
                clientID: "11111111-2222-4333-8444-555555555555", redirectURI: row.redirectURI,
                scopes: ["user.read"]),
            credential: .fixed(.publicClient), api: nil)
        let directory = ProviderDirectory(transport: { try await client.send($0) }, now: { Date() })
        let found = await RegistrationProbe(client: client).result(
            for: application, CheckReport.Registration(application, at: try PublicURL("http://localhost:8080")),
            at: try await directory.metadata(for: application.authority), provesClient: false, pushed: nil
        ).findings
        #expect(found.map { "\($0.severity) \($0.subject)" } == row.expected)
        let sent = provider.state.withLock { $0 }
        #expect(!sent.isEmpty && found.allSatisfy { !($0.what.english + ($0.remedy ?? "")).contains(sent) })
        await client.shutdown()
        await server.stop(grace: .zero)
        await workers.shutdown()
    }
}

/// A provider that answers every request to sign in alike.
private final class Provider: Responder {
    static let tenant = "5c7d0b28-bdf8-410c-aa93-4df372b16203"
    let origin = Mutex("")
    let state = Mutex("")
    private let row: RegistrationProbeTests.Row

    init(_ row: RegistrationProbeTests.Row) { self.row = row }

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        let origin = origin.withLock { $0 }
        guard head.path == "/authorize" else {
            let issuer: [Authority.Kind: String] = [.workforce: "/{tenantid}/v2.0", .external: "/\(Self.tenant)/v2.0"]
            let metadata: JSONValue = [
                "issuer": .string(origin + (issuer[row.kind] ?? "")),
                "authorization_endpoint": .string(origin + "/authorize"), "token_endpoint": .string(origin + "/token"),
                "jwks_uri": .string(origin + "/keys"),
            ]
            return .response(
                Response(status: .ok, headerFields: [.contentType: "application/json"], body: metadata.bytes))
        }
        let sent = head.query.flatMap { try? FormFields(query: $0) }?["state"] ?? ""
        state.withLock { $0 = sent }
        var fields: HTTPFields = [.contentType: "text/html"]
        if var location = row.location {
            if location.contains("?"), !location.contains("state=") { location += "&state=\(sent)" }
            fields[.location] = location.replacing("@", with: row.redirectURI)
        }
        return .response(
            Response(status: .init(code: row.status), headerFields: fields, body: Array(row.page.utf8)))
    }
}
