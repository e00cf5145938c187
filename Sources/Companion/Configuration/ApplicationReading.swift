import Foundation
import OpenIDConnect

/// One application of the configuration: what each kind of identity platform needs, and what it may leave out.
extension ConfigurationReading {
    mutating func application(_ id: String, publicURL: PublicURL) -> Application? {
        let prefix = "apps.\(id)"
        let before = mistakes.all.count
        let letters = id.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        if id.isEmpty || !letters || Route.reserved.contains(id) {
            mistakes.add(
                prefix, "is no name for an application; use lower-case letters, digits and -, not api, auth or assets")
        }
        let page: Application.Page? = choice("\(prefix).page") ?? Application.Page(rawValue: id)
        if page == nil {
            let pages = Application.Page.allCases.map(\.rawValue).joined(separator: ", ")
            mistakes.add("\(prefix).page", "is missing; say which page to show: \(pages)")
        }
        let kind: Application.Kind = choice("\(prefix).kind") ?? .workforce
        let clientID = text("\(prefix).client_id") ?? ""
        if clientID.isEmpty {
            mistakes.add("\(prefix).client_id", "is missing; copy “Application (client) ID” from the app registration")
        }
        let credential = credential(prefix, publicURL: publicURL)
        let (authority, userFlows) = authorities(prefix, kind: kind)
        let api = api(prefix, kind: kind)
        let promptText = text("\(prefix).prompt")
        let prompt = promptText.flatMap(Prompt.init(rawValue:))
        if let promptText, prompt == nil || prompt == Prompt.none, promptText != SignInOptions.ifNecessary {
            mistakes.add(
                "\(prefix).prompt",
                "must be if_necessary, select_account, login, consent or create, not “\(promptText)”")
        }
        let extra = list("\(prefix).extra_query_parameters")
        for name in extra
        where AuthorizationRequest.ownParameters.contains(name) || SignInOptions.ownFields.contains(name) {
            mistakes.add("\(prefix).extra_query_parameters", "has “\(name)”, which the companion sets by itself")
        }
        let tenants = listedTenants(prefix)
        let allowedUsers = authority.map { listedUsers(prefix, at: $0, tenants: tenants) } ?? []
        let redirectURI: RedirectURI = choice("\(prefix).redirect_uri") ?? .shared
        let expires = date("\(prefix).client_secret_expires")
        guard mistakes.all.count == before, let page, let authority else { return nil }
        var application = Application(
            id: id, page: page, title: text("\(prefix).title") ?? page.title, authority: authority,
            userFlows: userFlows,
            registration: ClientRegistration(
                clientID: clientID,
                redirectURI: redirectURI == .own ? publicURL.redirectURI(ofApplication: id) : publicURL.redirectURI,
                authentication: .publicClient,
                scopes: scopes(prefix, kind: kind, clientID: clientID),
                allowedTenants: tenants,
                clientCapabilities: kind == .workforce ? ["cp1"] : []),
            credential: credential, api: api,
            prompt: promptText == nil ? (kind == .oidc ? nil : .selectAccount) : prompt, extraQueryParameters: extra)
        application.allowedUsers = allowedUsers
        application.clientSecretExpires = expires
        return application
    }

    /// Whether providers send people back to an address of all applications or of this one alone.
    private enum RedirectURI: String, CaseIterable { case shared, own }

    // MARK: Who may sign in

    private mutating func listedTenants(_ prefix: String) -> [String] {
        let tenants = list("\(prefix).allowed_tenants")
        for tenant in tenants where UUID(uuidString: tenant) == nil {
            mistakes.add(
                "\(prefix).allowed_tenants",
                "has “\(tenant)”, which is no tenant id; copy “Directory (tenant) ID” from that tenant's overview page")
        }
        return tenants
    }

    private mutating func listedUsers(
        _ prefix: String, at authority: Authority, tenants: [String]
    ) -> [AllowedUser] {
        list("\(prefix).allowed_users").flatMap { user in
            do throws(AllowedUser.Mistake) {
                return try AllowedUser.entries(user, at: authority, listed: tenants)
            } catch {
                mistakes.add("\(prefix).allowed_users", "has “\(user)”, which \(error.reason)")
                return []
            }
        }
    }

    // MARK: Authorities

