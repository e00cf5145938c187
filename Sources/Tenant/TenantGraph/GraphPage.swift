import TenantDirectory
import WebFormats

/// One page of a collection.
struct GraphPage {
    /// The address of the collection, as the client used it, without the query.
    let address: String
    let collection: GraphCollection
    let query: GraphQuery

    /// Returns the answer, with `@odata.nextLink` unless it is the last page.
    ///
    /// - Parameter root: The address of `$metadata`.
    /// - Throws: Graph's error about an option that the collection does not have.
    func answer(_ root: String) throws(GraphError) -> JSONValue {
        let size = try pageSize()
        let start = try start()
        let found = try collection.found(by: query)
        let rest = found.dropFirst(start)
        let select = query.select.isEmpty ? "" : "(\(query.select.joined(separator: ",")))"
        var answer: [String: JSONValue] = [
            "@odata.context": .string("\(root)#\(collection.context)\(select)"),
            "value": .array(rest.prefix(size).map { .object($0.shown(query.select)) }),
        ]
        let isFirst = start == 0 || collection.kind == .mail
        if query.count, isFirst, query.isEventual || collection.kind == .mail {
            answer["@odata.count"] = .integer(found.count)
        }
        if rest.count > size { answer["@odata.nextLink"] = .string(next(start + size)) }
        return .object(answer)
    }

    /// Returns the number of all objects that the query finds.
    func count() throws(GraphError) -> Int {
        guard query.isEventual || collection.kind == .mail else {
            throw .badDirectoryRequest("$count is not currently supported.")
        }
        var query = query
        query.count = true
        return try collection.found(by: query).count
    }

    private func pageSize() throws(GraphError) -> Int {
        guard let top = query.top else { return collection.kind.pageSize }
        guard (1...collection.kind.maxPageSize).contains(top) else {
            throw .unsupportedQuery(
                "Invalid page size specified: '\(top)'. Must be between 1 and \(collection.kind.maxPageSize) "
                    + "inclusive.")
        }
        return top
    }

    private func start() throws(GraphError) -> Int {
        guard collection.kind != .mail else { return query.skip ?? 0 }
        guard let token = query.skipToken else { return 0 }
        let text = Base64URL.decode(token.utf8).map { String(decoding: $0, as: UTF8.self) } ?? ""
        guard let start = Int(text.prefix { $0 != " " }), start > 0, token == self.token(start) else {
            throw GraphError(
                status: .badRequest, code: "Directory_ExpiredPageToken",
                message: "The specified page token value has expired and can no longer be included in your request.")
        }
        return start
    }

    private func next(_ start: Int) -> String {
        let position = collection.kind == .mail ? "$skip=\(start)" : "$skiptoken=\(token(start))"
        return "\(address)?\(query.text.isEmpty ? "" : query.text + "&")\(position)"
    }

    /// Returns the token of a position, which belongs to this collection and order.
    private func token(_ start: Int) -> String {
        let order = "\(collection.context) \(query.search ?? "") \(String(describing: query.filter)) \(query.orderBy)"
        return Base64URL.encode("\(start) \(nameBasedID("page", "\(start) \(order)"))".utf8)
    }
}
