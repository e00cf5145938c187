import CompanionCore
import TenantDirectory
import WebFormats
import Yams

extension DeclarationReader {
    /// Reads declarations with the rules and the sentences of the file for `--config`.
    ///
    /// - Parameter isForOthers: Whether other machines are served.
    static func ofFile(isForOthers: Bool) -> DeclarationReader {
        DeclarationReader(
            application: { declaration, beside throws(Mistakes) in
                try read { yaml throws(ConfigurationMistakes) in
                    let least = isForOthers ? TenantFile.leastTokenLength : 1
                    let application = TenantFile.Application(
                        Node(declaration), at: "application", &yaml, credentials: .atRunTime(leastSecret: least))
                    guard let application, yaml.mistakes.all.isEmpty else { return nil }
                    return try TenantFile.clients([application], beside: beside).last
                }
            },
            person: { declaration throws(Mistakes) in
                try read { yaml throws(ConfigurationMistakes) in
                    DemoUser(Node(declaration), at: "user", &yaml, isForOthers: isForOthers)
                }
            })
    }

    private static func read<Value>(
        _ body: (inout YAMLReading) throws(ConfigurationMistakes) -> Value?
    ) throws(Mistakes) -> Value {
        var yaml = YAMLReading()
        var mistakes = ConfigurationMistakes()
        do throws(ConfigurationMistakes) {
            let value = try body(&yaml)
            if let value, yaml.mistakes.all.isEmpty { return value }
            mistakes = yaml.mistakes
        } catch {
            mistakes = error
        }
        throw Mistakes(mistakes.all.map { "\($0.key) \($0.reason)" })
    }
}

extension Node {
    /// Takes JSON as the YAML that it is. A member that is null is as good as none.
    fileprivate init(_ json: JSONValue) {
        self =
            switch json {
            case .object(let members):
                .mapping(
                    Mapping(
                        members.filter { $0.value != .null }.sorted { $0.key < $1.key }
                            .map { (Node($0.key), Node($0.value)) }))
            case .array(let elements): .sequence(Sequence(elements.map(Node.init)))
            case .string(let text): .scalar(Scalar(text))
            case .null, .bool, .integer, .number: .scalar(Scalar(json.text))
            }
    }
}
