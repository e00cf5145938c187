import Foundation
import Yams

/// The keys and values of a configuration file. YAML 1.2 contains JSON, so one parser serves both.
///
/// All values are kept as text whatever their YAML type, so that `client_id: 1234` in the file and `1234` in the
/// environment mean the same.
struct ConfigurationFile {
    /// The sections whose entries have names of the operator's choice.
    enum Section: String, CaseIterable {
        case apps, apis
        case apiTokens = "api_tokens"
    }

    /// The names below each section, in the file's order.
    private(set) var names: [Section: [String]] = [:]
    /// All keys that have a value, such as `session.idle_minutes`.
    private(set) var keys: [String] = []
    /// The keys that have no value, which may be sections, too.
    private(set) var withoutValue: [String] = []
    /// The line of each key, and of each section.
    private(set) var lines: [String: Int] = [:]
    /// Whether there was a mapping to read. Without it, further mistakes would mislead.
    private(set) var isRead = false
    /// The values by key.
    private(set) var values: [String: Value] = [:]
    /// The lines of the text.
    private var rows: [Substring] = []

    /// The value of a key.
    package enum Value: Equatable {
        case text(String)
        case list([String])
    }

    /// The empty file.
    init() {}

    /// Reads a file. Syntax errors are added to the list with their line.
    init(path: String, mistakes: inout ConfigurationMistakes) {
        guard !path.isEmpty else {
            mistakes.add("--config", "is empty; name the configuration file")
            return
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            mistakes.add(path, "cannot be read; check the path and its permissions")
            return
        }
        guard let text = String(bytes: data, encoding: .utf8) else {
            let good = data.split(separator: 0x0A, omittingEmptySubsequences: false)
                .prefix { String(bytes: $0, encoding: .utf8) != nil }
            mistakes.add(path, "is not UTF-8 text, in line \(good.count + 1); save it as UTF-8")
            return
        }
        rows = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        do throws(YAMLText.Fault) {
            guard let root = try YAMLText.root(of: text) else { return }
            guard case .mapping(let mapping) = root else {
                mistakes.add(path, "must be a mapping of keys to values")
                return
            }
            isRead = true
            add(mapping, below: [], mistakes: &mistakes)
        } catch {
            mistakes.add(path, error.reason)
        }
    }

    /// Adds a list of mappings, each with its name as one of the members.
    private mutating func addNamed(_ entries: Node.Sequence, below key: String, mistakes: inout ConfigurationMistakes) {
        for entry in entries {
            guard case .mapping(var members) = entry, let name = members["name"]?.scalar?.string, !name.isEmpty else {
                mistakes.add(key, "must be a list of entries that each have a name")
                continue
            }
            members["name"] = nil
            add(Node.Mapping([(Node(name), .mapping(members))]), below: [key], mistakes: &mistakes)
        }
    }

    /// Adds a mapping of paths to scopes as a list of `path=scope`.
    private mutating func addScopes(_ mapping: Node.Mapping, at key: String, mistakes: inout ConfigurationMistakes) {
        var items: [String] = []
        for (path, scopes) in mapping {
            let texts =
                scopes.sequence.map { $0.compactMap { $0.scalar.map(Self.text) } }
                ?? [scopes.scalar.map(Self.text)].compactMap(\.self)
            guard let path = path.scalar?.string, !texts.isEmpty else {
                mistakes.add(key, "must be a mapping of paths to lists of scopes")
                continue
            }
            items += texts.map { "\(path)=\($0)" }
        }
        keys.append(key)
        values[key] = .list(items)
    }

    /// Returns what is written; nothing for a null, as YAML has it where only a comment follows.
    private static func text(_ scalar: Node.Scalar) -> String {
        NSNull.construct(from: scalar) == nil ? scalar.string : ""
    }

    /// Whether a list without entries is written as []. Comments between its brackets may have been meant as entries.
    private func isWrittenEmpty(_ list: Node.Sequence) -> Bool {
        guard let mark = list.mark, mark.line > 0, mark.column > 0 else { return true }
        let rest = rows.dropFirst(mark.line - 1).first?.unicodeScalars.dropFirst(mark.column - 1)
        return rest?.drop { $0 != "[" }.dropFirst().drop { $0.properties.isWhitespace }.first == "]"
    }

    private mutating func add(_ mapping: Node.Mapping, below path: [String], mistakes: inout ConfigurationMistakes) {
        for (keyNode, value) in mapping {
            guard let name = keyNode.scalar?.string else {
                mistakes.add(path.joined(separator: "."), "has a key that is not text")
                continue
            }
            let keyPath = path + [name]
            let key = keyPath.joined(separator: ".")
            guard !name.contains(".") else {
                mistakes.add(
                    key, "has a dot in a name; nest the parts, for example session: { max_hours: 1 }")
                continue
            }
            lines[key] = keyNode.mark?.line
            if path.count == 1, let section = path.first.flatMap(Section.init) {
                names[section, default: []].append(name)
            }
            switch value {
            case .mapping(let inner) where path.first == Section.apis.rawValue && path.count == 2 && name == "scopes":
                addScopes(inner, at: key, mistakes: &mistakes)
            case .sequence(let entries) where path.isEmpty && name == Section.apiTokens.rawValue:
                addNamed(entries, below: name, mistakes: &mistakes)
            case .mapping(let inner):
                if inner.isEmpty { withoutValue.append(key) }
                add(inner, below: keyPath, mistakes: &mistakes)
            case .sequence(let sequence) where sequence.isEmpty && !isWrittenEmpty(sequence):
                withoutValue.append(key)
            case .sequence(let sequence):
                let items = sequence.compactMap { $0.scalar.map(Self.text) }
                guard items.count == sequence.count else {
                    let settings = CompanionConfiguration.settings(named: names)
                    let section = ConfigurationReading.reasonOfSection(key, among: settings)
                    mistakes.add(key, section ?? "must be a list of texts")
                    continue
                }
                keys.append(key)
                values[key] = .list(items)
            case .scalar(let scalar):
                let text = Self.text(scalar)
                guard !text.isEmpty else {
                    withoutValue.append(key)
                    continue
                }
                keys.append(key)
                values[key] = .text(text)
            case .alias:
                mistakes.add(key, "is a YAML alias, which is not supported")
            }
        }
    }
}
