import Companion
import DemoTenant
import OpenIDConnect

/// What the demo configures: the tutorial's two apps, registered at the demo tenant.
enum DemoApplications {
    /// The registration's client id.
    static let clientID = "5d1f0a52-3c5e-4a8e-9d5c-0c0a3f1e7b10"

    static func all(tenant: DemoTenant, secret: String, redirectURI: String) throws -> [Application] {
        let authority = try Authority(tenant.authority)
        let registration = ClientRegistration(
            clientID: clientID, redirectURI: redirectURI, authentication: .secret(secret), scopes: ["user.read"])
        return [("ios", Application.Page.ios, "iOS tutorial"), ("macos", .macos, "macOS tutorial")].map {
            id, page, title in
            Application(
                id: id, page: page, title: title, authority: authority, registration: registration, api: tenant.graphURL
            )
        }
    }
}
