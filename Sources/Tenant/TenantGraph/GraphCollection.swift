import Foundation
import WebFormats

/// A collection of Graph's objects, on which the query options work.
struct GraphCollection: Sendable {
    /// The services behind Graph, which answer the query options differently.
    enum Kind: Sendable {
        /// Objects of the directory.
        case directory
        /// Objects of the directory that another object refers to.
        case references
        /// A mailbox.
        case mail

        var pageSize: Int { self == .mail ? 10 : 100 }
        var maxPageSize: Int { self == .mail ? 1000 : 999 }
    }

    var kind = Kind.directory
    /// The name in `@odata.context`.
    var context: String
    /// The types of the objects.
    var types: [GraphType]
    /// The objects in the order of an answer without `$orderby`.
    var entities: [GraphEntity]

    /// The name of the type in messages.
    var type: GraphType { types.count == 1 ? types[0] : .directoryObject }

    /// Returns the objects that a query finds, in its order.
    ///
    /// - Throws: Graph's error about an option that the collection does not have.
    func found(by query: GraphQuery) throws(GraphError) -> [GraphEntity] {
        try check(query)
        var found: [GraphEntity] = []
        for entity in entities {
            if let filter = query.filter, try !filter.matches(entity) { continue }
            if let search = query.search, try !matches(entity, search) { continue }
            found.append(entity)
        }
        for order in query.orderBy.reversed() {
            let keys = found.map { Self.key($0.value(order.property)) }
            let places = found.indices.sorted { left, right in
                let (first, second) = order.isDescending ? (keys[right], keys[left]) : (keys[left], keys[right])
                // Sorting keeps the order of equals.
                return first == second ? left < right : first < second
            }
            found = places.map { found[$0] }
        }
        return found
    }

    private static func key(_ value: JSONValue) -> String {
        value.string?.lowercased() ?? value.bool.map(String.init) ?? ""
    }

    private func check(_ query: GraphQuery) throws(GraphError) {
        for name in query.select where !has(name) {
            throw .unknownProperty(name, of: type, in: "Parsing OData Select and Expand failed")
        }
        guard !query.select.contains(where: isOfOneObject) else { throw .notImplemented }
        for property in query.filter?.properties ?? [] where !has(property.prefix { $0 != "/" }) {
            throw .unknownProperty(property, of: type, in: "Invalid filter clause")
        }
        for order in query.orderBy where !has(order.property.prefix { $0 != "/" }) {
            throw .unknownProperty(order.property, of: type, in: "Invalid orderby clause")
        }
        guard kind != .mail else { return }
        if query.skip != nil { throw .badDirectoryRequest("'$skip' is not supported by the service.") }
        if query.search != nil, !query.isEventual {
            throw .unsupportedQuery(
                "Request with $search query parameter only works through MSGraph with a special request header: "
                    + "'ConsistencyLevel: eventual'")
        }
        let isAdvanced = query.isEventual && query.count
        if let filter = query.filter {
            if let refusal = filter.refusal(isAdvanced: isAdvanced) { throw refusal }
            if kind == .references, !isAdvanced {
                throw .unsupportedQuery(
                    "The specified filter to the reference property query is currently not supported.")
            }
        }
        for order in query.orderBy {
            guard isAdvanced || kind == .directory && query.filter == nil else {
                throw .unsupportedQuery("Sorting not supported for current query.")
            }
            guard types.contains(where: { $0.sortable.contains { $0.lowercased() == order.property.lowercased() } })
            else { throw .unsupportedQuery("Unsupported sort property '\(order.property)' for '\(type.title)'.") }
        }
    }

    private func isOfOneObject(_ name: String) -> Bool {
        types.contains { type in type.property(name).map { type.single.contains($0) } == true }
    }

    private func has(_ name: some StringProtocol) -> Bool { types.contains { $0.property(String(name)) != nil } }

    /// Whether an object has a word that begins like each word of a search: in a mailbox anywhere, in the directory in the
    /// property that the search names.
    private func matches(_ entity: GraphEntity, _ search: String) throws(GraphError) -> Bool {
        var wanted = search[...]
        if wanted.count > 1, wanted.hasPrefix("\""), wanted.hasSuffix("\"") { wanted = wanted.dropFirst().dropLast() }
        var properties = ["subject", "bodyPreview", "from/emailAddress/name", "from/emailAddress/address"]
        if kind != .mail {
            guard let colon = wanted.firstIndex(of: ":"), has(wanted[..<colon]), !wanted.contains("\"") else {
                throw .badRequest("Invalid $search clause: write \"property:text\".")
            }
            properties = [String(wanted[..<colon])]
            wanted = wanted[colon...].dropFirst()
        }
        let words = properties.flatMap { Self.words(entity.value($0).string ?? "") }
        return Self.words(wanted).allSatisfy { word in words.contains { $0.hasPrefix(word) } }
    }

    private static func words(_ text: some StringProtocol) -> [String] {
        text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }
}

extension GraphType {
    /// The type that those of users, groups and roles have in common.
    static let directoryObject = GraphType(name: "directoryObject", usual: ["id", "deletedDateTime"], further: [])
}
