import CompanionCore
import Foundation
import Languages
import OpenIDConnect
import WebFormats

/// Compares an application's configuration with its registration. Where both agree there is one good finding.
struct RegistrationFindings {
    let application: Application
    let registered: RegisteredApplication
    /// The addresses that the registration must have.
    let wanted: CheckReport.Registration
    /// The configured credential; nil if it cannot be read.
    let credential: ClientAuthentication?
    /// The names of Graph's delegated permissions by ID; nil if they are not known.
    let graphScopes: [String: String]?
    let now: Date

    /// Graph's application ID, the same in all tenants and clouds.
    static let graphID = "00000003-0000-0000-c000-000000000000"

    /// All findings; those about secrets and certificates come with the time of their end.
    var all: [CheckFinding] {
        let problems = redirectURI + localhost + logout + audience + groups + roles + scopes + flows
        let good: [CheckFinding] =
            problems.isEmpty ? [.good("registration", "The app registration agrees with the configuration.")] : []
        return good + problems + credentials
    }

    // MARK: Addresses

    private var redirectURI: [CheckFinding] {
        let uri = wanted.redirectURI
        let wantedPlatform: RegisteredApplication.Platform = application.credential.isConfigured ? .web : .publicClient
        let why =
            "Entra ID compares redirect URIs exactly, and takes the platform's rules for the code. Nobody can sign in."
        if registered.redirectURIs[wantedPlatform]?.contains(where: { Self.isSame($0, uri) }) ?? false { return [] }
        for platform in RegisteredApplication.Platform.allCases {
            for other in registered.redirectURIs[platform] ?? [] {
                let isUnderOtherPlatform = Self.isSame(other, uri)
                guard isUnderOtherPlatform || Self.resembles(other, uri) else { continue }
                return [
                    .mistake(
                        "redirect_uri",
                        isUnderOtherPlatform
                            ? "The redirect URI \(uri) is registered for the platform \(platform.rawValue), not \(wantedPlatform.rawValue)."
                            : "The redirect URI \(uri) is missing. The registration has \(other), which differs.",
                        why: why,
                        remedy: "Under Authentication, register \(uri) for the platform \(wantedPlatform.rawValue).")
                ]
            }
        }
        return [
            .mistake(
                "redirect_uri", "The redirect URI \(uri) is missing in the app registration.", why: why,
                remedy: "Under Authentication, register \(uri) for the platform \(wantedPlatform.rawValue).")
        ]
    }

    /// Two addresses of localhost that differ only in their port are one to Entra ID.
    private var localhost: [CheckFinding] {
        var seen: [String: (uri: String, platform: RegisteredApplication.Platform)] = [:]
        for platform in RegisteredApplication.Platform.allCases {
            for uri in registered.redirectURIs[platform] ?? [] {
                guard let name = Self.withoutPort(uri) else { continue }
                guard let other = seen[name], other.uri != uri else {
                    seen[name] = (uri, platform)
                    continue
                }
                return [
                    .advice(
                        "localhost",
                        "The redirect URIs \(other.uri) and \(uri) differ only in their port, so Entra ID takes either for the other.",
                        why: other.platform == platform
                            ? "A sign-in for one program may end at the other."
                            : "They are of different platforms, and it is not defined whose rules apply to a code.",
                        remedy: "Keep one of them, or give them different paths.")
                ]
            }
        }
        return []
    }

    private var logout: [CheckFinding] {
        let all = registered.redirectURIs.values.joined()
        if !all.contains(where: { Self.isSame($0, wanted.signedOutURI) }) {
            return [
                .advice(
                    "sign_out", "The address \(wanted.signedOutURI) is not registered.",
                    why: "After signing out, the browser stays on the provider's page instead of coming back.",
                    remedy: "Under Authentication, register it as a further redirect URI.")
            ]
        }
        guard wanted.frontChannelLogoutURL.hasPrefix("https:"), registered.logoutURL != wanted.frontChannelLogoutURL
        else {
            return []
        }
        return [
            .advice(
                "sign_out", "The front-channel logout URL is not \(wanted.frontChannelLogoutURL).",
                why: "A person who signs out elsewhere stays signed in here.",
                remedy: "Under Authentication, set it as the front-channel logout URL.")
        ]
    }

