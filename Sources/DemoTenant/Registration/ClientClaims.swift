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

        /// Graph's roles for applications that the tenant knows, with their real IDs.
        static let graph = [
            AppRole(
                value: "Application.Read.All", id: "9a5d68dd-52b0-4cc2-bd40-abcf44ac3a30",
                displayName: "Read all applications", allowed: [.application]),
            AppRole(
                value: "Directory.Read.All", id: "7ab1d382-f21e-4acd-a863-ba3e13f7da61",
                displayName: "Read directory data", allowed: [.application]),
            AppRole(
                value: "Group.Read.All", id: "5b567255-7703-4780-807c-7be8301ae99b", displayName: "Read all groups",
                allowed: [.application]),
            AppRole(
                value: "GroupMember.Read.All", id: "98830695-27a2-44f7-8c18-0c3ebc9698f6",
                displayName: "Read all group memberships", allowed: [.application]),
            AppRole(
                value: "Mail.Read", id: "810c84a8-4a9e-49e6-bf7d-12d183f40d01",
                displayName: "Read mail in all mailboxes", allowed: [.application]),
            AppRole(
                value: "User.Read.All", id: "df021288-bdef-4463-88db-98f22de89214",
                displayName: "Read all users’ full profiles", allowed: [.application]),
        ]
    }
}
