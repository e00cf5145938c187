import DevelopmentCA
import Foundation
import TenantDirectory
import TenantServer
import WebFormats

/// The facts about a tenant that has started, for an app and its developer.
struct TenantAnnouncement {
    let tenant: DemoTenant
    let containerAddress: String?
    let development: DevelopmentCertificate?
    let rootURL: String?

    /// Those that are registered now.
    private var clients: [DemoClient] { tenant.clients }
    private var hasDemoAccounts: Bool { tenant.hasDemoAccounts }

    /// MSAL accepts no host without a dot for an external tenant.
    private var externalAuthority: String {
        tenant.externalAuthority.replacing("://localhost", with: "://127.0.0.1", maxReplacements: 1)
    }

    /// The tutorials have a slash at the end.
    private var graph: String { tenant.graphURL + "/" }

    /// One object for programs.
    var json: JSONValue {
        let authorities = [tenant.authority, tenant.b2cAuthority, externalAuthority]
        return [
            "authority": .string(tenant.authority), "b2c_authority": .string(tenant.b2cAuthority),
            "external_authority": .string(externalAuthority),
            "named_external_authority": .string(tenant.namedExternalAuthority),
            "known_authorities": .array(authorities.map(JSONValue.string)), "graph": .string(graph),
            "issuer": .string(tenant.organizationIssuer), "base_url": .string(tenant.baseURL),
            "control": .string(tenant.baseURL + "/control"),
            "ready": .string(tenant.baseURL + "/common/discovery/v2.0/keys"),
            "serves": hasDemoAccounts ? containerAddress == nil ? "machine" : "container_host" : "everyone",
            "pid": .integer(Int(ProcessInfo.processInfo.processIdentifier)),
            "root_file": development.map { .string($0.rootFile) } ?? .null,
            "root_url": rootURL.map(JSONValue.string) ?? .null,
            "clients": .array(clients.map(\.announced)), "users": .array(tenant.announcedPeople),
        ]
    }

    /// The text for people.
    var text: String {
        ([""] + lines + [""]).map { $0.isEmpty ? "" : "  " + $0 }.joined(separator: "\n")
    }

    private var lines: [String] {
        var lines = ["Companion's tenant: \(tenant.baseURL)"]
        if let containerAddress {
            lines += [
                "It listens on \(containerAddress) (COMPANION_DEMO_HOST), for this machine and the one on which its container",
                "runs. Others are refused: everyone knows the accounts' passwords.",
            ]
        }
        lines += [""]
        for client in clients {
            lines += [client.name, "  client ID         \(client.id)"]
            lines += client.announcedRedirectURIs.map { "  redirect URI      \($0)" }
        }
        lines += [
            "Microsoft's sample apps are registered too.", "",
            "authority           \(tenant.authority)",
            "external tenant     \(externalAuthority)",
            "  with its claims   \(tenant.namedExternalAuthority)",
            "B2C                 \(tenant.b2cAuthority)",
            "Microsoft Graph     \(graph)",
            "codes of devices    \(tenant.baseURL)/devicelogin",
            "failures on demand  \(tenant.baseURL)/control",
            "clients' requests   \(tenant.baseURL)/clients", "",
        ]
        lines += swift
        if hasDemoAccounts { lines += ["Sign in as adele@contoso.example, password: demo", ""] }
        if let development, let rootURL {
            let trust = TrustCommands(rootURL: rootURL, rootName: development.rootName)
            lines += ["So that a simulator on this Mac trusts the certificate:"]
            lines += (trust.fetch + trust.simulator).map { "  " + $0 }
            lines += [
                "For the Mac, Linux, browsers, Node and Python, and to take it away again: companion tenant trust", "",
            ]
        }
        return lines
    }

    /// Returns MSAL's class and the authority for an app: that of its tenant, if one alone knows it.
    private func authority(of app: DemoClient?) -> (type: String, url: String) {
        guard let tenants = app?.tenants, tenants.count == 1, let domain = tenants.first else {
            return ("MSALAADAuthority", tenant.authority)
        }
        if externalAuthority.hasSuffix("/\(domain)") { return ("MSALCIAMAuthority", externalAuthority) }
        if tenant.b2cAuthority.contains("/\(domain)/") { return ("MSALB2CAuthority", tenant.b2cAuthority) }
        return ("MSALAADAuthority", "\(tenant.baseURL)/\(domain)")
    }

    /// The lines for an app.
    private var swift: [String] {
        let app = clients.first { !$0.nativeRedirectURIs.isEmpty }
        let arguments = app.map {
            "clientId: \"\($0.id)\", redirectUri: \"\($0.nativeRedirectURIs[0])\", authority: authority"
        }
        let authority = authority(of: app)
        return [
            "let authority = try \(authority.type)(url: URL(string: \"\(authority.url)\")!)",
            "let configuration = MSALPublicClientApplicationConfig(",
            "    \(arguments ?? "clientId: kClientID, redirectUri: kRedirectUri, authority: authority"))",
            "configuration.knownAuthorities = [authority]",
            "let kGraphEndpoint = \"\(tenant.baseURL)/\"", "",
        ]
    }
}
