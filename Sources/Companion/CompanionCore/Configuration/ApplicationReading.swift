import Foundation
import OpenIDConnect
import WebFormats

/// Reads one application, with the settings that its kind of identity platform requires.
extension ConfigurationReading {
    /// Reads one application; returns nil after a mistake that leaves it unusable.
    package mutating func application(_ id: String, publicURL: PublicURL) -> Application? {
        let before = mistakes.all.count
        let letters = id.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        if id.isEmpty || !letters || Application.reservedIDs.contains(id) {
            let names = Application.reservedIDs.sorted()
            mistakes.add(
                "apps.\(id)",
                "is no name for an application; use lower-case letters, digits and -, "
                    + "not \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")")
        }
        let settings = ApplicationSettings(id, reading: &self)
        let credential = credential(of: id, settings, publicURL: publicURL)
        let (authority, userFlows) = authorities(of: id, settings)
        let allowed = accounts("apps.\(id).allowed_", settings.allowed, settings, at: authority)
        let operators = accounts("apps.\(id).operators.", settings.operators, settings, at: authority)
        let readers = accounts("apps.\(id).readers.", settings.readers, settings, at: authority)
        if !operators.isEmpty || !readers.isEmpty, settings.page != .portal {
            mistakes.add("apps.\(id).\(operators.isEmpty ? "readers" : "operators")", "belongs to the page portal")
        } else if operators.isEmpty, !readers.isEmpty {
            mistakes.add("apps.\(id).readers", "needs operators beside it; without that list everyone here is one")
        }
        guard mistakes.all.count == before, let page = settings.page, let clientID = settings.clientID, let authority
        else { return nil }
        var application = Application(
            id: id, page: page, title: settings.title, authority: authority, userFlows: userFlows,
            registration: ClientRegistration(
                clientID: clientID,
                redirectURI: settings.redirectURI == .own
                    ? publicURL.redirectURI(ofApplication: id) : publicURL.redirectURI,
                scopes: settings.scopes, scopesAreComplete: settings.scopesAreComplete,
                allowedTenants: settings.allowedTenants,
                clientCapabilities: settings.kind == .workforce ? ["cp1"] : []),
            credential: credential, api: settings.api, prompt: settings.prompt,
            extraQueryParameters: settings.extraQueryParameters)
        application.allowed = allowed
        application.operators = operators.isEmpty ? nil : operators
        application.readers = readers
        application.clientSecretExpires = settings.clientSecretExpires
        application.isAppOnlyAllowed = settings.appOnly
        application.pushedAuthorization = settings.pushedAuthorization
        if settings.appOnly, application.appOnlyAuthority == nil {
            mistakes.add(
                "apps.\(id).app_only",
                "needs a secret or certificate, and one tenant: in authority, or as the only one in allowed_tenants")
            return nil
        }
        return application
    }

    /// Reads a list of accounts.
    ///
    /// - Parameter key: the beginning of the three settings' keys.
    private mutating func accounts(
        _ key: String, _ texts: ApplicationSettings.AccountTexts, _ settings: ApplicationSettings,
        at authority: Authority?
    ) -> AccountList {
        guard let authority else { return AccountList() }
        let users = texts.users.flatMap { user in
            do throws(AllowedUser.Mistake) {
                return try AllowedUser.entries(user, at: authority, listed: settings.allowedTenants)
            } catch {
                mistakes.add("\(key)users", "has “\(user)”, which \(error.reason)")
                return []
            }
        }
        for (name, thing, entries) in [("groups", "group", texts.groups), ("roles", "app role", texts.roles)] {
            guard let first = entries.first else { continue }
            // The tokens of B2C and those of personal accounts have neither claim.
            if settings.kind == .b2c { mistakes.add(key + name, "has no effect: Azure AD B2C has no \(name)") }
            if authority.segment == .consumers {
                mistakes.add(key + name, "has no effect: personal accounts have no \(name)")
            }
            if authority.admitsEveryTenant(listed: settings.allowedTenants) {
                let mistake = AllowedUser.Mistake.assignedByEveryTenant(thing)
                mistakes.add(key + name, "has “\(first)”, which \(mistake.reason)")
            }
        }
        if settings.kind != .oidc {
            for group in texts.groups where UUID(uuidString: group) == nil {
                mistakes.add("\(key)groups", "has “\(group)”; copy the “Object ID” from the group's page")
            }
        }
        return AccountList(
            users: users, groups: Set(texts.groups.map { $0.lowercased() }), roles: Set(texts.roles))
    }

