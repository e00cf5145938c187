import TenantDirectory
import Yams

// The keys of native authentication in the configuration file of `companion tenant`
extension SignInMethod {
    static let words: KeyValuePairs<String, Self> = ["password": .password, "code": .code]
}

extension SecondFactorMethod {
    static let words: KeyValuePairs<String, Self?> = [
        "true": nil, "false": nil, "email": .email, "sms": .sms, "unregistered": .unregistered,
    ]
}

extension DemoClient.SignUpFlow {
    init(_ node: Node, at path: String, _ yaml: inout YAMLReading) {
        let fields = yaml.fields(node, at: path, ["method", "attributes"])
        self.init(
            method: yaml.choice(fields["method"], at: "\(path).method", SignInMethod.words) ?? .password,
            attributes: yaml.items(list: fields["attributes"], at: "\(path).attributes").compactMap { node, path in
                DemoClient.Attribute(node, at: path, &yaml)
            })
    }
}

extension DemoClient.Attribute {
    private static let words: KeyValuePairs<String, Kind> = [
        "string": .string, "boolean": .boolean, "integer": .integer,
    ]

    /// Reads an attribute, which is a name or has keys of its own.
    fileprivate init?(_ node: Node, at path: String, _ yaml: inout YAMLReading) {
        if case .scalar = node {
            guard let name = yaml.text(node, at: path) else { return nil }
            self.init(name: name)
            return
        }
        let fields = yaml.fields(node, at: path, ["name", "type", "required", "regex"])
        guard let name = yaml.text(fields["name"], at: "\(path).name") else {
            if fields["name"] == nil { yaml.add("needs a name", at: path, node) }
            return nil
        }
        let pattern = yaml.text(fields["regex"], at: "\(path).regex")
        if let pattern, Self.expression(pattern) == nil {
            yaml.add("is no regular expression", at: "\(path).regex", fields["regex"])
        }
        self.init(
            name: name, kind: yaml.choice(fields["type"], at: "\(path).type", Self.words) ?? .string,
            isRequired: fields["required"] == nil || yaml.flag(fields["required"], at: "\(path).required"),
            pattern: pattern)
    }
}
