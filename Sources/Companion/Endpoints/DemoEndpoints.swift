import CompanionCore
import CompanionSignIn
import HTTPClient
import HTTPServer
import HTTPTypes
import HTTPWire
import OpenIDConnect
import SessionStore
import WebFormats

/// The demo tenant's keys, for pages that verify a token, and the demo's missions: deliberate failures that affect only the
/// caller's own sign-in. Both exist only in the demo.
struct DemoEndpoints: Sendable {
    private let control: Endpoint?
    private let client: HTTPClient

    init(configuration: CompanionConfiguration, client: HTTPClient) {
        control = configuration.demoControlURL.flatMap(Endpoint.init)
        self.client = client
    }

    /// Returns the keys as the demo tenant publishes them. The address is fixed: nothing in a token determines it.
    ///
    /// - Throws: ``Problem`` `not_found` outside the demo, `provider_unavailable` if the tenant does not return keys.
    func keys() async throws -> Response {
        guard let control else { throw Problem(.notFound, "There is nothing at this address.") }
        let request = HTTPRequest(
            method: .get, scheme: control.scheme, authority: control.authority, path: "/common/discovery/v2.0/keys")
        let answer = try? await client.send(request)
        guard let answer, answer.status == .ok, let keys = JSONValue(parsing: answer.body)?["keys"], keys.array != nil
        else {
            throw Problem(
                .providerUnavailable, "The demo tenant does not return its keys. Try again in a moment.",
                reason: "status \(answer?.status.code ?? 0)")
        }
        return .json(["keys": keys])
    }

    private struct MissionBody: Decodable {
        var app: String?
        /// The demo tenant's name for the failure; nil ends the current one.
        var failure: String?
    }

    /// Begins or ends a failure. The demo tenant identifies the browser by the provider's session (`sid`), which
    /// belongs to this browser alone.
    func mission(_ call: Call, _ session: Session?) async throws -> Response {
        guard let control else { throw Problem(.notFound, "There is nothing at this address.") }
        let body: MissionBody = try call.body()
        guard let app = body.app, body.failure.map(DemoEndpoints.isName) ?? true else {
            throw Problem(.badRequest, "The body is not the JSON object that this address expects.")
        }
        let done = Response.noStore(.noContent)
        guard let sid = session?.currentAccount(for: app)?.identity.sid else {
            // Without a sign-in there is no failure to end.
            if body.failure == nil { return done }
            throw Problem(.interactionRequired, "You are not signed in. Sign in first.")
        }
        var request = HTTPRequest(
            method: .post, scheme: control.scheme, authority: control.authority, path: control.pathAndQuery)
        request.headerFields[.contentType] = "application/json"
        let change: JSONValue = ["session_failure": ["sid": .string(sid), "failure": .orNull(body.failure)]]
        let answer = try await client.send(request, body: change.bytes)
        guard answer.status == .ok else {
            throw Problem(.badRequest, "The body is not the JSON object that this address expects.")
        }
        return done
    }

    /// Whether the text has the form of a failure's name. The demo tenant itself refuses unknown names.
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 32
            && text.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_") }
    }
}
