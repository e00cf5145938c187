import Foundation
import Yams

/// The keys and values of a configuration file. YAML 1.2 contains JSON, so one parser serves both.
///
/// All values are kept as text whatever their YAML type, so that `client_id: 1234` in the file and `1234` in the
/// environment mean the same.
struct ConfigurationFile {
    /// The names below `apps`, in the file's order.
    private(set) var applications: [String] = []
    /// All keys that have a value, such as `session.idle_minutes`.
    private(set) var keys: [String] = []
    /// The values by key.
    private(set) var values: [String: Value] = [:]

    /// The value of a key.
    package enum Value: Equatable {
        case text(String)
        case list([String])
    }

    /// The empty file.
    init() {}

    /// Reads a file. Syntax errors are added to the list with their line.
    init(path: String, mistakes: inout ConfigurationMistakes) {
        guard let data = FileManager.default.contents(atPath: path) else {
            mistakes.add(path, "cannot be read; check the path and its permissions")
            return
        }
        guard let text = String(bytes: data, encoding: .utf8) else {
            mistakes.add(path, "is not UTF-8 text")
            return
        }
        do {
            guard let root = try Yams.compose(yaml: text) else { return }
            guard case .mapping(let mapping) = root else {
                mistakes.add(path, "must be a mapping of keys to values")
                return
            }
            add(mapping, below: [], mistakes: &mistakes)
        } catch {
            mistakes.add(path, "is neither YAML nor JSON: \(error)")
        }
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
            if path == ["apps"] { applications.append(name) }
            switch value {
            case .mapping(let inner):
                add(inner, below: keyPath, mistakes: &mistakes)
            case .sequence(let sequence):
                let items = sequence.compactMap { $0.scalar?.string }
                guard items.count == sequence.count else {
                    mistakes.add(key, "must be a list of texts")
                    continue
                }
                keys.append(key)
                values[key] = .list(items)
            case .scalar(let scalar):
                if scalar.string.isEmpty || (scalar.style == .plain && ["null", "~"].contains(scalar.string)) {
                    continue
                }
                keys.append(key)
                values[key] = .text(scalar.string)
            case .alias:
                mistakes.add(key, "is a YAML alias, which is not supported")
            }
        }
    }
}
