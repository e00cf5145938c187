import ArgumentParser
import CompanionCore

/// A word on the command line at the place of a command, that is none. ArgumentParser would take it for an argument of
/// the default subcommand.
struct UnknownCommand: CustomStringConvertible {
    private let word: String
    private let parent: String
    private let names: [String]

    /// Returns nil if the words lead to a command.
    init?(_ words: [String], below root: any ParsableCommand.Type) {
        var (command, path) = (root, root.configuration.commandName ?? "")
        for word in words {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
            guard let next = subcommands.first(where: { $0._commandName == word }) else {
                (self.word, parent, names) = (word, path, subcommands.map { $0._commandName })
                return
            }
            (command, path) = (next, "\(path) \(word)")
        }
        return nil
    }

    var description: String {
        let meant = nearest(to: word, among: names).map { " Did you mean `\(parent) \($0)`?" } ?? ""
        return "Error: `\(parent)` has no command \(word).\(meant) Its commands: \(names.joined(separator: ", ")). "
            + "See `\(parent) --help`."
    }
}
