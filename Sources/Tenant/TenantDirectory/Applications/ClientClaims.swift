/// The parts of a registration that decide about claims.
extension DemoClient {
    /// The groups that tokens list (the manifest's `groupMembershipClaims`).
    public enum GroupMembershipClaims: String, Sendable, CaseIterable {
        /// No groups.
        case none = "None"
        /// Security groups and directory roles.
        case securityGroup = "SecurityGroup"
        /// The template IDs of directory roles, in `wids`.
        case directoryRole = "DirectoryRole"
        /// The groups that are assigned to the application, as far as the person is their direct member.
        case applicationGroup = "ApplicationGroup"
        /// Security groups, distribution groups and directory roles, and `wids`.
        case all = "All"
    }

    /// The claims that tokens have only on demand, by the kind of token.
    public struct OptionalClaims: Sendable, Hashable {
        /// Those of ID tokens for the application.
        public var idToken: [String]
        /// Those of access tokens for its API.
        public var accessToken: [String]

        /// Registers optional claims.
        public init(idToken: [String] = [], accessToken: [String] = []) {
            self.idToken = idToken
            self.accessToken = accessToken
        }

        /// The claims of ID tokens that the tenant knows.
        public static let knownInIDToken = [
            "acrs", "auth_time", "email", "family_name", "given_name", "login_hint", "sid", "upn",
        ]
        /// The claims of access tokens that the tenant knows.
        public static let knownInAccessToken = [
            "acrs", "email", "family_name", "given_name", "idtyp", "login_hint", "sid", "upn", "xms_cc",
        ]
    }

    /// A role that people or applications can have at an application.
    public struct AppRole: Sendable, Hashable, ExpressibleByStringLiteral {
        /// The kinds of members.
        public enum MemberType: String, Sendable, CaseIterable {
            case user = "User"
            case application = "Application"
        }

        /// The role's ID.
        public var id: String
        /// The value of the claim `roles`.
        public var value: String
        /// The name that people see.
        public var displayName: String
        /// Whether it can be assigned. Tokens of those who have it keep it.
        public var isEnabled: Bool
        /// The kinds of members that it is for.
        public var allowedMemberTypes: Set<MemberType>

        /// Defines a role.
        ///
        /// - Parameters:
        ///   - id: The ID; nil makes one from the value.
        ///   - displayName: The name; nil is the value.
        public init(
            value: String, id: String? = nil, displayName: String? = nil, isEnabled: Bool = true,
            allowed: Set<MemberType> = Set(MemberType.allCases)
        ) {
            self.id = id ?? nameBasedID("app role", value)
            self.value = value
            self.displayName = displayName ?? value
            self.isEnabled = isEnabled
            allowedMemberTypes = allowed
        }

        /// Defines a role for people and applications by its value.
        public init(stringLiteral value: String) { self.init(value: value) }
    }
}
