/// All mistakes in a configuration in one list, so that an operator can fix them in one go.
package struct ConfigurationMistakes: Error, CustomStringConvertible {
    /// One mistake.
    package struct Mistake: Sendable, Equatable {
        /// The key in the file, such as `apps.ios.client_id`, or the file's path.
        package let key: String
        /// The mistake, and what to write instead.
        package let reason: String
        /// The line of the key in the file; nil if the value is not from there, or the reason has it.
        package fileprivate(set) var line: Int?

        /// The reason, with the line.
        package var explanation: String { reason + (line.map { " (line \($0))" } ?? "") }
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

    /// Adds the lines of the keys.
    mutating func locate(_ line: (String) -> Int?) {
        for index in all.indices { all[index].line = line(all[index].key) }
    }

    /// The list for the operator, one mistake per line.
    package var description: String {
        let count = all.count == 1 ? "1 mistake" : "\(all.count) mistakes"
        return all.reduce("The configuration has \(count):") { text, mistake in
            text + "\n  \(mistake.key) \(mistake.explanation)"
        }
    }
}
