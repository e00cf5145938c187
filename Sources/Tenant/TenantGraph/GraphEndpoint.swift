package import HTTPServer
import HTTPTypes
package import HTTPWire
import TenantControl
import TenantDirectory
import WebFormats

/// One call of Graph by the holder of a token.
struct GraphCall: Sendable {
    let graph: Graph
    let request: Request
    let settings: Controls.Settings
    let caller: GraphCaller
    let path: GraphPath
    let query: GraphQuery
    /// The parts of the path that stand for keys.
    let keys: [String]

    var tenantID: String { caller.tenantID }
    /// The first key; empty if there is none.
    var key: String { keys.first ?? "" }

    /// Throws Graph's error if the token is not enough.
    ///
    /// - Parameter isOwn: Whether the call is not about other people's objects.
    func authorize(_ permissions: GraphPermissions, isOwn: Bool = true) throws(GraphError) {
        try permissions.check(caller, isOwn: isOwn)
        try graph.checkMissingScope(caller, settings)
    }
}

/// The content of Graph's answer.
enum GraphAnswer: Sendable {
    /// One object of the collection with this name.
    case object(GraphEntity, of: String)
    /// An object that the call has made.
    case created(GraphEntity, of: String)
    case collection(GraphCollection)
    case identifiers([String])
    case response(Response)

    /// Returns a collection of the directory's objects.
    static func list(
        _ context: String, of types: [GraphType], _ entities: [GraphEntity],
        _ kind: GraphCollection.Kind = .directory
    ) -> GraphAnswer {
        .collection(GraphCollection(kind: kind, context: context, types: types, entities: entities))
    }
}

extension Graph {
    /// Answers a request to `/v1.0`.
    package func answer(_ request: Request, _ path: GraphPath) async -> Response {
        if path.isMe { controls.count(.graphMe) }
        return await graphResponse(request, canFail: !path.isBatch) { settings throws(GraphError) in
            let caller = try caller(
                request.head.bearerToken, settings, audiences: [AccessToken.graphAudience])
            let (route, keys) = try GraphRoute.find(path, request.head.method)
            if caller.tenantID == Tenant.consumers, !route.permissions.hasPersonal { throw .noDirectory(path) }
            let call = GraphCall(
                graph: self, request: request, settings: settings, caller: caller, path: path,
                query: try GraphQuery(request.head), keys: keys)
            return try response(try await route.answer(call), to: call).asOData
        }
    }

    /// Returns the answer of Graph or UserInfo, unless `/control` demands another one.
    ///
    /// - Parameter canFail: Whether a failure that `/control` demands a number of times happens to this request.
    func graphResponse(
        _ request: Request, canFail: Bool = true,
        _ answer: (Controls.Settings) async throws(GraphError) -> Response
    ) async -> Response {
        let settings = controls.settings
        _ = await controls.delay(at: .graph)
        let ids = GraphIDs(request, clock: clock)
        if canFail, let injected = controls.takeInjected(.graph) { return ids.put(on: injected.response) }
        do throws(GraphError) {
            return ids.put(on: try await answer(settings))
        } catch {
            return ids.put(on: ids.refusal(error))
        }
    }

    private func response(_ answer: GraphAnswer, to call: GraphCall) throws(GraphError) -> Response {
        let (path, query) = (call.path, call.query)
        let root = "\(addresses.baseURL)/v1.0/$metadata"
        switch answer {
        case .collection(let collection):
            let page = GraphPage(
                address: address(of: call), collection: try collection.cast(to: path.cast), query: query)
            return path.isCount
                ? .noStore(.ok, "text/plain; charset=utf-8", Array(String(try page.count()).utf8))
                : .json(.ok, try page.answer(root))
        case _ where path.isCount: throw .unknownSegment("$count")
        case _ where path.cast != nil: throw .unknownSegment("microsoft.graph.\(path.cast ?? "")")
        case .object(let entity, let collection):
            guard query.isForOneObject else {
                throw .badRequest(
                    "Query options $filter, $orderby, $count, $skip and $top can be applied only on collections.")
            }
            for name in query.select where entity.type.property(name) == nil {
                throw .unknownProperty(name, of: entity.type, in: "Parsing OData Select and Expand failed")
            }
            let select = query.select.isEmpty ? "" : "(\(query.select.joined(separator: ",")))"
            // Of a personal account all properties come, whichever are selected (t2-graph-15).
            let isPersonal = call.caller.tenantID == Tenant.consumers && entity.type == .user
            var members = entity.shown(isPersonal ? [] : query.select)
            members["@odata.context"] = .string("\(root)#\(collection)\(select)/$entity")
            return .json(.ok, .object(members))
        case .created(let entity, let collection):
            let context: [String: JSONValue] = ["@odata.context": .string("\(root)#\(collection)/$entity")]
            return .json(.created, .object(entity.shown([]).merging(context) { $1 }))
        case .identifiers(let identifiers):
            return .json(
                .ok,
                [
                    "@odata.context": .string("\(root)#Collection(Edm.String)"),
                    "value": .array(identifiers.map(JSONValue.string)),
                ])
        case .response(let response): return response
        }
    }

    /// Returns the address that the client called, without the query.
    private func address(of call: GraphCall) -> String {
        let path = call.request.head.path
        return addresses.baseURL + (path.hasSuffix("/") ? String(path.dropLast()) : path)
    }
}

extension Response {
    /// The response with the headers of Graph's JSON (graph-ok-01, 02 and 06).
    fileprivate var asOData: Response {
        guard headerFields[.contentType]?.hasPrefix("application/json") == true else { return self }
        let type = "application/json;odata.metadata=minimal;odata.streaming=true;IEEE754Compatible=false;charset=utf-8"
        return with(.contentType, type).with(.cacheControl, "no-cache").with(.odataVersion, "4.0")
    }
}

extension GraphCollection {
    /// Returns the collection of the objects of one type.
    fileprivate func cast(to name: String?) throws(GraphError) -> GraphCollection {
        guard let name else { return self }
        guard let type = types.first(where: { $0.name.lowercased() == name.lowercased() }) else {
            throw .unknownSegment("microsoft.graph.\(name)")
        }
        var collection = self
        collection.context = "\(type.name)s"
        collection.types = [type]
        collection.entities = entities.filter { $0.type == type }.map { entity in
            var entity = entity
            entity.members["@odata.type"] = nil
            return entity
        }
        return collection
    }
}

extension GraphError {
    /// The error for personal accounts. They are in no directory, and Graph does not find its resources for them.
    fileprivate static func noDirectory(_ path: GraphPath) -> Self {
        Self(
            status: .notFound, code: "",
            message: "No HTTP resource was found that matches the request URI '/\(path.parts.joined(separator: "/"))'.")
    }
}
