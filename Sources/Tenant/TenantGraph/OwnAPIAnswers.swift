package import HTTPServer
import HTTPTypes
package import HTTPWire
import TenantControl
package import TenantDirectory

extension Graph {
    /// `GET /api/external`, `/api/b2c` and `/api/payroll`. The controls that make Graph fail also make these APIs fail. Responses have
    /// the same identifiers as Graph's, which is on the same origin here: a client may use the same connections for
    /// both.
    package func ownAPI(_ request: Request, _ api: OwnAPI) async -> Response {
        GraphIDs(request, clock: clock).put(on: await ownAnswer(request, api))
    }

    /// Returns the audiences of tokens that the API accepts: its own, those of the applications' APIs, and the
    /// applications, because B2C issues tokens for these.
    private func audiences(of api: OwnAPI) -> [String] {
        [api.audience] + registrations.all.flatMap { [$0.id] + $0.exposes.keys }
    }

    private func ownAnswer(_ request: Request, _ api: OwnAPI) async -> Response {
        controls.count(.graphMe)
        let settings = controls.settings
        _ = await controls.delay(at: .graph)
        if let injected = controls.takeInjected(.graph) { return injected.response }
        do throws(GraphError) {
            let account = try authorizedAccount(
                request.head.bearerToken, settings, audiences: audiences(of: api),
                scope: { "/\($0.lowercased())".hasSuffix("/" + api.scope) || $0.isEmpty })
            try checkContext(of: request.head.bearerToken)
            let name = people.displayName(of: account)
            switch api {
            case .external:
                return .json(
                    .ok,
                    [
                        "owner": .string(account.knownName), "name": .string(name),
                        "tasks": [
                            ["title": "Read the tutorial", "done": true],
                            ["title": "Call an API of your own", "done": false],
                        ],
                    ])
            case .payroll:
                return .json(
                    .ok,
                    [
                        "owner": .string(account.knownName), "name": .string(name),
                        "payslips": [
                            ["month": "2026-01", "net": "2 418.00"], ["month": "2026-02", "net": "2 418.00"],
                        ],
                    ])
            case .b2c: return .json(.ok, ["name": .string(name), "message": .string("Hello \(name)")])
            }
        } catch {
            return .json(error.status, ["error": .string(error.code), "message": .string(error.message)])
                .with(.wwwAuthenticate, error.challenge)
        }
    }
}
