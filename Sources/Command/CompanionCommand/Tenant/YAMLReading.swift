import CompanionCore
import Foundation
import Yams

/// Reads YAML strictly, and collects each mistake with its line and its path.
struct YAMLReading {
    private(set) var mistakes = ConfigurationMistakes()

    /// Returns the root of a file; nil if it is empty or no YAML.
    mutating func root(_ text: String, of path: String) -> Node? {
        do throws(YAMLText.Fault) {
            return try YAMLText.root(of: text)
        } catch {
            mistakes.add(path, error.reason)
            return nil
        }
    }

    mutating func add(_ mistake: String, at path: String, _ node: Node?) {
        let place = [node?.mark.map { "line \($0.line)" } ?? "", path].filter { !$0.isEmpty }
        mistakes.add(place.joined(separator: ": "), mistake)
    }

    /// Returns the values of a mapping by key. A key without a value is a mistake: many of them let more in when they are
    /// missing.
    ///
    /// - Parameters:
    ///   - names: The keys that may occur; nil for any.
    ///   - sections: Those that may have no value.
    mutating func fields(
        _ node: Node, at path: String, _ names: [String]? = nil, sections: [String] = []
    ) -> [String: Node] {
        guard case .mapping(let mapping) = node else {
            add("must be a mapping of keys to values", at: path, node)
            return [:]
        }
        var fields: [String: Node] = [:]
        for (keyNode, value) in mapping {
            guard let key = keyNode.scalar?.string else {
                add("has a key that is not text", at: path, keyNode)
                continue
            }
            let place = path.isEmpty ? key : "\(path).\(key)"
            if let names, !names.contains(key) {
                add(Self.unknown(key, among: names, called: "keys"), at: place, keyNode)
            } else if value.null == nil {
                fields[key] = value
            } else if !sections.contains(key) {
                add(YAMLText.withoutValue, at: place, keyNode)
            }
        }
        return fields
    }

    /// The mistake in a name that is none of those that are known.
    static func unknown(_ name: String, among names: [String], called kind: String) -> String {
        let meant = nearest(to: name, among: names).map { "did you mean \($0)? " } ?? ""
        return "is not known; \(meant)the \(kind) here are \(names.joined(separator: ", "))"
    }

    /// Returns one text, which is never empty.
    ///
    /// - Parameter least: The least number of characters of a text that strangers try to guess.
    mutating func text(_ node: Node?, at path: String, least: Int = 1) -> String? {
        guard let node else { return nil }
        guard let text = node.scalar?.string, !text.isEmpty else {
            add("must be one text", at: path, node)
            return nil
        }
        if text.count < least { add(Self.tooShort(least), at: path, node) }
        return text
    }

    /// The mistake in a secret of fewer characters.
    static func tooShort(_ least: Int) -> String {
        "needs at least \(least) characters where other machines are served, because strangers can guess there"
    }

    /// Returns the beginning of a day such as 2027-01-31, in UTC.
    mutating func day(_ node: Node?, at path: String) -> Date? {
        guard let text = text(node, at: path) else { return nil }
        let style = Date.ISO8601FormatStyle.iso8601.year().month().day()
        // The parser takes a longer text, and February 30 for a day in March.
        guard let day = try? Date(text, strategy: style), day.formatted(style) == text else {
            add("must be a date such as 2027-01-31", at: path, node)
            return nil
        }
        return day
    }

    /// Returns a list of texts. One text alone is a list of one.
    mutating func texts(_ node: Node?, at path: String) -> [String] {
        guard let node else { return [] }
        guard case .sequence = node else { return text(node, at: path).map { [$0] } ?? [] }
        return items(node, at: path).compactMap { item, path in text(item, at: path) }
    }

    /// Returns the items of a list, each with its path.
    mutating func items(_ node: Node?, at path: String) -> [(node: Node, path: String)] {
        guard let node else { return [] }
        guard case .sequence(let sequence) = node else {
            add("must be a list", at: path, node)
            return []
        }
        return sequence.enumerated().map { ($1, "\(path)[\($0)]") }
    }

    /// Returns lists of texts by any keys.
    mutating func lists(_ node: Node?, at path: String) -> [String: [String]] {
        guard let node else { return [:] }
        var lists: [String: [String]] = [:]
        for (key, value) in fields(node, at: path) { lists[key] = texts(value, at: "\(path).\(key)") }
        return lists
    }

    /// Returns a whole number within a range.
    mutating func number(_ node: Node?, at path: String, within range: ClosedRange<Int>) -> Int? {
        guard let node else { return nil }
        guard let number = node.int, range.contains(number) else {
            add("must be a whole number within \(range.lowerBound) and \(range.upperBound)", at: path, node)
            return nil
        }
        return number
    }

    /// Returns the value that a word stands for.
    mutating func choice<Value>(_ node: Node?, at path: String, _ values: KeyValuePairs<String, Value>) -> Value? {
        guard let node, let text = text(node, at: path) else { return nil }
        guard let value = values.first(where: { $0.key == text })?.value else {
            add("must be one of \(values.map(\.key).joined(separator: ", "))", at: path, node)
            return nil
        }
        return value
    }

    mutating func flag(_ node: Node?, at path: String) -> Bool {
        guard let node else { return false }
        guard let flag = node.bool else {
            add("must be true or false", at: path, node)
            return false
        }
        return flag
    }
}
