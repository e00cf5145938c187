import ArgumentParser
import CompanionCore

/// A word on the command line at the place of a command, that is none, or is nearly `--licenses`. ArgumentParser would
/// take it for an argument of the default subcommand.
struct UnknownCommand: CustomStringConvertible {
    private let word: String
    private let parent: String
    private let names: [String]
    /// The option that stands alone, which no command has.
    private static let licenses = "--licenses"

    /// Returns nil if the words lead to a command.
    init?(_ words: [String], below root: any ParsableCommand.Type) {
        var (command, path) = (root, root.configuration.commandName ?? "")
        var rest = words[...]
        if let word = words.first, word != Self.licenses, nearest(to: word, among: [Self.licenses]) != nil {
            (self.word, parent, names) = (word, path, [Self.licenses])
            return
        }
        // The words after it are a command, too.
        if rest.first == "help" { rest.removeFirst() }
        var isAfterOptions = false
        while let word = rest.popFirst() {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, word != "help" else { return nil }
            if word.hasPrefix("-") {
                // Those of the default subcommand, which takes no word of its own. The next word can be the option's value.
                guard command.configuration.defaultSubcommand != nil else { return nil }
                if !word.contains("="), rest.first?.hasPrefix("-") == false { rest.removeFirst() }
                isAfterOptions = true
                continue
            }
            guard let next = subcommands.first(where: { $0._commandName == word }), !isAfterOptions else {
                (self.word, parent, names) = (word, path, subcommands.map { $0._commandName })
                return
            }
            (command, path) = (next, "\(path) \(word)")
        }
        return nil
    }

    var description: String {
        guard names != [Self.licenses] else {
            return "Error: `\(parent)` has no \(word). Did you mean `\(parent) \(Self.licenses)`?"
        }
        guard !names.contains(word) else {
            return "Error: A command stands before its options: `\(parent) \(word)`. See `\(parent) \(word) --help`."
        }
        let meant = nearest(to: word, among: names).map { " Did you mean `\(parent) \($0)`?" } ?? ""
        return "Error: `\(parent)` has no command \(word).\(meant) Its commands: \(names.joined(separator: ", ")). "
            + "See `\(parent) --help`."
    }
}
