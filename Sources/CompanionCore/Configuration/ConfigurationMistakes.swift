/// All that is wrong with a configuration, in one list, so that an operator fixes it in one go.
package struct ConfigurationMistakes: Error, CustomStringConvertible {
    /// One mistake.
    package struct Mistake: Sendable, Equatable {
        /// The file's key, as `apps.ios.client_id`, or the file's path.
        package let key: String
        /// What is wrong and what to write instead.
        package let reason: String
    }

    /// In the order in which they were found.
    package private(set) var all: [Mistake] = []

    package mutating func add(_ key: String, _ reason: String) {
        all.append(Mistake(key: key, reason: reason))
    }

    package mutating func add(_ others: ConfigurationMistakes) {
        all += others.all
    }

    /// The list as an operator reads it, one mistake a line.
    package var description: String {
        let count = all.count == 1 ? "1 mistake" : "\(all.count) mistakes"
        return all.reduce("The configuration has \(count):") { text, mistake in
            text + "\n  \(mistake.key) \(mistake.reason)"
        }
    }
}