    private static func isSame(_ registered: String, _ uri: String) -> Bool {
        registered == uri || withoutPort(registered).map { $0 == withoutPort(uri) } ?? false
    }

    /// Whether they are equal but for upper and lower case, and a slash at the end.
    private static func resembles(_ one: String, _ other: String) -> Bool {
        func folded(_ text: String) -> String {
            let text = text.lowercased()
            return text.hasSuffix("/") ? String(text.dropLast()) : text
        }
        return folded(one) == folded(other)
    }

    /// Returns a localhost address without its port, which Entra ID ignores; nil for another host.
    private static func withoutPort(_ uri: String) -> String? {
        guard let match = uri.wholeMatch(of: /(https?:\/\/localhost)(?::\d+)?(\/.*)?/) else { return nil }
        return String(match.1) + String(match.2 ?? "/")
    }

    // MARK: Who may sign in

    private var audience: [CheckFinding] {
        guard application.kind == .workforce, let audience = registered.signInAudience else { return [] }
        let isMissing: Bool =
            switch application.authority.segment {
            case .common: audience != "AzureADandPersonalMicrosoftAccount"
            case .organizations: audience == "AzureADMyOrg" || audience == "PersonalMicrosoftAccount"
            case .consumers: !audience.hasSuffix("PersonalMicrosoftAccount")
            case .tenant, nil: false
            }
        // At common, accounts of organizations are enough if only tenants are listed.
        guard isMissing, application.registration.allowedTenants.isEmpty || audience == "AzureADMyOrg" else {
            return []
        }
        return [
            .mistake(
                "audience",
                "The registration admits \(audience), but the authority \(application.authority.description) stands for more.",
                why: "Accounts that the registration does not admit are refused at the provider's page.",
                remedy: "Set authority to the registration's tenant, or widen “Supported account types”.")
        ]
    }

    private var groups: [CheckFinding] {
        let claims = registered.groupMembershipClaims
        guard !application.namedGroups.isEmpty, claims == nil || claims == "None" || claims == "DirectoryRole" else {
            return []
        }
        return [
            .mistake(
                "groups", "Rules name groups, but the registration puts none into the ID token.",
                why: "Without the groups claim no group lets anyone in.",
                remedy: "Under Token configuration, add the groups claim for security groups to the ID token.")
        ]
    }

    private var roles: [CheckFinding] {
        let named = application.allowed.roles.union(application.operators?.roles ?? []).union(application.readers.roles)
        let missing = named.subtracting(registered.appRoles).sorted()
        guard !missing.isEmpty else { return [] }
        return [
            .mistake(
                "app_roles",
                "Rules name app roles that the registration does not have, or has switched off: \(missing.joined(separator: ", ")).",
                why: "Nobody can hold such a role, so it lets no one in.",
                remedy: "Under App roles, create or enable them with exactly this value, or change the rule.")
        ]
    }

    // MARK: Permissions

    /// Whether the registration shows if the scopes are among its permissions, which it does for Microsoft Graph's.
    var knowsScopes: Bool {
        graphScopes != nil && application.graphMe != nil
            && application.registration.apis.allSatisfy { $0 == ClientRegistration.graphName }
    }

    private var scopes: [CheckFinding] {
        guard let graphScopes, application.graphMe != nil else { return [] }
        let ids = registered.requiredScopes[Self.graphID] ?? []
        let requested = Set(ids.compactMap { graphScopes[$0]?.lowercased() })
        let missing = application.registration.scopes.map(Self.shortName).filter {
            !$0.isEmpty && !$0.hasPrefix("api://") && !requested.contains($0.lowercased())
        }
        guard !missing.isEmpty else { return [] }
        return [
            .advice(
                "permissions",
                "The registration does not list the permissions \(missing.joined(separator: ", ")), which scopes asks for.",
                why:
                    "An administrator who grants consent for the registration does not grant them, and people are asked one by one.",
                remedy: "Under API permissions, add them as delegated permissions of Microsoft Graph.")
        ]
    }

