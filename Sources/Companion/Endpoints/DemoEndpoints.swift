import CompanionCore
import CompanionSignIn
import HTTPClient
import HTTPServer
import HTTPTypes
import HTTPWire
import OpenIDConnect
import SessionStore
import WebFormats

/// The demo's missions: what goes wrong on purpose, for the caller's own sign-in alone. Outside the demo there are none.
struct DemoEndpoints: Sendable {
    private let control: Endpoint?
    private let client: HTTPClient

    init(configuration: CompanionConfiguration, client: HTTPClient) {
        control = configuration.demoControlURL.flatMap(Endpoint.init)
        self.client = client
    }

    private struct MissionBody: Decodable {
        var app: String?
        /// What the demo tenant calls it; nil ends what was begun.
        var failure: String?
    }

    /// Begins a failure, or ends it. The demo tenant knows whose it is by the provider's session (`sid`), which is this
    /// browser's alone.
    func mission(_ call: Call, _ session: Session?) async throws -> Response {
        guard let control else { throw Problem(.notFound, "There is nothing at this address.") }
        let body: MissionBody = try call.body()
        guard let app = body.app, body.failure.map(DemoEndpoints.isName) ?? true else {
            throw Problem(.badRequest, "The body is not the JSON object that this address takes.")
        }
        let done = Response.noStore(.noContent)
        guard let sid = session?.currentAccount(for: app)?.identity.sid else {
            // Nobody's failure is over.
            if body.failure == nil { return done }
            throw Problem(.interactionRequired, "You are not signed in. Sign in first.")
        }
        var request = HTTPRequest(
            method: .post, scheme: control.scheme, authority: control.authority, path: control.pathAndQuery)
        request.headerFields[.contentType] = "application/json"
        let change: JSONValue = ["session_failure": ["sid": .string(sid), "failure": .orNull(body.failure)]]
        let answer = try await client.send(request, body: change.bytes)
        guard answer.status == .ok else {
            throw Problem(.badRequest, "The body is not the JSON object that this address takes.")
        }
        return done
    }

    /// A word of the demo tenant's; it refuses one that it does not know.
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 32
            && text.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_") }
    }
}
