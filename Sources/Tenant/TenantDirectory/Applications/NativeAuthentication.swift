extension DemoClient {
    /// The user flow of an application at the external tenant: the rules by which people sign up.
    public struct SignUpFlow: Sendable, Hashable {
        /// The way in which people sign in who sign up here.
        public var method: SignInMethod
        /// The attributes that it collects.
        public var attributes: [Attribute]

        /// Creates a user flow.
        public init(method: SignInMethod = .password, attributes: [Attribute] = []) {
            self.method = method
            self.attributes = attributes
        }
    }

    /// An attribute that a user flow collects.
    public struct Attribute: Sendable, Hashable {
        /// The kinds of values.
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// Any text.
            case string
            /// `true` or `false`.
            case boolean
            /// Digits.
            case integer
        }

        /// The largest number of characters of a value.
        public static let mostCharacters = 256

        /// Its name, such as `displayName`.
        public var name: String
        /// The kind of its values.
        public var kind: Kind
        /// Whether nobody signs up without it.
        public var isRequired: Bool
        /// The regular expression that a value has to match; nil for all values.
        public var pattern: String?

        /// Creates an attribute.
        public init(name: String, kind: Kind = .string, isRequired: Bool = true, pattern: String? = nil) {
            self.name = name
            self.kind = kind
            self.isRequired = isRequired
            self.pattern = pattern
        }

        /// Whether a text can be its value.
        package func accepts(_ text: String) -> Bool {
            guard text.count <= Self.mostCharacters else { return false }
            let isOfKind =
                switch kind {
                case .string: true
                case .boolean: ["true", "false"].contains(text.lowercased())
                case .integer: Int(text) != nil
                }
            guard isOfKind, let pattern else { return isOfKind }
            return Self.expression(pattern).map { (try? $0.firstMatch(in: text)) != nil } ?? false
        }

        /// Returns a regular expression; nil if it cannot be read.
        public static func expression(_ pattern: String) -> Regex<AnyRegexOutput>? { try? Regex(pattern) }
    }

    /// The application with which native authentication works without a configuration.
    package static let nativeSample: DemoClient = {
        var client = DemoClient(
            id: "7f1c5d0e-2b96-4a83-9e47-d05b8c3f6a12", name: "Native authentication",
            native: [redirectURI(ofBundle: "com.fabrikam.customers")])
        client.tenants = [Tenant.fabrikamDomain]
        client.hasNativeAuthentication = true
        return client
    }()
}
