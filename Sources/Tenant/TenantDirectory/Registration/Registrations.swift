import Foundation

/// The applications that the tenant knows.
package struct Registrations: Sendable {
    private struct Table: Sendable {
        let all: [DemoClient]
        let byID: [String: DemoClient]
        /// The applications by the audiences of their tokens, in lower case.
        let owners: [String: DemoClient]
        let scriptOrigins: Set<String>

        init(_ all: [DemoClient]) {
            self.all = all
            byID = Dictionary(all.map { ($0.id.lowercased(), $0) }) { first, _ in first }
            owners = Dictionary(
                all.flatMap { client in ([client.id] + client.exposes.keys).map { ($0.lowercased(), client) } }
            ) { first, _ in first }
            scriptOrigins = Set(all.flatMap(\.spaRedirectURIs).map(Registrations.origin))
        }
    }

    private let table: Live<Table>

    /// Graph's permissions.
    package let reference: PermissionReference

    package init(_ clients: [DemoClient], reference: PermissionReference) throws(DemoTenantError) {
        self.reference = reference
        for client in clients {
            guard let unknown = client.tenants?.first(where: { Tenant.id(ofDomain: $0) == nil }) else { continue }
            throw .client(client.name, reason: "the tenant '\(unknown)' is none of \(Tenant.domainList)")
        }
        let ids = Set(clients.map { $0.id.lowercased() })
        table = Live(Table(clients + DemoClient.samples.filter { !ids.contains($0.id) }))
        for client in clients { try checkApplicationRoles(of: client) }
        guard clients.contains(where: { $0.permissions != nil }) else { return }
        let scopes = Scopes(all, reference: reference)
        for client in clients { try checkPermissions(of: client, among: scopes) }
    }

    /// Becomes what another is, for everyone who has this one.
    func become(_ other: Registrations) { table.current = other.table.current }

    /// In the order of the configuration, Microsoft's samples last.
    package var all: [DemoClient] { table.current.all }

    /// Returns the application with an ID, whatever the tenant.
    package func client(id: String) -> DemoClient? { table.current.byID[id.lowercased()] }

    /// Returns the application whose API has this identifier or whose client ID it is; nil for Graph and for the
    /// tenants' own APIs.
    package func owner(of audience: String) -> DemoClient? { table.current.owners[audience.lowercased()] }

    /// Returns the application with an ID, if the tenant of the path knows it.
    package func client(id: String, at segment: TenantSegment) throws(PlatformError) -> DemoClient {
        guard let client = client(id: id) else { throw .unknownClient(id, at: segment) }
        guard let tenants = client.tenants else { return client }
        switch segment {
        case .tenant(let tenant) where !tenants.contains { Tenant.id(ofDomain: $0) == tenant }:
            throw .unknownClient(id, at: segment)
        case .userFlow where !tenants.contains(Tenant.fabrikamB2CDomain):
            throw .unknownClient(id, at: segment)
        case .consumers:
            guard tenants.contains(Tenant.outlookDomain) else { throw .notForConsumers(client) }
            return client
        case .common, .organizations:
            if tenants == [Tenant.outlookDomain] { throw .forConsumersOnly(client) }
            // An application of one tenant is no multi-tenant application.
            if tenants.count == 1 { throw .notMultiTenant(client) }
            return client
        default: return client
        }
    }

    /// Whether pages of an origin redeem codes with a script. Of localhost every port counts.
    package func isScript(origin: String) -> Bool {
        table.current.scriptOrigins.contains(Self.origin(of: origin))
    }

    /// Whether pages of an origin redeem an application's codes with a script.
    package func isScript(origin: String, of client: DemoClient) -> Bool {
        client.spaRedirectURIs.contains { Self.origin(of: $0) == Self.origin(of: origin) }
    }

    private static func origin(of uri: String) -> String {
        let url = URLComponents(string: uri)
        let host = url?.host?.lowercased() ?? ""
        let port = host == "localhost" ? nil : url?.port
        return "\(url?.scheme ?? "")://\(host)\(port.map { ":\($0)" } ?? "")"
    }

    /// The applications' names, by ID in lower case.
    package var names: [String: String] { table.current.byID.mapValues(\.name) }

    /// The page for people of the first application that has one.
    package var homeURL: String? { all.lazy.compactMap(\.homeURL).first }
}

extension PlatformError {
    static func unknownClient(_ id: String, at segment: TenantSegment) -> Self {
        guard !id.allSatisfy({ $0 == "0" || $0 == "-" }) else {
            return Self(
                error: "unauthorized_client", number: 700_038, message: "\(id) is not a valid application identifier.")
        }
        return Self(
            error: "unauthorized_client", number: 700016,
            message: "Application with identifier '\(id)' was not found in the directory '\(segment.directoryName)'. "
                + "\(notInstalled) You may have sent your authentication request to the wrong tenant."
        ).naming(id)
    }
    static func notMultiTenant(_ client: DemoClient) -> Self {
        Self(
            error: "unauthorized_client", number: 50194,
            message: "Application '\(client.id)'(\(client.name)) is not configured as a multi-tenant application. "
                + "Usage of the /common endpoint is not supported for such applications created after '10/15/2018'. Use a "
                + "tenant-specific endpoint or configure the application to be multi-tenant.")
    }
    static func forConsumersOnly(_ client: DemoClient) -> Self {
        Self(
            error: "invalid_request", number: 9_002_331,
            message: "Application '\(client.id)'(\(client.name)) is configured for use by Microsoft Account users "
                + "only. Please use the /consumers endpoint to serve this request.")
    }
    static func notForConsumers(_ client: DemoClient) -> Self {
        Self(
            error: "invalid_request", number: 9_002_332,
            message: "Application '\(client.id)'(\(client.name)) is configured for use by Azure Active Directory "
                + "users only. Please do not use the /consumers endpoint to serve this request.")
    }
}
