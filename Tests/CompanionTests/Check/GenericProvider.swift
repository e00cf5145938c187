import EventLoop
import Foundation
import HTTPClient
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import OpenIDConnect
import Synchronization
import WebFormats

@testable import Companion
@testable import CompanionCore

/// A generic OpenID provider whose strictness a test chooses. It signs nobody in.
final class GenericProvider: Responder {
    static let clientID = "the-client-of-the-test"
    static let secret = "the-secret-of-the-client"
    static let redirectURI = "http://localhost:8080/auth/callback"

    /// The things that it refuses, and the way in which it does.
    struct Manners: Sendable {
        /// The methods in its metadata, and the one that it takes; nil for either.
        var methods = ["client_secret_basic", "client_secret_post"]
        var method: String?
        /// The scopes that it knows; nil for all. Whether it lists offline_access, and wants consent with that.
        var scopes: Set<String>?
        var wantsConsent = false
        /// The status of its error page, and whether the page says what is wrong.
        var errorStatus = 400
        var saysWhat = true
        /// Whether it asks people to sign in before it looks at anything else, and whether also if that is forbidden.
        var asksFirst = false
        var asksAlways = true
        /// Whether it shows its sign-in page to a request without a page, and the error with which it refuses all others.
        var ignoresSilence = false
        var silentStatus: Int?
        var error: (name: String, words: String)?
        /// Whether its token endpoint looks at the redirect URI of a code first.
        var comparesAddress = false
        /// Whether it takes requests in advance: the error with which it refuses them, and the status of its page for them.
        var pushed: Pushed?
        /// Whether an error repeats everything that was sent.
        var repeatsAll = false

        struct Pushed: Sendable {
            var error: String?
            var status = 200
            var isRequired = false
        }
    }

    /// The check reads keys, and verifies nothing with them.
    private static let modulus = String(repeating: "v", count: 341) + "w"

    private let manners: Manners
    private let origin = Mutex("")
    private let received = Mutex<[String]>([])

    /// The values of requests that nobody else may learn.
    var secrets: [String] { received.withLock { $0 } }

    private init(_ manners: Manners) { self.manners = manners }

