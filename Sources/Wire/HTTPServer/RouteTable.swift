/// Routes by the patterns of their paths. In a pattern, `{name}` is a segment that is not empty, and `{name...}` is
/// all that follows, which may be nothing.
///
/// A path that is a pattern without placeholders costs one lookup. Otherwise a segment that is spelled out counts
/// before a placeholder.
public struct RouteTable<Route: Sendable>: Sendable {
    /// The routes and the names of their placeholders, by the segments that lead to them.
    private struct Branch: Sendable {
        var branches: [Substring: Branch] = [:]
        var end: (route: Route, names: [String])?
        var rest: (route: Route, names: [String])?

        mutating func add(_ segments: ArraySlice<Substring>, _ route: Route, _ names: [String]) {
            guard let first = segments.first else {
                end = (route, names)
                return
            }
            let name = first.wholeMatch(of: /\{(\w+)(\.\.\.)?\}/)?.output
            let names = name.map { names + [String($0.1)] } ?? names
            guard name?.2 == nil else {
                rest = (route, names)
                return
            }
            let key = name == nil ? first : RouteTable.placeholder
            branches[key, default: Branch()].add(segments.dropFirst(), route, names)
        }

        func match(_ segments: ArraySlice<Substring>, _ values: [Substring]) -> Match? {
            guard let first = segments.first else {
                return end.map { RouteTable.match($0, values) } ?? rest.map { RouteTable.match($0, values + [""]) }
            }
            if let match = branches[first]?.match(segments.dropFirst(), values) { return match }
            if !first.isEmpty,
                let match = branches[RouteTable.placeholder]?.match(segments.dropFirst(), values + [first])
            {
                return match
            }
            return rest.map { RouteTable.match($0, values + [segments.joined(separator: "/")[...]]) }
        }
    }

    /// A route, and the parts of the path for which its placeholders stand.
    public typealias Match = (route: Route, parameters: [String: String])

    /// No segment is like it.
    private static var placeholder: Substring { "/" }

    private var paths: [String: Route] = [:]
    private var root = Branch()

    /// - Parameter routes: The routes by their patterns.
    public init(_ routes: KeyValuePairs<String, Route> = [:]) {
        for (pattern, route) in routes { add(pattern, route) }
    }

    /// Adds a route, in place of one with the same pattern.
    public mutating func add(_ pattern: String, _ route: Route) {
        if pattern.contains("{") { root.add(Self.segments(pattern), route, []) } else { paths[pattern] = route }
    }

    /// Returns the route for a path; nil if no pattern is like it. The path is compared as it is, without decoding.
    public func match(_ path: String) -> Match? {
        if let route = paths[path] { return (route, [:]) }
        return root.match(Self.segments(path), [])
    }

    private static func segments(_ path: String) -> ArraySlice<Substring> {
        path.split(separator: "/", omittingEmptySubsequences: false)[...]
    }

    private static func match(_ end: (route: Route, names: [String]), _ values: [Substring]) -> Match {
        (end.route, Dictionary(zip(end.names, values.map(String.init))) { first, _ in first })
    }
}
