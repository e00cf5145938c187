import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

extension Platform {
    /// `GET /clients`: the page, or the same as JSON.
    ///
    /// With `after`, the number of requests that the caller has seen, it answers 204 as long as there are no others.
    func clientRequests(_ request: Request) -> Response {
        let query = request.head.query.flatMap { try? FormFields(query: $0) }
        let content = journal.now
        if query?["after"] == "\(content.count)" { return .noStore(.noContent) }
        guard request.head[.accept]?.contains("text/html") == true else { return .json(.ok, json(content)) }
        let language = languages.language(
            uiLocales: query?["ui_locales"], acceptLanguage: request.head[.acceptLanguage])
        return DemoLanguage.$current.withValue(language) {
            page(
                ClientsPage(
                    journal: content, names: registrations.names, isSecure: baseURL.hasPrefix("https:"),
                    explainURL: registrations.homeURL.map { "\($0)native/explain" }))
        }
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
        ]
    }
}