    /// Runs a test against such a provider.
    ///
    /// - Parameter test: gets the provider, an application that is registered there, and a client.
    static func run(
        _ manners: Manners, _ test: (GenericProvider, Application, HTTPClient) async throws -> Void
    ) async throws {
        let provider = GenericProvider(manners)
        let workers = try WorkerGroup(count: 1)
        let server = HTTPServer(
            configuration: ServerConfiguration(), workers: workers, responder: provider,
            logger: Logger(label: "provider"))
        let port = try await server.start()
        let origin = "http://localhost:\(port)"
        provider.origin.withLock { $0 = origin }
        let client = HTTPClient(workers: workers)
        var application = Application(
            id: "app", page: .ios, title: "App", authority: try Authority(origin, kind: .oidc),
            registration: ClientRegistration(clientID: clientID, redirectURI: redirectURI, scopes: ["email"]),
            credential: .fixed(.secret(secret)), api: nil, prompt: nil)
        application.clientSecretExpires = .distantFuture
        let result: Result<Void, any Error>
        do { result = .success(try await test(provider, application, client)) } catch { result = .failure(error) }
        await client.shutdown()
        await server.stop(grace: .zero)
        await workers.shutdown()
        try result.get()
    }

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        switch head.path {
        case "/authorize": .response(authorize((try? head.query.map { try FormFields(query: $0) }) ?? nil))
        case "/token", "/par":
            .handler(maxBodyBytes: 1 << 16) { [self] request in
                guard let form = try? FormFields(body: Array(request.body)) else {
                    return Response(status: .badRequest)
                }
                let field = request.head[.authorization]
                return head.path == "/par" ? push(form, field) : token(form, field)
            }
        case "/keys":
            .response(json(.ok, ["keys": [["kty": "RSA", "kid": "1", "n": .string(Self.modulus), "e": "AQAB"]]]))
        default: .response(json(.ok, metadata))
        }
    }

    private var metadata: JSONValue {
        let origin = origin.withLock { $0 }
        return .members([
            "issuer": .string(origin), "authorization_endpoint": .string(origin + "/authorize"),
            "token_endpoint": .string(origin + "/token"), "jwks_uri": .string(origin + "/keys"),
            "userinfo_endpoint": .string(origin + "/userinfo"),
            "scopes_supported": .list(
                ["openid", "profile", "email"] + (manners.wantsConsent ? ["offline_access"] : [])),
            "token_endpoint_auth_methods_supported": .list(manners.methods),
            "pushed_authorization_request_endpoint": manners.pushed.map { _ in .string(origin + "/par") },
            "require_pushed_authorization_requests": manners.pushed.map { .bool($0.isRequired) },
        ])
    }

    // MARK: The sign-in page

    private func authorize(_ form: FormFields?) -> Response {
        guard let form else { return page(.badRequest, "Empty") }
        note(form, ["state", "nonce", "code_challenge"])
        if form["request_uri"] != nil { return page(.init(code: manners.pushed?.status ?? 400), "The pushed one") }
        if manners.pushed?.isRequired == true { return page(.badRequest, "Push it") }
        let isSilent = form["prompt"] == "none"
        if manners.asksFirst, !isSilent || manners.asksAlways { return page(.ok, "<form><input name=user></form>") }
        if isSilent, let status = manners.silentStatus { return page(.init(code: status), "Not without a page") }
        guard form["client_id"] == Self.clientID else { return refusal("Unknown client", form) }
        guard form["redirect_uri"] == Self.redirectURI else { return refusal("Redirect URI mismatch", form) }
        let scopes = Set((form["scope"] ?? "").split(separator: " ").map(String.init))
        if let known = manners.scopes, !scopes.isSubset(of: known) {
            return back("invalid_scope", "No such scope", form)
        }
        if manners.wantsConsent, scopes.contains("offline_access"), form["prompt"] != "consent" {
            return back("invalid_request", "consent in prompt", form)
        }
        if let error = manners.error { return back(error.name, error.words, form) }
        if isSilent, !manners.ignoresSilence { return back("login_required", "", form) }
        return page(.ok, "<form><input name=user></form>")
    }

    private func refusal(_ words: String, _ form: FormFields) -> Response {
        page(.init(code: manners.errorStatus), manners.saysWhat ? "<h1>\(words)</h1>" : "<h1>No</h1>")
    }

    private func page(_ status: HTTPResponse.Status, _ html: String) -> Response {
        Response(status: status, headerFields: [.contentType: "text/html"], body: Array(html.utf8))
    }

    private func back(_ error: String, _ words: String, _ form: FormFields) -> Response {
        let said = manners.repeatsAll ? words + "\n" + form.fields.map(\.value).joined(separator: ", ") : words
        let query = FormEncoding.encode([
            ("error", error), ("error_description", said), ("state", form["state"] ?? ""),
        ])
        return Response(status: .found, headerFields: [.location: "\(Self.redirectURI)?\(query)"])
    }

    // MARK: The token endpoint

    private func token(_ form: FormFields, _ authorization: String?) -> Response {
        note(form, ["code", "code_verifier", "client_secret"])
        if let refusal = refusal(of: form, authorization) { return refusal }
        guard form["grant_type"] == "authorization_code" else { return error("unauthorized_client", "", form) }
        return error("invalid_grant", "No such code", form)
    }

    private func push(_ form: FormFields, _ authorization: String?) -> Response {
        note(form, ["state", "nonce", "code_challenge", "client_secret"])
        if let refusal = refusal(of: form, authorization) { return refusal }
        if let error = manners.pushed?.error { return self.error(error, "Nothing in advance", form) }
        return json(.created, ["request_uri": "urn:example:1", "expires_in": 60])
    }

    private func refusal(of form: FormFields, _ authorization: String?) -> Response? {
        let basic = authorization.flatMap { Data(base64Encoded: String($0.dropFirst("Basic ".count))) }
            .map { String(decoding: $0, as: UTF8.self).split(separator: ":").map(String.init) }
        let (id, secret) = (basic?.first ?? form["client_id"], basic?.last ?? form["client_secret"])
        let method = basic == nil ? "client_secret_post" : "client_secret_basic"
        let isRight = id == Self.clientID && secret == Self.secret && manners.method ?? method == method
        let hasAddress = !manners.comparesAddress || form["redirect_uri"] ?? Self.redirectURI == Self.redirectURI
        return isRight && hasAddress ? nil : error("invalid_client", "Client authentication failed", form)
    }

    private func error(_ name: String, _ words: String, _ form: FormFields) -> Response {
        let said = manners.repeatsAll ? words + "\r\n" + form.fields.map(\.value).joined(separator: " ") : words
        return json(.badRequest, ["error": .string(name), "error_description": .string(said)])
    }

    private func json(_ status: HTTPResponse.Status, _ value: JSONValue) -> Response {
        Response(status: status, headerFields: [.contentType: "application/json"], body: value.bytes)
    }

    private func note(_ form: FormFields, _ names: [String]) {
        received.withLock { $0 += names.compactMap { form[$0] } }
    }
}
