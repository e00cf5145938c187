import CompanionCore
import Foundation
import OpenIDConnect
import TenantServer

/// The applications of the demo: the tutorial apps, registered at the demo tenant.
enum DemoApplications {
    /// The client ID of the registration.
    static let clientID = "5d1f0a52-3c5e-4a8e-9d5c-0c0a3f1e7b10"

    /// The tenant's Graph, as an API that the portal may call.
    static func graph(of tenant: DemoTenant) -> AllowedAPI? {
        let paths = [
            "/me", "/me/memberOf", "/me/transitiveMemberOf", "/me/messages", "/users", "/users/*", "/groups",
        ].compactMap(APIPathPattern.init)
        let scopes = [
            ("/me/messages", "Mail.Read"), ("/users", "User.ReadBasic.All"), ("/users/*", "User.ReadBasic.All"),
            ("/groups", "Group.Read.All"),
        ].compactMap { path, scope in APIPathPattern(path).map { ($0, [scope]) } }
        return Endpoint(tenant.baseURL + "/v1.0").map {
            AllowedAPI(
                name: "graph", base: $0, paths: paths, scopes: Dictionary(scopes) { one, _ in one },
                applications: ["portal"])
        }
    }

    /// The tenant's payroll, an API of its own that demands an authentication context.
    static func payroll(of tenant: DemoTenant) -> AllowedAPI? {
        guard let path = APIPathPattern("/payroll"), let base = Endpoint(tenant.baseURL + "/api") else { return nil }
        return AllowedAPI(
            name: "payroll", base: base, paths: [path], scopes: [path: ["api://payroll.contoso.example/payslips.read"]],
            applications: ["portal"])
    }

    static func all(
        tenant: DemoTenant, secret: String, redirectURI: String, isShared: Bool
    ) throws -> [Application] {
        func registration(scopes: [String], capabilities: [String] = []) -> ClientRegistration {
            ClientRegistration(
                clientID: clientID, redirectURI: redirectURI, scopes: scopes,
                clientCapabilities: capabilities)
        }
        let credential = ClientCredential.fixed(.secret(secret))
        let workforce = try Authority(tenant.authority)
        let graph = registration(scopes: ["user.read"], capabilities: ["cp1"])
        let b2c = try Authority(tenant.b2cAuthority, kind: .b2c)
        let applications = [
            Application(
                id: "ios", page: .ios, title: "iOS tutorial", authority: workforce, registration: graph,
                credential: credential,
                api: Endpoint(tenant.graphURL)),
            Application(
                id: "macos", page: .macos, title: "macOS tutorial", authority: workforce, registration: graph,
                credential: credential,
                api: Endpoint(tenant.graphURL)),
            Application(
                id: "external", page: .external, title: "External tenant tutorial",
                authority: try Authority(tenant.externalAuthority, kind: .external),
                registration: registration(scopes: tenant.externalScopes), credential: credential,
                api: Endpoint(tenant.externalAPI)),
            Application(
                id: "b2c", page: .b2c, title: "Azure AD B2C tutorial", authority: b2c,
                userFlows: [
                    .editProfile: try b2c.withPolicy(tenant.b2cEditProfilePolicy),
                    .resetPassword: try b2c.withPolicy(tenant.b2cResetPasswordPolicy),
                ],
                registration: registration(scopes: tenant.b2cScopes), credential: credential,
                api: Endpoint(tenant.b2cAPI)),
            Application(
                id: "portal", page: .portal, title: "Test portal", authority: workforce, registration: graph,
                credential: credential,
                api: Endpoint(tenant.graphURL)),
        ]
        let kiosk = Application(
            id: "kiosk", page: .kiosk, title: "Demo kiosk", authority: workforce, registration: graph,
            credential: credential,
            api: Endpoint(tenant.graphURL))
        // A private device shows a preview of it.
        var all = isShared ? [kiosk] + applications : applications + [kiosk]
        // The secrets end as a team has typed it: the first one in a few days, the others months apart.
        for index in all.indices {
            all[index].clientSecretExpires = Date().addingTimeInterval((6 + 75 * Double(index)) * 86_400)
        }
        return all
    }
}