    private mutating func authorities(
        of id: String, _ settings: ApplicationSettings
    ) -> (Authority?, [Application.UserFlow: Authority]) {
        let kind = settings.kind
        let policies = Application.UserFlow.allCases.compactMap { flow in settings.policies[flow].map { (flow, $0) } }
        if kind != .b2c, let (flow, _) = policies.first {
            mistakes.add("apps.\(id).policies.\(flow.rawValue)", "belongs to the kind b2c, not \(kind.rawValue)")
        }
        guard var configured = settings.authority else { return (nil, [:]) }
        // The sign-in flow may be part of the authority or a setting of its own.
        if kind == .b2c, let signIn = settings.policies[.signIn],
            !configured.lowercased().hasSuffix("/" + signIn.lowercased())
        {
            configured += (configured.hasSuffix("/") ? "" : "/") + signIn
        }
        let authority: Authority
        do {
            authority = try Authority(configured, kind: kind)
        } catch {
            mistakes.add("apps.\(id).authority", "is “\(configured)”. \(error)")
            return (nil, [:])
        }
        var userFlows: [Application.UserFlow: Authority] = [:]
        for (flow, policy) in policies where kind == .b2c && flow != .signIn {
            do {
                userFlows[flow] = try authority.withPolicy(policy)
            } catch {
                mistakes.add("apps.\(id).policies.\(flow.rawValue)", "is “\(policy)”. \(error)")
            }
        }
        return (authority, userFlows)
    }

    private mutating func credential(
        of id: String, _ settings: ApplicationSettings, publicURL: PublicURL
    ) -> ClientCredential {
        let method = settings.clientAuthentication
        let proofs: [(name: String, credential: ClientCredential?)] = [
            ("client_secret", settings.clientSecret.map { .fixed(.secret($0, method: method)) }),
            ("client_secret_file", settings.clientSecretFile.map { .secretFile($0, method: method) }),
            (
                "certificate_file",
                settings.certificateFile.map {
                    .certificateFiles(certificate: $0, privateKey: settings.privateKeyFile ?? "")
                }
            ),
            ("federated_token_file", settings.federatedTokenFile.map { .federatedTokenFile($0) }),
        ]
        let given = proofs.filter { $0.credential != nil }
        if given.count > 1 {
            mistakes.add(
                "apps.\(id).\(given[1].name)",
                "stands beside \(given[0].name); one proof of who the application is must go")
        }
        if let privateKey = settings.privateKeyFile, given.first?.name != "certificate_file" {
            mistakes.add("apps.\(id).certificate_file", "is missing beside the private key \(privateKey)")
        }
        guard let (name, proof) = given.first, let credential = proof else {
            if !Loopback.contains(publicURL.host) {
                mistakes.add(
                    "apps.\(id).client_secret_file",
                    "is missing; without a secret the companion runs on localhost only")
            }
            return .fixed(.publicClient)
        }
        if name == "certificate_file", settings.privateKeyFile == nil {
            mistakes.add("apps.\(id).private_key_file", "is missing beside the certificate")
            return credential
        }
        do {
            _ = try ClientCredentials.read(credential)
        } catch {
            mistakes.add("apps.\(id).\(name)", "\(error)")
        }
        return credential
    }
}

extension Application.Page {
    /// The default title on the home page.
    package var title: String {
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
    /// An example of an authority of this kind.
    var authorityExample: String {
        switch self {
        case .workforce: "https://login.microsoftonline.com/common"
        case .external: "https://contoso.ciamlogin.com"
        case .b2c: "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_susi"
        case .oidc: "https://id.example.com, the provider's issuer"
        }
    }

    /// Returns the default scopes of a sign-in.
    package func scopes(clientID: String) -> [String] {
        switch self {
        case .workforce: ["user.read"]
        // B2C issues an access token for the application itself, which its own API accepts.
        case .b2c: [clientID]
        case .external, .oidc: []
        }
    }
}

extension Application.UserFlow {
    /// The purpose of the flow, for a help text.
    package var purpose: String {
        switch self {
        case .signIn: "signing up or in, if it is not part of the authority"
        case .editProfile: "editing a profile"
        case .resetPassword: "resetting a password"
        }
    }
}