    private mutating func authorities(
        _ prefix: String, kind: Application.Kind
    ) -> (Authority?, [Application.UserFlow: Authority]) {
        let policies = Application.UserFlow.allCases.compactMap { flow in
            text("\(prefix).policies.\(flow.rawValue)").map { (flow, $0) }
        }
        if kind != .b2c, let (flow, _) = policies.first {
            mistakes.add("\(prefix).policies.\(flow.rawValue)", "belongs to the kind b2c, not \(kind.rawValue)")
        }
        guard var configured = text("\(prefix).authority") ?? (kind == .workforce ? Self.commonAuthority : nil) else {
            mistakes.add("\(prefix).authority", "is missing; write it as \(kind.authorityExample)")
            return (nil, [:])
        }
        let named = Dictionary(policies) { first, _ in first }
        // The sign-in flow may stand in the authority, or beside it.
        if kind == .b2c, let signIn = named[.signIn], !configured.lowercased().hasSuffix("/" + signIn.lowercased()) {
            configured += (configured.hasSuffix("/") ? "" : "/") + signIn
        }
        let authority: Authority
        do {
            authority = try Authority(configured, kind: kind)
        } catch {
            mistakes.add("\(prefix).authority", "“\(configured)” \(error)")
            return (nil, [:])
        }
        var userFlows: [Application.UserFlow: Authority] = [:]
        for (flow, policy) in policies where kind == .b2c && flow != .signIn {
            do {
                userFlows[flow] = try authority.withPolicy(policy)
            } catch {
                mistakes.add("\(prefix).policies.\(flow.rawValue)", "“\(policy)” \(error)")
            }
        }
        return (authority, userFlows)
    }

    private static var commonAuthority: String { "https://login.microsoftonline.com/common" }

    // MARK: The API

    private mutating func api(_ prefix: String, kind: Application.Kind) -> String? {
        let configured = text("\(prefix).api") ?? (kind == .workforce ? "https://graph.microsoft.com/v1.0/me" : nil)
        guard let configured else {
            if kind != .oidc {
                mistakes.add("\(prefix).api", "is missing; a tenant of the kind \(kind.rawValue) has an API of its own")
            }
            return nil
        }
        let url = URL(string: configured)
        let isOutbound =
            url?.scheme == "https" || (url?.scheme == "http" && PublicURL.isLoopback(url?.host ?? ""))
        if !isOutbound || (url?.host ?? "").isEmpty {
            mistakes.add("\(prefix).api", "must be an https:// URL (http:// only for localhost)")
        }
        return configured
    }

    private func scopes(_ prefix: String, kind: Application.Kind, clientID: String) -> [String] {
        let scopes = list("\(prefix).scopes")
        if !scopes.isEmpty { return scopes }
        return switch kind {
        case .workforce: ["user.read"]
        // B2C gives an access token for the application itself, which is what its own API takes.
        case .b2c: [clientID]
        case .external, .oidc: []
        }
    }

    // MARK: Client authentication

    private mutating func credential(_ prefix: String, publicURL: PublicURL) -> ClientCredential {
        let method: ClientAuthentication.SecretMethod? = choice("\(prefix).client_authentication")
        let names = ["client_secret", "client_secret_file", "certificate_file", "federated_token_file"]
        let given = names.filter { text("\(prefix).\($0)") != nil }
        if given.count > 1 {
            mistakes.add(
                "\(prefix).\(given[1])", "stands beside \(given[0]); one proof of who the application is must go")
        }
        if let privateKey = path("\(prefix).private_key_file"), given.first != "certificate_file" {
            mistakes.add("\(prefix).certificate_file", "is missing beside the private key \(privateKey)")
        }
        let credential: ClientCredential
        switch given.first {
        case "client_secret":
            return .fixed(.secret(text("\(prefix).client_secret") ?? "", method: method))
        case "client_secret_file":
            credential = .secretFile(path("\(prefix).client_secret_file") ?? "", method: method)
        case "federated_token_file":
            credential = .federatedTokenFile(path("\(prefix).federated_token_file") ?? "")
        case "certificate_file":
            guard let privateKey = path("\(prefix).private_key_file") else {
                mistakes.add("\(prefix).private_key_file", "is missing beside the certificate")
                return .fixed(.publicClient)
            }
            credential = .certificateFiles(
                certificate: path("\(prefix).certificate_file") ?? "", privateKey: privateKey)
        default:
            if !PublicURL.isLoopback(publicURL.host) {
                mistakes.add(
                    "\(prefix).client_secret_file",
                    "is missing; without a secret the companion runs on localhost only")
            }
            return .fixed(.publicClient)
        }
        do {
            _ = try ClientCredentials.read(credential)
        } catch {
            mistakes.add("\(prefix).\(given[0])", "\(error)")
        }
        return credential
    }
}

extension Application.Page {
    /// What the home page calls it unless configured.
    var title: String {
        switch self {
        case .ios: "iOS tutorial"
        case .macos: "macOS tutorial"
        case .external: "External tenant tutorial"
        case .b2c: "Azure AD B2C tutorial"
        case .portal: "Test portal"
        case .kiosk: "Demo kiosk"
        }
    }
}

extension Application.Kind {
    fileprivate var authorityExample: String {
        switch self {
        case .workforce: "https://login.microsoftonline.com/common"
        case .external: "https://contoso.ciamlogin.com"
        case .b2c: "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_susi"
        case .oidc: "https://id.example.com, the provider's issuer"
        }
    }
}
