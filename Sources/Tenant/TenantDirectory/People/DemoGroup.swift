/// A group of the directory, or a directory role, whose members are people and groups.
public struct DemoGroup: Sendable, Hashable {
    /// The kinds of groups that differ in tokens.
    public enum Kind: Sendable, Hashable {
        case security
        /// For mail alone. Only tokens with all groups list it.
        case distribution
        /// An administrator role, with the ID of its template, which is the same in every directory.
        case role(templateID: String)
    }

    /// The object ID.
    public var id: String
    /// The name, by which people and other groups refer to it.
    public var name: String
    /// The kind, which decides in which claims it stands.
    public var kind: Kind
    /// The names of the groups that it is a member of.
    public var memberOf: [String]
    /// The values of app roles that its direct members have, by the application's name. An empty list assigns the
    /// group to the application without a role.
    public var roles: [String: [String]]

    /// Creates a group.
    ///
    /// - Parameters:
    ///   - id: The object ID; nil makes one from the name.
    ///   - kind: nil makes it a directory role if it has the name of one, otherwise a security group.
    public init(
        name: String, id: String? = nil, kind: Kind? = nil, memberOf: [String] = [], roles: [String: [String]] = [:]
    ) {
        self.id = id ?? nameBasedID("group", name)
        self.name = name
        self.kind = kind ?? Self.roleTemplates[name].map(Kind.role) ?? .security
        self.memberOf = memberOf
        self.roles = roles
    }

    /// The template IDs of Entra's directory roles by name, as far as the tenant knows them.
    ///
    /// Source: learn.microsoft.com, "Microsoft Entra built-in roles".
    public static let roleTemplates = [
        "Application Administrator": "9b895d92-2cd3-44c7-9d02-a6ac2d5ea5c3",
        "Cloud Application Administrator": "158c047a-c907-4556-b7ef-446551a6b5f7",
        "Directory Readers": "88d8e3e3-8f55-4a1e-953a-9b9898b8876b",
        "Global Administrator": "62e90394-69f5-4237-9190-012177145e10",
        "Global Reader": "f2ef992c-3afb-46b9-b7cf-a126ee74c451",
        "Groups Administrator": "fdd7a751-b60b-444a-984c-02652fe8fa1c",
        "Helpdesk Administrator": "729827e3-9c14-49f7-bb1b-9608f156bbb8",
        "Privileged Role Administrator": "e8611ab8-c189-46e8-94e1-60213ab1f814",
        "Security Administrator": "194ae4cb-b126-40b2-bd5b-6091b380977d",
        "Security Reader": "5d6b6bb7-de71-4623-b4af-96380a352509",
        "User Administrator": "fe930be7-5e62-47db-91af-98c3a49a38b1",
    ]

    /// The groups of the built-in accounts. One is nested, and one is a directory role.
    static let builtIn = [
        DemoGroup(name: "All Employees"),
        DemoGroup(name: "Marketing", memberOf: ["All Employees"]),
        DemoGroup(name: "Newsletter", kind: .distribution),
        DemoGroup(name: "Retail", memberOf: ["All Employees"]),
        DemoGroup(name: "User Administrator"),
    ]
}
