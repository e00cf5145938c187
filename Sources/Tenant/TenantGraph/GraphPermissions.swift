/// The permissions that are enough for a call of Graph. Each set in a list is enough by itself.
///
/// Source: the tables of permissions in Graph's reference, v1.0.
struct GraphPermissions: Sendable {
    /// In a person's token, for their own objects and for those that belong to nobody.
    let own: [[String]]
    /// In a person's token, for other people's objects.
    let others: [[String]]
    /// In an application's own token.
    let application: [[String]]
    /// Whether personal accounts have the resource, which have no directory.
    let hasPersonal: Bool
    /// The error for a token without these permissions, if it is not the directory's.
    let refusal: GraphError?

    private init(
        own: [[String]], others: [[String]]? = nil, application: [[String]]? = nil, hasPersonal: Bool = false,
        refusal: GraphError? = nil
    ) {
        self.own = own
        self.others = others ?? own
        self.application = application ?? others ?? own
        self.hasPersonal = hasPersonal
        self.refusal = refusal
    }

    /// A token is enough, whatever its permissions: the requests of a batch are judged one by one.
    static let none = Self(own: [[]], hasPersonal: true)
    static let profile = Self(
        own: [["User.Read"]], others: [["User.ReadBasic.All"]], application: [["User.Read.All"]], hasPersonal: true)
    static let people = Self(own: [["User.ReadBasic.All"]], application: [["User.Read.All"]])
    static let memberships = Self(
        own: [["User.Read"], ["GroupMember.Read.All"]], others: [["User.Read.All"], ["GroupMember.Read.All"]])
    static let memberObjects = Self(own: [["User.Read"]], others: [["User.Read.All"]])
    static let memberGroups = Self(
        own: [["User.Read", "GroupMember.Read.All"]], others: [["User.ReadBasic.All", "GroupMember.Read.All"]],
        application: [["User.Read.All"]])
    static let checkedGroups = Self(
        own: [["User.ReadBasic.All", "GroupMember.Read.All"]], application: [["User.Read.All"]])
    static let mail = Self(
        own: [["Mail.Read"]], others: [], application: [["Mail.Read"]], hasPersonal: true,
        refusal: GraphError(
            status: .forbidden, code: "ErrorAccessDenied",
            message: "Access is denied. Check credentials and try again."))
    static let groups = Self(own: [["GroupMember.Read.All"]])
    static let organization = Self(own: [["User.Read"]], application: [["Directory.Read.All"]])
    static let applications = Self(own: [["Application.Read.All"]])
    static let applicationChanges = Self(own: [["Application.ReadWrite.All"]])
    static let peopleChanges = Self(own: [["User.ReadWrite.All"]])
    static let revocation = Self(own: [["User.RevokeSessions.All"], ["User.ReadWrite.All"]])
    static let grants = Self(own: [["Directory.Read.All"]])

    /// The permissions that a permission contains.
    private static let contents = [
        "User.ReadWrite": ["User.Read"], "User.ReadBasic.All": ["User.Read"],
        "User.Read.All": ["User.ReadBasic.All", "User.Read"], "Group.Read.All": ["GroupMember.Read.All"],
        "User.ReadWrite.All": ["User.ReadWrite", "User.Read.All", "User.ReadBasic.All", "User.Read"],
        "Application.ReadWrite.All": ["Application.Read.All"], "Mail.ReadWrite": ["Mail.Read"],
        "Directory.Read.All": directory,
        "Directory.ReadWrite.All": directory + [
            "Directory.Read.All", "User.ReadWrite.All", "User.ReadWrite", "Application.ReadWrite.All",
        ],
    ]
    private static let directory = [
        "User.Read.All", "User.ReadBasic.All", "User.Read", "Group.Read.All", "GroupMember.Read.All",
        "Application.Read.All",
    ]

    /// Throws the error for a token whose permissions are not enough.
    ///
    /// - Parameter isOwn: Whether the call is not about other people's objects.
    func check(_ caller: GraphCaller, isOwn: Bool) throws(GraphError) {
        let needs = caller.account == nil ? application : isOwn ? own : others
        let held = Set(caller.permissions.flatMap { [$0] + (Self.contents[$0] ?? []) })
        guard !needs.contains(where: { $0.allSatisfy(held.contains) }) else { return }
        throw refusal ?? .denied(needs)
    }
}
