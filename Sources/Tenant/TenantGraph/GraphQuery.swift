import Foundation
import HTTPTypes
import HTTPWire
import WebFormats

/// The query options of a request (OData 4.01 part 2 section 5.1), of which Graph knows each also without its `$`.
struct GraphQuery: Sendable, Hashable {
    /// A property to sort by.
    struct Order: Sendable, Hashable {
        var property: String
        var isDescending: Bool
    }

    /// The properties to show; empty for the usual ones.
    var select: [String] = []
    var filter: GraphFilter?
    var orderBy: [Order] = []
    var search: String?
    var top: Int?
    var skip: Int?
    var skipToken: String?
    var count = false
    /// Whether the client accepts an index that may be out of date, without which the directory cannot answer some queries.
    var isEventual = false
    /// The query without the position of a page, as Graph writes it in the address of the next one (t2-graph-20).
    private(set) var text = ""

    /// Whether its options make sense for one object.
    var isForOneObject: Bool {
        filter == nil && orderBy.isEmpty && search == nil && (top, skip, skipToken) == (nil, nil, nil) && !count
    }

    private static let names: Set = [
        "select", "filter", "orderby", "search", "top", "skip", "skiptoken", "count", "format",
    ]

    /// - Throws: Graph's error about an option that is unknown, malformed or repeated.
    init(_ head: RequestHead) throws(GraphError) {
        let level = head[.consistencyLevel]
        try self.init(head.query ?? "", isEventual: level?.lowercased() == "eventual")
    }

    /// - Throws: Graph's error about an option that is unknown, malformed or repeated.
    init(_ query: String, isEventual: Bool = false) throws(GraphError) {
        self.isEventual = isEventual
        var seen: Set<String> = []
        var kept: [String] = []
        for pair in query.split(separator: "&") {
            guard let field = (try? FormFields(query: String(pair)))?.fields.first else {
                throw .badRequest("The query cannot be decoded.")
            }
            let name = field.name.lowercased()
            let option = name.hasPrefix("$") ? String(name.dropFirst()) : name
            if option != "skiptoken", option != "skip" {
                let named = FormEncoding.escaped(field.name, hasSmallDigits: true).replacing("%24", with: "$")
                kept.append("\(named)=\(FormEncoding.escaped(field.value, hasSmallDigits: true))")
            }
            guard Self.names.contains(option) else {
                // Graph ignores parameters that are not OData's.
                guard name.hasPrefix("$") else { continue }
                throw .badRequest("The query parameter '\(field.name)' is not supported.")
            }
            guard seen.insert(option).inserted else {
                throw .badRequest("Query option '$\(option)' was specified more than once.")
            }
            try set(option, field.value)
        }
        text = kept.joined(separator: "&")
    }

    private mutating func set(_ option: String, _ value: String) throws(GraphError) {
        switch option {
        case "select": select = Self.list(value)
        case "filter": filter = try GraphFilter(parsing: value)
        case "orderby": orderBy = try Self.list(value).map { text throws(GraphError) in try Self.order(text) }
        case "search": search = value
        case "top": top = try Self.number(value, option)
        case "skip": skip = try Self.number(value, option)
        case "skiptoken": skipToken = value
        case "count":
            guard let flag = Bool(value.lowercased()) else {
                throw .badRequest("Invalid value '\(value)' for $count query option found.")
            }
            count = flag
        default: break
        }
    }

    private static func list(_ value: String) -> [String] {
        value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private static func order(_ text: String) throws(GraphError) -> Order {
        let words = text.split(separator: " ")
        guard let property = words.first, words.count <= 2, let direction = words.count == 1 ? "asc" : words.last,
            ["asc", "desc"].contains(direction)
        else { throw .badRequest("Invalid $orderby clause '\(text)'.") }
        return Order(property: String(property), isDescending: direction == "desc")
    }

    private static func number(_ value: String, _ option: String) throws(GraphError) -> Int {
        guard let number = Int(value), number >= 0, value.utf8.first != UInt8(ascii: "+") else {
            throw .badRequest(
                "Invalid value '\(value)' for $\(option) query option found. "
                    + "The $\(option) query option requires a non-negative integer value.")
        }
        return number
    }
}
