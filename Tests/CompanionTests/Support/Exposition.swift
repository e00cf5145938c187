import Foundation

/// Reads the Prometheus text format as strictly as Prometheus does, and more: HELP and TYPE come first, a family's samples
/// stand together, no series comes twice, and a histogram's buckets only grow.
struct Exposition {
    private var values: [String: Double] = [:]
    private(set) var series: [String] = []

    init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw TestFailure("the last line does not end") }
        var types: [String: String] = [:]
        var family = ""
        var bucket: (series: String, value: Double)?
        // A pattern is compiled where it stands, which takes longer than to match a line.
        let comment = /# (HELP|TYPE) ([a-z_]+) (.+)/
        let pattern = /([a-z_]+)(\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? ([0-9.e+-]+|\+Inf|NaN)/
        let bound = /,?le="[^"]*"/
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            if let match = line.wholeMatch(of: comment) {
                let name = String(match.output.2)
                if match.output.1 == "TYPE" { types[name] = String(match.output.3) }
                if match.output.1 == "HELP", types[name] != nil { throw TestFailure("\(name) comes twice") }
                family = name
                continue
            }
            guard let match = line.wholeMatch(of: pattern), let value = Double(match.output.3) else {
                throw TestFailure("not a sample: \(line)")
            }
            let name = String(match.output.1)
            let suffixes = types[family] == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
            guard suffixes.contains(where: { family + $0 == name }), types[family] != nil else {
                throw TestFailure("\(name) is not of the family \(family)")
            }
            let key = name + (match.output.2 ?? "")
            guard values.updateValue(value, forKey: key) == nil else { throw TestFailure("\(key) comes twice") }
            series.append(key)
            if name.hasSuffix("_bucket") {
                let place = key.replacing(bound, with: "")
                if let bucket, bucket.series == place, bucket.value > value { throw TestFailure("\(key) is less") }
                bucket = (place, value)
            }
        }
    }

    /// A series by its name and labels as they are written; 0 where it is not.
    subscript(key: String) -> Double { values[key] ?? 0 }

    func contains(_ key: String) -> Bool { values[key] != nil }
}

extension Visitor {
    func metrics() async throws -> Exposition {
        let answer = try await get("/metrics")
        guard answer.status == 200 else { throw TestFailure("/metrics: \(answer.status)") }
        return try Exposition(answer.text)
    }
}
