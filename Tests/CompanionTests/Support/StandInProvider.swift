import Cryptography
import EventLoop
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import OpenIDConnect
import Synchronization
import TLS
import WebFormats

@testable import Companion
@testable import CompanionCore

/// A provider of the kind oidc on a socket, with one person, whom it asks nothing. A test changes its answers.
final class StandInProvider: Responder {
    /// A request to the token endpoint or to that for requests in advance.
    struct Posted: Sendable {
        let path: String
        let fields: FormFields
        let authorization: String?
        var method: String { authorization != nil ? "basic" : fields["client_secret"] != nil ? "post" : "none" }
    }

    struct Behaviour: Sendable {
        /// Members of the discovery document beside the necessary ones.
        var metadata: [String: JSONValue] = [:]
        /// The error of the authorization endpoint for a request's parameters; nil lets the person in.
        var refusal: @Sendable (FormFields) -> [(name: String, value: String)]? = { _ in nil }
        /// The answer to a posted request, by which the usual one is replaced.
        var answer: @Sendable (Posted) -> Response? = { _ in nil }
        /// Changes the ID token's claims.
        var claims: [String: JSONValue?] = ["preferred_username": "diana@id.example", "name": "Diana"]
        var userInfo: JSONValue = ["sub": "diana"]
        /// Whether answers name their issuer (RFC 9207).
        var namesIssuer = false
    }

    private struct State {
        var behaviour: Behaviour
        var origin = ""
        /// The parameters of authorization requests, with those sent in advance.
        var authorizations: [FormFields] = []
        var posted: [Posted] = []
        var nonces: [String: String] = [:]
        var pushed: [String: FormFields] = [:]
        var userInfos = 0
    }

    private let state: Mutex<State>
    private let key = PrivateKey(.p256)

    init(_ behaviour: Behaviour = Behaviour()) {
        state = Mutex(State(behaviour: behaviour))
    }

    var origin: String { state.withLock { $0.origin } }
    var authorizations: [FormFields] { state.withLock { $0.authorizations } }
    var posted: [Posted] { state.withLock { $0.posted } }
    var userInfos: Int { state.withLock { $0.userInfos } }
    func forgetTokens() { state.withLock { $0.posted.removeAll { $0.path == "/token" } } }
    func change(_ body: (inout Behaviour) -> Void) { state.withLock { body(&$0.behaviour) } }

    /// Runs a test with a companion whose last application, `provider`, has this provider.
    ///
    /// - Parameters:
    ///   - certificate: the provider's own, if it speaks https.
    ///   - configure: gets that application.
    func run(
        certificate: OwnCertificate? = nil,
        _ configure: (inout Application) throws -> Void = { _ in },
        all configureAll: (inout CompanionConfiguration) throws -> Void = { _ in },
        _ test: (Site) async throws -> Void
    ) async throws {
        let workers = try WorkerGroup(count: 1)
        var serving = ServerConfiguration()
        serving.certificate = try certificate.map { certificate in
            let pair = try certificate.files.read()
            return try ServerCertificate(chain: pair.chain, privateKey: pair.privateKey)
        }
        let server = HTTPServer(
            configuration: serving, workers: workers, responder: self, logger: Logger(label: "provider"))
        let port = try await server.start()
        state.withLock { $0.origin = "\(certificate == nil ? "http" : "https")://localhost:\(port)" }
        let origin = self.origin
        try await Site.run(
            configured: { configuration in
                var application = configuration.applications.removeLast()
                application.authority = try Authority(origin, kind: .oidc)
                application.registration = ClientRegistration(
                    clientID: application.registration.clientID, redirectURI: application.registration.redirectURI,
                    scopes: [])
                try configure(&application)
                configuration.applications.append(application)
                try configureAll(&configuration)
            }, test)
        await server.stop(grace: .zero)
        await workers.shutdown()
    }

