import HTTPServer
import HTTPTypes
import HTTPWire
import TenantControl
import TenantDirectory
import TenantSignIn
import WebFormats

/// The latest requests of the applications.
struct ClientsHandler: PlatformHandler {
    let journal = ClientJournal()
    let platform: Platform

    /// `GET /clients`: the requests as JSON. For people they are below the failures, to which this leads.
    ///
    /// With `after`, the number of requests that the caller has seen, it answers 204 as long as there are no others.
    func show(_ request: Request) -> Response {
        let query = request.head.query.flatMap { try? FormFields(query: $0) }
        if request.head[.accept]?.contains("text/html") == true {
            let kept = query?["ui_locales"].map { [(name: "ui_locales", value: $0)] } ?? []
            return .redirect(to: "/control".appending(query: kept) + "#requests", status: .found)
        }
        let content = journal.now
        if query?["after"] == "\(content.count)" { return .noStore(.noContent) }
        return .json(.ok, json(content))
    }

    /// The requests for people.
    ///
    /// - Parameter mark: changes with what the page shows.
    func section(_ mark: String) -> ClientsSection {
        ClientsSection(
            journal: journal.now, mark: mark, names: registrations.names, isSecure: addresses.isSecure,
            explainURL: registrations.homeURL.map { "\($0)paste" })
    }

    private func json(_ content: ClientJournal.Content) -> JSONValue {
        [
            "count": .integer(content.count),
            "first_from_app": content.firstFromApp.map { .string($0.time.formatted(.iso8601)) } ?? .null,
            "clients": .array(
                content.groups.map { group in
                    [
                        "client_id": JSONValue(group.clientID),
                        "name": JSONValue(group.clientID.flatMap { registrations.client(id: $0)?.name }),
                        "library": JSONValue(group.library), "requests": .array(group.requests.map(\.json)),
                    ]
                }),
        ]
    }
}

extension ClientRequest {
    fileprivate var json: JSONValue {
        [
            "position": .integer(position), "time": .string(time.formatted(.iso8601)), "step": .string(step.rawValue),
            "status": status.map(JSONValue.integer) ?? .null, "error": JSONValue(error),
            "correlation_id": JSONValue(correlationID),
            "library": JSONValue(library), "parameters": .array(parameters.map(JSONValue.string)),
            "scopes": .array(scopes.map(JSONValue.string)), "milliseconds": .integer(milliseconds),
            "native": native?.json ?? .null, "is_retry": .bool(isRetry),
            "from_memory_until": memory.map { .string($0.end.formatted(.iso8601)) } ?? .null,
        ]
    }
}