    private static func shortName(_ scope: String) -> String {
        guard scope.lowercased().hasPrefix("https://graph.") else { return scope.contains("://") ? "" : scope }
        return scope.split(separator: "/").last.map(String.init) ?? ""
    }

    private var flows: [CheckFinding] {
        guard registered.allowsPublicFlows, application.credential.isConfigured else { return [] }
        return [
            .advice(
                "public_client", "The registration allows public client flows, which this server does not need.",
                why: "Anyone who knows the client ID can start a device-code sign-in in its name.",
                remedy:
                    "Under Authentication, switch “Allow public client flows” off, unless another program needs them.")
        ]
    }

    // MARK: Credentials

    private var credentials: [CheckFinding] {
        switch credential {
        case .secret(let secret, _): secretFindings(String(secret.prefix(3)))
        case .certificate(let certificate): certificateFindings(certificate)
        case .publicClient, .assertion, nil: []
        }
    }

    /// The secret in use is known by its first three characters; of several with the same ones, the first to end counts.
    private func secretFindings(_ hint: String) -> [CheckFinding] {
        let own = registered.secrets.filter { $0.hint == hint }
        guard let used = own.min(by: { ($0.end ?? .distantFuture) < ($1.end ?? .distantFuture) }) else {
            guard !registered.secrets.contains(where: { $0.hint == nil }) || registered.secrets.isEmpty else {
                return []
            }
            return [
                .mistake(
                    "credential", "The configured secret is none of the registration's.",
                    why: "Nobody can sign in, and no token is renewed. People who are signed in stay signed in.",
                    remedy: application.renewal)
            ]
        }
        guard let end = used.end else { return [] }
        return [ending(used.name, end, isSecret: true)] + typedDate(end)
    }

    private func certificateFindings(_ certificate: ClientCertificate) -> [CheckFinding] {
        // Graph writes the bytes as base64; older entries have the hexadecimal digits.
        let names = [Data(certificate.sha1).base64EncodedString(), Hex.encode(certificate.sha1).uppercased()]
        let own = registered.certificates.first { $0.thumbprint.map(names.contains) ?? false }
        guard
            own != nil
                || registered.certificates.allSatisfy({ $0.thumbprint == nil }) && !registered.certificates.isEmpty
        else {
            return [
                .mistake(
                    "credential", "The configured certificate is not in the registration.",
                    why: "Nobody can sign in, and no token is renewed. People who are signed in stay signed in.",
                    remedy: application.renewal)
            ]
        }
        return [ending(own?.name ?? "–", certificate.notValidAfter, isSecret: false)]
    }

    private func ending(_ name: String, _ end: Date, isSecret: Bool) -> CheckFinding {
        let (day, days) = (end.day, now.days(until: end))
        let expired: Message =
            isSecret
            ? "The secret “\(name)” ended on \(day). Replace it now."
            : "The certificate “\(name)” ended on \(day). Replace it now."
        let soon: Message =
            isSecret
            ? "The secret “\(name)” ends on \(day), in \(days) days. Replace it."
            : "The certificate “\(name)” ends on \(day), in \(days) days. Replace it."
        let valid: Message =
            isSecret
            ? "The secret “\(name)” is valid until \(day)." : "The certificate “\(name)” is valid until \(day)."
        var finding = CheckFinding.expiry(
            "credential", at: end, now: now, expired: expired, soon: soon, valid: valid, why: CredentialFindings.end,
            remedy: application.renewal)
        finding.item = name
        return finding
    }

    /// A typed date that is later than the real one warns too late.
    private func typedDate(_ end: Date) -> [CheckFinding] {
        guard let typed = application.clientSecretExpires, abs(typed.timeIntervalSince(end)) > 2 * 86_400 else {
            return []
        }
        return [
            .advice(
                "client_secret_expires",
                "client_secret_expires is \(typed.day), but the registration says \(end.day).",
                why: "The registration decides.",
                remedy: "Correct or remove apps.\(application.id).client_secret_expires.")
        ]
    }
}