    // MARK: Answers

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        switch head.path {
        case "/authorize":
            .response((try? FormFields(query: head.query ?? "")).map(authorize) ?? Self.unreadable)
        case "/token", "/par":
            .handler(maxBodyBytes: 1 << 16) { [self] request in
                guard let fields = try? FormFields(body: request.body) else { return Self.unreadable }
                let posted = Posted(path: head.path, fields: fields, authorization: head[.authorization])
                let behaviour = state.withLock { state in
                    state.posted.append(posted)
                    return state.behaviour
                }
                return behaviour.answer(posted) ?? (head.path == "/par" ? push(posted) : tokens(posted))
            }
        case "/keys": .response(.json(["keys": .array([publicKey])]))
        case "/userinfo":
            .response(
                .json(
                    state.withLock { state in
                        state.userInfos += 1
                        return state.behaviour.userInfo
                    }))
        default: .response(.json(.object(metadata)))
        }
    }

    private static let unreadable = Response.json(["error": "invalid_request"], status: .badRequest)

    private var metadata: [String: JSONValue] {
        let (origin, more) = state.withLock { ($0.origin, $0.behaviour.metadata) }
        let own: [String: JSONValue] = [
            "issuer": .string(origin), "authorization_endpoint": .string(origin + "/authorize"),
            "token_endpoint": .string(origin + "/token"), "jwks_uri": .string(origin + "/keys"),
            "userinfo_endpoint": .string(origin + "/userinfo"),
        ]
        return own.merging(more) { $1 }.mapValues { value in
            value.string.map { .string($0.replacing("{origin}", with: origin)) } ?? value
        }
    }

    private func authorize(_ query: FormFields) -> Response {
        let (fields, behaviour, origin) = state.withLock { state in
            let fields = query["request_uri"].flatMap { state.pushed[$0] } ?? query
            state.authorizations.append(fields)
            return (fields, state.behaviour, state.origin)
        }
        guard let address = fields["redirect_uri"] else { return Self.unreadable }
        let code = UUID().uuidString
        state.withLock { $0.nonces[code] = fields["nonce"] ?? "" }
        var answer = behaviour.refusal(fields) ?? [("code", code)]
        answer.append(("state", fields["state"] ?? ""))
        if behaviour.namesIssuer { answer.append(("iss", origin)) }
        return .redirect(to: address + "?" + FormEncoding.encode(answer))
    }

    private func push(_ posted: Posted) -> Response {
        let uri = "urn:\(UUID().uuidString)"
        state.withLock { $0.pushed[uri] = posted.fields }
        return .json(["request_uri": .string(uri), "expires_in": 60], status: .created)
    }

    private func tokens(_ posted: Posted) -> Response {
        let (origin, changes, nonce) = state.withLock { state in
            (
                state.origin, state.behaviour.claims,
                posted.fields["code"].flatMap { state.nonces.removeValue(forKey: $0) }
            )
        }
        let time = Int(Date().timeIntervalSince1970)
        var members: [String: JSONValue] = [
            "access_token": .string(UUID().uuidString), "token_type": "Bearer", "expires_in": 1200,
            "refresh_token": .string(UUID().uuidString),
        ]
        if let nonce {
            var claims: [String: JSONValue] = [
                "iss": .string(origin), "sub": "diana", "nonce": .string(nonce), "iat": .integer(time),
                // A test's clock may be days ahead.
                "exp": .integer(time + 7 * 86_400),
                "aud": "11111111-2222-4333-8444-555555555555",
            ]
            for (name, value) in changes { claims[name] = value }
            members["id_token"] = .string(signed(.object(claims)))
        } else if posted.fields["grant_type"] == "authorization_code" {
            return .json(["error": "invalid_grant"], status: .badRequest)
        }
        return .json(.object(members))
    }

    private func signed(_ claims: JSONValue) -> String {
        let header: JSONValue = ["alg": "ES256", "kid": "1"]
        let input = Base64URL.encode(header.bytes) + "." + Base64URL.encode(claims.bytes)
        guard let signature = key.signature(of: input.utf8, scheme: .es256) else { return "" }
        return input + "." + Base64URL.encode(signature)
    }

    private var publicKey: JSONValue {
        [
            "kty": "EC", "crv": "P-256", "kid": "1", "x": .string(Base64URL.encode(key.publicKey.x)),
            "y": .string(Base64URL.encode(key.publicKey.y)),
        ]
    }
}
