import TenantDirectory
import WebFormats

/// The actions that return IDs of groups. They are transitive and have no pages.
extension GraphCall {
    /// The largest number of IDs that `getMemberGroups` returns.
    private static let maxGroups = 11_000
    private static let maxCheckedGroups = 20

    /// `POST /me/getMemberObjects`: groups and directory roles.
    func memberObjects(of account: DemoAccount) throws(GraphError) -> GraphAnswer {
        .identifiers(try groups(of: account).map(\.id))
    }

    /// `POST /me/getMemberGroups`
    func memberGroups(of account: DemoAccount) throws(GraphError) -> GraphAnswer {
        let groups = try groups(of: account).filter { !$0.isRole }
        guard groups.count <= Self.maxGroups else {
            throw GraphError(
                status: .badRequest, code: "Directory_ResultSizeLimitExceeded",
                message: "The size of the result exceeds the limit of \(Self.maxGroups).")
        }
        return .identifiers(groups.map(\.id))
    }

    /// `POST /me/checkMemberGroups`: those of the given groups that the person is in.
    func checkedGroups(of account: DemoAccount) throws(GraphError) -> GraphAnswer {
        guard let asked = try body()["groupIds"]?.array?.map(\.string), !asked.contains(nil) else {
            throw .badRequest("The parameter 'groupIds' is no collection of strings.")
        }
        guard asked.count <= Self.maxCheckedGroups else {
            throw .badDirectoryRequest("There are more than \(Self.maxCheckedGroups) IDs in 'groupIds'.")
        }
        let groups = graph.groups(of: account, in: tenantID, transitive: true).filter { !$0.isRole }
        return .identifiers(asked.compactMap(\.self).filter { id in groups.contains { $0.id == id.lowercased() } })
    }

    private func groups(of account: DemoAccount) throws(GraphError) -> [DemoGroup] {
        guard let securityOnly = try body()["securityEnabledOnly"]?.bool else {
            throw .badRequest("The parameter 'securityEnabledOnly' is no Boolean.")
        }
        return graph.groups(of: account, in: tenantID, transitive: true)
            .filter { !securityOnly || $0.kind == .security }
    }

    /// Returns the JSON object of the body.
    func body() throws(GraphError) -> JSONValue {
        guard let body = JSONValue(parsing: request.body), body.object != nil else {
            throw .badRequest(
                "Unable to read JSON request payload. Please ensure Content-Type header is set and payload is of "
                    + "valid JSON format.")
        }
        return body
    }
}
