/// All mistakes in a configuration in one list, so that an operator can fix them in one go.
package struct ConfigurationMistakes: Error, CustomStringConvertible {
    /// One mistake.
    package struct Mistake: Sendable, Equatable {
        /// The key in the file, such as `apps.ios.client_id`, or the file's path.
        package let key: String
        /// The mistake, and what to write instead.
        package let reason: String
    }

    /// The mistakes in the order in which they were found.
    package private(set) var all: [Mistake] = []

    package init() {}

    package mutating func add(_ key: String, _ reason: String) {
        all.append(Mistake(key: key, reason: reason))
    }

    package mutating func add(_ others: ConfigurationMistakes) {
        all += others.all
    }

    /// The list for the operator, one mistake per line.
    package var description: String {
        let count = all.count == 1 ? "1 mistake" : "\(all.count) mistakes"
        return all.reduce("The configuration has \(count):") { text, mistake in
            text + "\n  \(mistake.key) \(mistake.reason)"
        }
    }
}
