import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import TenantControl
import WebFormats

/// `POST /$batch`: several requests in one, each of which is answered as it would be alone.
extension GraphCall {
    private static let maxRequests = 20

    func batch() async throws(GraphError) -> GraphAnswer {
        guard let items = try body()["requests"]?.array, !items.isEmpty else {
            throw .badRequest("Invalid batch payload format.")
        }
        guard items.count <= Self.maxRequests else {
            throw .badRequest("Number of batch request steps exceeds the maximum value of \(Self.maxRequests).")
        }
        var requests: [GraphBatchRequest] = []
        for item in items {
            let request = try GraphBatchRequest(item)
            let known = requests.map(\.key)
            guard !known.contains(request.key) else {
                throw .badRequest("Request Id has to be unique in a batch. Duplicated: '\(request.id)'.")
            }
            guard request.dependsOn.allSatisfy(known.contains) else {
                throw .badRequest("Invalid dependency for request Id '\(request.id)'.")
            }
            requests.append(request)
        }
        var (responses, failed): ([JSONValue], Set<String>) = ([], [])
        for request in requests {
            let response =
                request.dependsOn.contains(where: failed.contains)
                ? GraphIDs(self.request, clock: graph.clock).refusal(.failedDependency) : await answer(request)
            if !(200..<300).contains(response.status.code) { failed.insert(request.key) }
            responses.append(Self.json(response, to: request))
        }
        return .response(.json(.ok, ["responses": .array(responses)]))
    }

    private func answer(_ item: GraphBatchRequest) async -> Response {
        var fields = item.fields
        fields[.authorization] = request.head[.authorization]
        let target = "/v1.0\(item.url.hasPrefix("/") ? "" : "/")\(item.url)"
        guard let head = try? RequestHead(method: item.method, target: target, headerFields: fields),
            let path = GraphPath(head), !path.isBatch
        else {
            return GraphIDs(request, clock: graph.clock).refusal(.badRequest("Invalid batch request URL."))
        }
        let request = Request(head: head, body: item.body, peer: request.peer)
        // A failure on demand counts it as a request of its own.
        let ruled = RuledRequest { graph.subject(request) }
        return await RuledRequest.$current.withValue(ruled) { await graph.answer(request, path) }
    }

    /// Returns a response as an element of the batch's answer. A body that is not JSON is in base64.
    private static func json(_ response: Response, to item: GraphBatchRequest) -> JSONValue {
        var headers: [String: JSONValue] = [:]
        for field in response.headerFields { headers[field.name.rawName] = .string(field.value) }
        // An error says JSON and no more (t2-batch-04).
        if response.status.code >= 400, response.headerFields[.contentType]?.hasPrefix("application/json") == true {
            headers[HTTPField.Name.contentType.rawName] = "application/json"
        }
        let body = JSONValue(parsing: response.body) ?? .string(Data(response.body).base64EncodedString())
        return [
            "id": .string(item.id), "status": .integer(response.status.code), "headers": .object(headers),
            "body": body,
        ]
    }
}

/// One request of a batch.
private struct GraphBatchRequest {
    let id: String
    let method: HTTPRequest.Method
    let url: String
    let fields: HTTPFields
    let body: [UInt8]
    /// The keys of others.
    let dependsOn: [String]
    /// Its ID as others name it: in any case (t2-batch-07).
    var key: String { id.lowercased() }

    init(_ item: JSONValue) throws(GraphError) {
        guard let id = item["id"]?.string, !id.isEmpty, let name = item["method"]?.string,
            let method = HTTPRequest.Method(name.uppercased()), let url = item["url"]?.string, !url.contains("://")
        else { throw .badRequest("Invalid batch payload format: a request needs an id, a method and a relative url.") }
        (self.id, self.method, self.url) = (id, method, url)
        var fields: HTTPFields = [:]
        for (name, value) in item["headers"]?.object ?? [:] {
            guard let name = HTTPField.Name(name), let value = value.string else { continue }
            fields[name] = value
        }
        self.fields = fields
        body = item["body"]?.bytes ?? []
        guard body.isEmpty || fields[.contentType] != nil else {
            throw .badRequest("Write request id '\(id)' does not contain Content-Type header or body.")
        }
        dependsOn = item["dependsOn"]?.array?.compactMap { $0.string?.lowercased() } ?? []
    }
}

extension GraphError {
    fileprivate static let failedDependency = GraphError(
        status: HTTPResponse.Status(code: 424, reasonPhrase: "Failed Dependency"), code: "FailedDependency",
        message: "A request on which this one depends has failed.")
}
