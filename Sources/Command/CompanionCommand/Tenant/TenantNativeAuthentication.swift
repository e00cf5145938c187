import TenantDirectory
import Yams

/// The keys of native authentication in the configuration file of `companion tenant`.
extension TenantFile {
    /// An application's keys.
    struct NativeAuthentication: Equatable {
        static let keys = ["native_authentication", "public_client_flows", "user_flow"]

        var isEnabled = false
        /// Nil if native authentication and the redirect URIs decide.
        var publicClientFlows: Bool?
        /// Nil if none is assigned.
        var userFlow: DemoClient.SignUpFlow? = DemoClient.SignUpFlow()

        init() {}

        init(_ fields: [String: Node], at path: String, _ yaml: inout YAMLReading) {
            isEnabled = yaml.flag(fields["native_authentication"], at: "\(path).native_authentication")
            publicClientFlows = fields["public_client_flows"].map {
                yaml.flag($0, at: "\(path).public_client_flows")
            }
            guard let node = fields["user_flow"] else { return }
            if case .scalar(let scalar) = node, scalar.string == "none" {
                userFlow = nil
            } else {
                userFlow = DemoClient.SignUpFlow(node, at: "\(path).user_flow", &yaml)
            }
        }
    }

    /// A person's keys.
    struct NativePerson: Equatable {
        static let keys = ["sign_in", "mobile_phone", "blocked_contact"]

        var method = SignInMethod.password
        var secondFactor: SecondFactorMethod?
        var mobilePhone: String?
        var isContactBlocked = false

        init() {}

        init(_ fields: [String: Node], at path: String, _ yaml: inout YAMLReading) {
            method = yaml.choice(fields["sign_in"], at: "\(path).sign_in", SignInMethod.words) ?? .password
            mobilePhone = yaml.text(fields["mobile_phone"], at: "\(path).mobile_phone")
            isContactBlocked = yaml.flag(fields["blocked_contact"], at: "\(path).blocked_contact")
            if let node = fields["second_factor"], node.bool == nil {
                secondFactor = yaml.choice(node, at: "\(path).second_factor", SecondFactorMethod.words) ?? nil
            }
        }
    }
}

extension SignInMethod {
    static let words: KeyValuePairs<String, Self> = ["password": .password, "code": .code]
}

extension SecondFactorMethod {
    fileprivate static let words: KeyValuePairs<String, Self?> = [
        "true": nil, "false": nil, "email": .email, "sms": .sms, "unregistered": .unregistered,
    ]
}

extension DemoClient.SignUpFlow {
    fileprivate init(_ node: Node, at path: String, _ yaml: inout YAMLReading) {
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

extension DemoClient {
    /// Takes over the keys of native authentication.
    mutating func apply(_ keys: TenantFile.NativeAuthentication) {
        hasNativeAuthentication = keys.isEnabled
        publicClientFlows = keys.publicClientFlows
        signUpFlow = keys.userFlow
    }
}

extension DemoUser {
    /// Takes over the keys of native authentication.
    mutating func apply(_ keys: TenantFile.NativePerson) {
        (signInMethod, secondFactor) = (keys.method, keys.secondFactor)
        (mobilePhone, isContactBlocked) = (keys.mobilePhone, keys.isContactBlocked)
    }
}
