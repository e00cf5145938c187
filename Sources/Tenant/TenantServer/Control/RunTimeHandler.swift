import HTTPServer
import HTTPTypes
import HTTPWire
import TenantControl
package import TenantDirectory
package import WebFormats

/// Applications and people at `/control`, which tests register and remove, and the announcement of those who are there.
struct RunTimeHandler: Sendable {
    /// The kinds of things, by the name of their collection.
    enum Kind: String { case applications, users }

    let registry: RunTimeRegistry
    let addresses: Addresses

    /// Answers a request for a collection, or for one of its elements.
    func answer(_ request: Request, _ kind: Kind, name: String?) -> Response {
        do throws(RunTimeRegistry.Refusal) {
            switch (request.head.method, name) {
            case (.post, nil): return try add(kind, try members(request))
            case (.patch, let name?):
                let change = JSONValue.object(try members(request))
                return try self.change(kind, name) { JSONValue.object($0).merging(change).object ?? [:] }
            case (.delete, let name?):
                switch kind {
                case .applications: try registry.removeApplication(name)
                case .users: try registry.removePerson(name)
                }
                return .noStore(.noContent)
            default:
                return .json(
                    .methodNotAllowed,
                    ["error": "bad_request", "message": "POST to the collection; PATCH or DELETE what is in it."]
                ).with(.allow, name == nil ? "POST" : "PATCH, DELETE")
            }
        } catch {
            return refusal(error)
        }
    }

    private func add(_ kind: Kind, _ members: RunTimeRegistry.Declaration) throws(RunTimeRegistry.Refusal) -> Response {
        var response: Response
        let name: String
        switch kind {
        case .applications:
            let (client, secret) = try registry.addApplication(members, isNameUnique: true, makesSecret: true)
            name = client.id
            response = .json(.created, client.announced.merging(secret.map { ["secret": .string($0)] } ?? [:]))
        case .users:
            let account = try registry.addPerson(members)
            name = account.username
            response = .json(.created, account.announced)
        }
        response.headerFields[.location] = "\(addresses.baseURL)/control/\(kind.rawValue)/\(name)"
        return response
    }

    private func change(
        _ kind: Kind, _ name: String, _ edit: RunTimeRegistry.Edit
    ) throws(RunTimeRegistry.Refusal) -> Response {
        switch kind {
        case .applications: .json(.ok, try registry.changeApplication(name, isNameUnique: true, edit).announced)
        case .users: .json(.ok, try registry.changePerson(name, edit).announced)
        }
    }

    private func members(_ request: Request) throws(RunTimeRegistry.Refusal) -> RunTimeRegistry.Declaration {
        guard let members = JSONValue(parsing: request.body)?.object else {
            throw .mistakes(["The body is not a JSON object."])
        }
        return members
    }

    private func refusal(_ error: RunTimeRegistry.Refusal) -> Response {
        let (status, code, sentences): (HTTPResponse.Status, String, [String]) =
            switch error {
            case .mistakes(let sentences): (.badRequest, "bad_request", sentences)
            case .unknown(let name): (.notFound, "not_found", ["There is no \(name)."])
            case .fixed(let name):
                (.conflict, "not_from_here", ["\(name) was there from the start, and is changed in the tenant's file."])
            case .taken(let name): (.conflict, "taken", ["There is an account of the name \(name) already."])
            case .full(let sentence): (.conflict, "too_many", ["Nothing was registered: \(sentence)."])
            }
        return .json(
            status,
            [
                "error": .string(code), "message": .string(sentences.joined(separator: "\n")),
                "mistakes": .array(sentences.map(JSONValue.string)),
            ])
    }
}

extension DemoClient {
    /// The redirect URIs in the order of the announcement.
    package var announcedRedirectURIs: [String] { nativeRedirectURIs + webRedirectURIs + spaRedirectURIs }

    /// The application as the announcement has it.
    package var announced: JSONValue {
        [
            "name": .string(name), "client_id": .string(id),
            "redirect_uris": .array(announcedRedirectURIs.map(JSONValue.string)),
        ]
    }
}

extension DemoAccount {
    /// The person as the announcement has them.
    var announced: JSONValue {
        [
            "username": .string(username), "name": .string(displayName), "tenant_id": .string(tenantID),
            "object_id": .string(objectID),
        ]
    }
}
