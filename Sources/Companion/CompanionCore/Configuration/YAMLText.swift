package import Yams

/// The text of a YAML file.
package enum YAMLText {
    /// The place where a text stops being YAML, and what was expected there.
    package struct Fault: Error {
        package let reason: String
    }

    /// The reason why a key without a value is a mistake.
    package static let withoutValue = "has no value; write one, in quotes if it begins with #, or remove the key"

    /// Returns the root of a text; nil if it is empty.
    package static func root(of text: String) throws(Fault) -> Node? {
        do {
            return try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw fault(error)
        } catch {
            throw Fault(reason: "is neither YAML nor JSON")
        }
    }

    private static func fault(_ error: YamlError) -> Fault {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            Fault(reason: "is neither YAML nor JSON, in line \(mark.line), column \(mark.column): \(expected(problem))")
        case .duplicatedKeysInMapping(let keys, let context):
            Fault(
                reason: "has \(keys.joined(separator: " and ")) twice in the same place, in line \(context.mark.line) "
                    + "or below; keep one of them")
        case .reader(_, let offset, _, let text):
            // In characters, as Yams counts here.
            Fault(
                reason: "has a control character"
                    + (offset.map { ", in line \(text.prefix($0).filter(\.isNewline).count + 1)" } ?? "")
                    + "; save it as UTF-8 text")
        default:
            Fault(reason: "is neither YAML nor JSON")
        }
    }

    /// Returns what a person has to write where libyaml reports a problem (the messages of its scanner and parser).
    private static func expected(_ problem: String) -> String {
        switch problem {
        case "mapping values are not allowed in this context":
            "a colon stands where no key can be; put a text that contains “: ” in quotes, and each key on a line of its own"
        case "could not find expected ':'":
            "a key without a colon; write key: value, with a blank after the colon"
        case "did not find expected key":
            "a key is expected; indent it by blanks, as much as the keys beside it"
        case "did not find expected '-' indicator":
            "an entry of the list is expected; begin it with “- ”, indented as much as the others"
        case "block sequence entries are not allowed in this context":
            "a list cannot begin here; begin its first entry on the next line"
        case "did not find expected ',' or ']'":
            "the list that begins with [ needs a comma or its ] here"
        case "did not find expected ',' or '}'":
            "the mapping that begins with { needs a comma or its } here"
        case "did not find expected node content":
            "a value is expected, or a bracket has no end; put a text that begins with a sign such as , or ] in quotes"
        case "found character that cannot start any token":
            "a tab, @, ` or % cannot begin a value; indent by blanks, and put such a text in quotes"
        case "found a tab character that violates indentation",
            "found a tab character where an indentation space is expected":
            "a tab cannot indent; use blanks"
        case "found unexpected end of stream":
            "a text in quotes has no end"
        case "found unknown escape character":
            "this \\ is no escape in double quotes; use single quotes, or write \\\\"
        case "did not find expected alphabetic or numeric character", "found undefined tag handle",
            "found undefined alias", "found unexpected ':'":
            "*, & and ! have a meaning of their own at the beginning of a value; put the text in quotes"
        default: "something else is expected; put texts with special characters in quotes, and indent by blanks"
        }
    }
}
