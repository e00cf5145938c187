import HTTPServer
import HTTPTypes
import HTTPWire

/// The APIs that the owners of the external and the B2C tenant run themselves, outside Graph.
enum OwnAPI: String, Sendable, CaseIterable {
    case external, b2c

    /// The audience of its tokens.
    var audience: String {
        switch self {
        case .external: "api://fabrikam.example"
        case .b2c: "https://fabrikamb2c.example/api"
        }
    }

    /// The scope that it requires.
    var scope: String {
        switch self {
        case .external: "tasks.read"
        case .b2c: "demo.read"
        }
    }
}

extension Platform {
    /// `GET /api/external` and `/api/b2c`. The controls that make Graph fail also make these APIs fail. Responses have
    /// the same identifiers as Graph's, which is on the same origin here: a client may use the same connections for
    /// both.
    func ownAPI(_ request: Request, _ api: OwnAPI) async -> Response {
        GraphIDs(request, platform: self).put(on: await ownAnswer(request, api))
    }

    /// Returns the audiences of tokens that the API accepts: its own, those of the applications' APIs, and the
    /// applications, because B2C issues tokens for these.
    private func audiences(of api: OwnAPI) -> [String] {
        [api.audience] + registrations.all.flatMap { [$0.id] + $0.exposes.keys }
    }

    private func ownAnswer(_ request: Request, _ api: OwnAPI) async -> Response {
        controls.count(.graphMe)
        let settings = controls.settings
        if let delay = settings.delayMilliseconds[.graph] { try? await Task.sleep(for: .milliseconds(delay)) }
        if let injected = controls.takeInjected(.graph) { return injected.response }
        do throws(GraphError) {
            let account = try authorizedAccount(
                bearerToken(request.head), settings, audiences: audiences(of: api),
                scope: { $0 == api.scope || $0.hasSuffix("/" + api.scope) || $0.isEmpty })
            let name = displayName(of: account)
            switch api {
            case .external:
                return .json(
                    .ok,
                    [
                        "owner": .string(account.username), "name": .string(name),
                        "tasks": [
                            ["title": "Read the tutorial", "done": true],
                            ["title": "Call an API of your own", "done": false],
                        ],
                    ])
            case .b2c: return .json(.ok, ["name": .string(name), "message": .string("Hello \(name)")])
            }
        } catch {
            var response = Response.json(
                error.status, ["error": .string(error.code), "message": .string(error.message)])
            if let challenge = error.challenge { response.headerFields[.wwwAuthenticate] = challenge }
            return response
        }
    }
}
