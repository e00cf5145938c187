/// The assignment of people and applications to applications.
extension Directory {
    /// Returns the values of the app roles that an account has at an application, of its own and as a direct member of
    /// groups; nil if it is not assigned to the application.
    package func roles(of account: DemoAccount, at client: DemoClient) -> [String]? {
        let assigned =
            [account.roles[client.id.lowercased()]].compactMap(\.self)
            + groups(of: account, transitive: false).compactMap { $0.roles[client.name] }
        guard !assigned.isEmpty else { return nil }
        return assigned.joined().reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

extension Registrations {
    /// Returns whether an application may get a token of its own for the API of another: always, unless that requires
    /// assignment.
    package func isAssigned(_ client: DemoClient, to owner: DemoClient) -> Bool {
        !owner.assignmentRequired || client.applicationRoles.keys.contains { self.owner(of: $0)?.id == owner.id }
    }
}

extension Grants {
    /// Returns the first application that requires an assignment which the account lacks: the client, or one whose API
    /// it asks for.
    package func missingAssignment(_ account: DemoAccount, _ client: DemoClient, scopes: [String]) -> DemoClient? {
        ([client] + self.scopes.resources(scopes).compactMap(registrations.owner)).first {
            $0.assignmentRequired && directory.roles(of: account, at: $0) == nil
        }
    }

    /// Throws if a consent to these scopes is missing, or an assignment.
    ///
    /// - Parameter isSilent: Whether no page has found out that an administrator has to consent first.
    package func checkConsent(
        of account: DemoAccount, to client: DemoClient, scopes: [String], isSilent: Bool = false
    ) throws(PlatformError) {
        let waitsForAdministrator = isSilent && needsAdministrator(account, for: client, scopes: scopes)
        guard !waitsForAdministrator, hasConsented(account, to: client, scopes: scopes) else {
            throw .notConsented(client)
        }
        if let application = missingAssignment(account, client, scopes: scopes) {
            throw .notAssigned(account, to: application)
        }
    }
}

extension PlatformError {
    package static func notAssigned(_ account: DemoAccount, to client: DemoClient) -> Self {
        Self(
            error: "invalid_grant", number: 50105,
            message:
                "Your administrator has configured the application \(client.name) ('\(client.id)') to block users unless they "
                + "are specifically granted ('assigned') access to the application. The signed in user "
                + "'\(account.username)' is blocked because they are not a direct member of a group with access, nor had "
                + "access directly assigned by an administrator. Please contact your administrator to assign access to this "
                + "application.")
    }
}
