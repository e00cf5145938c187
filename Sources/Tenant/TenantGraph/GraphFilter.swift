import WebFormats

/// The condition of `$filter` (OData 4.01 part 2 section 5.1.1): comparisons with literals, functions of text, and their
/// combinations. Lambda operators are not among them.
indirect enum GraphFilter: Sendable, Hashable {
    enum Comparison: String, Sendable, CaseIterable { case eq, ne, gt, ge, lt, le }
    enum Function: String, Sendable, CaseIterable { case startswith, endswith, contains }

    case compare(property: String, Comparison, JSONValue)
    case text(Function, property: String, String)
    case not(GraphFilter)
    case all([GraphFilter])
    case any([GraphFilter])

    /// The properties that it reads.
    var properties: [String] {
        switch self {
        case .compare(let property, _, _), .text(_, let property, _): [property]
        case .not(let filter): filter.properties
        case .all(let filters), .any(let filters): filters.flatMap(\.properties)
        }
    }

    /// The error of the directory for a condition that it evaluates never, or only as an advanced query.
    func refusal(isAdvanced: Bool) -> GraphError? {
        switch self {
        case .text(.contains, _, _): .unsupportedQuery("Unsupported property filter clause operator 'Contains'.")
        case .compare(_, .ne, _) where !isAdvanced:
            .unsupportedQuery("Unsupported property filter clause operator 'NotEqualsMatch'.")
        case .text(.endswith, _, _) where !isAdvanced, .not where !isAdvanced: .unsupportedQuery("Unsupported Query.")
        case .compare, .text: nil
        case .not(let filter): filter.refusal(isAdvanced: isAdvanced)
        case .all(let filters), .any(let filters):
            filters.lazy.compactMap { $0.refusal(isAdvanced: isAdvanced) }.first
        }
    }

    /// Whether an object meets the condition.
    ///
    /// - Throws: Graph's error if a property cannot be compared like this.
    func matches(_ entity: GraphEntity) throws(GraphError) -> Bool {
        switch self {
        case .compare(let property, let comparison, let literal):
            return try Self.compare(try Self.scalar(property, of: entity), comparison, literal)
        case .text(let function, let property, let text):
            guard let value = try Self.scalar(property, of: entity).string?.lowercased() else { return false }
            let wanted = text.lowercased()
            return switch function {
            case .startswith: value.hasPrefix(wanted)
            case .endswith: value.hasSuffix(wanted)
            case .contains: value.contains(wanted)
            }
        case .not(let filter): return try !filter.matches(entity)
        case .all(let filters):
            for filter in filters where try !filter.matches(entity) { return false }
            return true
        case .any(let filters):
            for filter in filters where try filter.matches(entity) { return true }
            return false
        }
    }

    private static func scalar(_ property: String, of entity: GraphEntity) throws(GraphError) -> JSONValue {
        let value = entity.value(property)
        guard value.array == nil, value.object == nil else {
            throw .unsupportedQuery("Complex query on property \(property) is not supported.")
        }
        return value
    }

    /// Text is compared without case, and so are dates, whose form has a fixed width.
    private static func compare(
        _ value: JSONValue, _ comparison: Comparison, _ literal: JSONValue
    ) throws(GraphError) -> Bool {
        if value == .null || literal == .null {
            return comparison == .eq && value == literal || comparison == .ne && value != literal
        }
        if let left = value.string, let right = literal.string {
            return comparison.holds(left.lowercased(), right.lowercased())
        }
        if let left = value.bool, let right = literal.bool { return comparison.holds(left ? 1 : 0, right ? 1 : 0) }
        if let left = value.double, let right = literal.double { return comparison.holds(left, right) }
        throw .badRequest("Invalid filter clause: A binary operator with incompatible types was detected.")
    }
}

extension GraphFilter.Comparison {
    fileprivate func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .eq: left == right
        case .ne: left != right
        case .gt: left > right
        case .ge: left >= right
        case .lt: left < right
        case .le: left <= right
        }
    }
}
