import HTTPServer
import HTTPWire
import TenantControl
import TenantDirectory
import TenantGraph
import TenantSignIn
import WebFormats

/// A request that has reached one of the tenant's addresses.
struct Arrival: Sendable {
    let head: RequestHead
    let peer: PeerAddress
    /// The parts of the path at the placeholders of the pattern.
    let parameters: [String: String]
    /// The tenant in the path, and the user flow of B2C with it; nil at an address outside of tenants.
    var tenant: String?
    /// The same, parsed; nil if there is no such tenant.
    var segment: TenantSegment?
    /// The path below the tenant, as it was written.
    var endpoint = ""
}

/// The tenant's addresses. A route returns nil where there is nothing for this request.
enum TenantRoutes {
    typealias Route = @Sendable (DemoResponder, Arrival) -> Reply?

    /// The addresses outside of tenants.
    static let fixed = RouteTable<Route>([
        "/": { _, _ in .response(.redirect(to: "/control", status: .found)) },
        "/assets/{path...}": { tenant, at in tenant.assets[at.head.path].map(Reply.asset) },
        "/error": { tenant, at in .response(tenant.explanation(of: at.head)) },

        // For who may cause failures
        "/control": { tenant, at in tenant.local(at) { tenant.control(at) } },
        "/control/announcement": { tenant, at in
            tenant.local(at) {
                tenant.announcement.value.map { announce in tenant.handler(at) { _ in .json(.ok, announce()) } }
            }
        },
        "/control/logout-token": { tenant, at in
            tenant.local(at) { tenant.handler(at, needsKeys: true) { tenant.controlHandler.logoutToken($0) } }
        },
        "/control/{kind}": { tenant, at in tenant.local(at) { tenant.collection(at) } },
        "/control/{kind}/{name}": { tenant, at in tenant.local(at) { tenant.collection(at) } },
        "/clients": { tenant, at in tenant.local(at) { tenant.handler(at) { tenant.clients.show($0) } } },
        "/outbox": { tenant, at in tenant.local(at) { tenant.handler(at) { await tenant.outbox.show($0) } } },

        // APIs
        "/v1.0/{path...}": { $0.graph($1) },
        "/beta/{path...}": { $0.graph($1) },
        "/oidc/userinfo": { tenant, at in tenant.api(at) { await tenant.graph.userInfo($0) } },
        "/api/{name}": { tenant, at in
            at.parameters["name"].flatMap { OwnAPI(rawValue: $0) }.map { own in
                tenant.api(at) { await tenant.graph.ownAPI($0, own) }
            }
        },
    ])

    /// The addresses of each tenant, in lower case.
    static let ofEach: RouteTable<Route> = {
        var table = RouteTable<Route>([
            "/v2.0/.well-known/openid-configuration": { tenant, at in
                tenant.document(at) { tenant.identity.discovery($0) }
            },
            "/discovery/instance": { tenant, at in
                guard at.segment == .common else { return nil }
                return tenant.metadata(at) { tenant.identity.instanceDiscovery($0) }
            },
            "/discovery/v2.0/keys": { tenant, at in
                tenant.document(at, needsKeys: true) { tenant.identity.keys($0) }
            },
            "/oauth2/v2.0/authorize": { tenant, at in
                tenant.page(at) { tenant.identity.authorize($0, segment: $1) }
            },
            // An ID token can say which application asks.
            "/oauth2/v2.0/logout": { tenant, at in
                tenant.page(at, needsKeys: true) { tenant.identity.logout($0, segment: $1) }
            },
            "/v2.0/adminconsent": { tenant, at in
                tenant.page(at) { tenant.identity.adminConsent($0, segment: $1) }
            },
            "/login": { tenant, at in
                tenant.form(at, { tenant.identity.showSignIn($0) }, { tenant.identity.continueSignIn($0) })
            },
            "/logout": { tenant, at in
                tenant.form(at, { tenant.identity.showLogout($0) }, { tenant.identity.continueLogout($0) })
            },
            // The address `/devicelogin` has no tenant.
            "/": { tenant, at in
                guard at.tenant?.lowercased() == "devicelogin", tenant.identity.offersDeviceSignIn else { return nil }
                return tenant.form(
                    at, { tenant.identity.showDeviceLogin($0) }, { tenant.identity.continueDeviceLogin($0) })
            },
            "/oauth2/v2.0/devicecode": { tenant, at in
                guard tenant.identity.offersDeviceSignIn, at.segment?.userFlow == nil else { return nil }
                return tenant.posted(at) { await tenant.identity.deviceCode($0, segment: $1) }
            },
            "/oauth2/v2.0/token": { tenant, at in
                tenant.posted(at) { await tenant.identity.token($0, segment: $1) }
            },
            "/oauth2/v2.0/revoke": { tenant, at in
                guard at.head.method == .post, let segment = at.segment else { return nil }
                return tenant.handler(at) {
                    tenant.platform.controls.settings.isGeneric
                        ? tenant.identity.revoke($0, segment: segment) : tenant.absence($0.head)
                }
            },
        ])
        for endpoint in Controls.NativeEndpoint.allCases where endpoint != .token {
            table.add("/\(endpoint.rawValue)") { $0.native($1, endpoint) }
        }
        return table
    }()

    /// The addresses of a tenant that has the endpoints of version 1 as well.
    static let ofVersion1 = RouteTable<Route>([
        "/.well-known/openid-configuration": { tenant, at in
            tenant.document(at) { tenant.identity.discovery1($0) }
        },
        "/discovery/keys": { tenant, at in
            tenant.document(at, needsKeys: true) { tenant.identity.keys($0, isVersion1: true) }
        },
        "/oauth2/authorize": { tenant, at in
            tenant.page(at) { tenant.identity.authorize($0, segment: $1, isVersion1: true) }
        },
        "/oauth2/logout": { tenant, at in
            tenant.page(at, needsKeys: true) { tenant.identity.logout($0, segment: $1) }
        },
        "/adminconsent": { tenant, at in
            tenant.page(at) { tenant.identity.adminConsent($0, segment: $1, isVersion1: true) }
        },
        "/oauth2/devicecode": { tenant, at in
            guard tenant.identity.offersDeviceSignIn else { return nil }
            return tenant.posted(at) { await tenant.identity.deviceCode($0, segment: $1, isVersion1: true) }
        },
        "/oauth2/token": { tenant, at in
            tenant.posted(at) { await tenant.identity.token($0, segment: $1, isVersion1: true) }
        },
        "/openid/userinfo": { tenant, at in tenant.api(at) { await tenant.graph.userInfo($0) } },
        "/userrealm/{user}": { tenant, at in
            // The name is answered as it was written.
            .response(tenant.identity.userRealm(String(at.endpoint.dropFirst("userrealm/".count))))
        },
    ])
}
