import HTTPTypes
import TenantDirectory

/// One resource of Graph: its method, path and permissions, and the function that answers.
struct GraphRoute: Sendable {
    typealias Answer = @Sendable (GraphCall) async throws(GraphError) -> GraphAnswer
    /// A function of a call.
    typealias Function = @Sendable (GraphCall) -> () async throws(GraphError) -> GraphAnswer
    /// A function of a call that is about a person.
    typealias PersonFunction = @Sendable (GraphCall) -> (DemoAccount) async throws(GraphError) -> GraphAnswer

    let method: HTTPRequest.Method
    /// The parts of the path in lower case. An asterisk stands for a key.
    let path: [String]
    let permissions: GraphPermissions
    let answer: Answer

    static let table = ofPeople + ofDirectory

    private static let ofPeople: [GraphRoute] =
        person("", .profile, GraphCall.user)
        + person("/photo", .profile, GraphCall.photo)
        + person("/photo/$value", .profile, GraphCall.picture)
        + person("/photos", .profile, GraphCall.photos)
        + person("/photos/*", .profile, GraphCall.sizedPhoto)
        + person("/photos/*/$value", .profile, GraphCall.sizedPicture)
        + person("/memberof", .memberships, GraphCall.directMemberships)
        + person("/transitivememberof", .memberships, GraphCall.transitiveMemberships)
        + person("/getmemberobjects", .memberObjects, GraphCall.memberObjects, method: .post)
        + person("/getmembergroups", .memberGroups, GraphCall.memberGroups, method: .post)
        + person("/checkmembergroups", .checkedGroups, GraphCall.checkedGroups, method: .post)
        + person("/revokesigninsessions", .revocation, GraphCall.revokeSessions, method: .post)
        + person("/messages", .mail, GraphCall.messages)
        + person("/messages/*", .mail, GraphCall.message)

    private static let ofDirectory: [GraphRoute] = [
        resource("users", .people, GraphCall.users),
        resource("groups", .groups, GraphCall.groups),
        resource("groups/*", .groups, GraphCall.group),
        resource("groups/*/members", .groups, GraphCall.members),
        resource("organization", .organization, GraphCall.organizations),
        resource("organization/*", .organization, GraphCall.organization),
        resource("applications", .applications, GraphCall.applications),
        resource("applications/*", .applications, GraphCall.application),
        resource("applications", .applicationChanges, GraphCall.addApplication, method: .post),
        resource("applications/*", .applicationChanges, GraphCall.changeApplication, method: .patch),
        resource("applications/*", .applicationChanges, GraphCall.removeApplication, method: .delete),
        resource("applications/*/addpassword", .applicationChanges, GraphCall.addPassword, method: .post),
        resource("applications/*/removepassword", .applicationChanges, GraphCall.removePassword, method: .post),
        resource("users", .peopleChanges, GraphCall.addPerson, method: .post),
        resource("users/*", .peopleChanges, GraphCall.changePerson, method: .patch),
        resource("users/*", .peopleChanges, GraphCall.removePerson, method: .delete),
        resource("serviceprincipals", .applications, GraphCall.servicePrincipals),
        resource("serviceprincipals/*", .applications, GraphCall.servicePrincipal),
        resource("serviceprincipals/*/oauth2permissiongrants", .grants, GraphCall.permissionGrantsOfPrincipal),
        resource("serviceprincipals/*/approleassignments", .applications, GraphCall.appRoleAssignments),
        resource("serviceprincipals/*/approleassignedto", .applications, GraphCall.appRoleAssignedTo),
        resource("oauth2permissiongrants", .grants, GraphCall.permissionGrants),
        GraphRoute(method: .post, path: ["$batch"], permissions: .none) { call throws(GraphError) in
            try await call.batch()
        },
    ]

    /// Returns the resource with a path, and the keys in it.
    static func find(
        _ path: GraphPath, _ method: HTTPRequest.Method
    ) throws(GraphError) -> (route: GraphRoute, keys: [String]) {
        let names = path.parts.map { $0.lowercased() }
        let found = table.filter { $0.matches(names) }
        guard !found.isEmpty else { throw .unknownSegment(path.parts.joined(separator: "/")) }
        guard let route = found.first(where: { $0.method == method || $0.method == .get && method == .head }) else {
            throw .methodNotAllowed(found.map(\.method.rawValue).joined(separator: ", "))
        }
        return (route, zip(route.path, path.parts).filter { $0.0 == "*" }.map(\.1))
    }

    private func matches(_ names: [String]) -> Bool {
        names.count == path.count && zip(path, names).allSatisfy { $0 == "*" || $0 == $1 }
    }

    // MARK: Entries

    private static func resource(
        _ path: String, _ permissions: GraphPermissions, _ function: @escaping Function,
        method: HTTPRequest.Method = .get
    ) -> GraphRoute {
        GraphRoute(method: method, path: parts(path), permissions: permissions) { call throws(GraphError) in
            try call.authorize(permissions)
            return try await function(call)()
        }
    }

    /// Returns a resource of the signed-in person, and the same of a person by key.
    private static func person(
        _ path: String, _ permissions: GraphPermissions, _ function: @escaping PersonFunction,
        method: HTTPRequest.Method = .get
    ) -> [GraphRoute] {
        [
            GraphRoute(method: method, path: parts("me" + path), permissions: permissions) { call throws(GraphError) in
                guard let account = call.caller.account else { throw .needsPerson("/me") }
                try call.authorize(permissions)
                return try await function(call)(account)
            },
            GraphRoute(method: method, path: parts("users/*" + path), permissions: permissions) {
                call throws(GraphError) in
                let account = call.person()
                try call.authorize(permissions, isOwn: account != nil && account == call.caller.account)
                guard let account else { throw .notFound(call.key) }
                return try await function(call)(account)
            },
        ]
    }

    private static func parts(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }
}

extension GraphError {
    static func methodNotAllowed(_ allowed: String) -> Self {
        Self(
            status: .methodNotAllowed, code: "Request_BadRequest",
            message: "Specified HTTP method is not allowed for the request target.", allow: allowed)
    }

    /// The error for an application's own token at a resource of the signed-in person.
    static func needsPerson(_ path: String) -> Self {
        .badRequest("\(path) request is only valid with delegated authentication flow.")
    }
}
