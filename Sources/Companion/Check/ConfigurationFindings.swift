import Foundation
import SessionStore

/// What is wrong with a configuration that is valid.
struct ConfigurationFindings {
    let configuration: CompanionConfiguration

    /// What concerns the whole installation.
    var general: [CheckFinding] { proxies + address + audit }

    private var audit: [CheckFinding] {
        guard let path = configuration.auditLogFile else { return [] }
        if let file = StoreInspection.File(path) {
            guard file.mode & 0o007 != 0 else { return [.good("audit_log", "The audit log is not open to everybody.")] }
            return [
                .advice(
                    "audit_log", "\(path) is open to other users (mode \(String(file.mode, radix: 8))).",
                    why: "It tells when people came and went, by pseudonyms.", remedy: "chmod 600 \(path)")
            ]
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard StoreInspection.File(folder) == nil else {
            return [.good("audit_log", "There is no audit log yet: the start makes it (\(path)).")]
        }
        return [
            .mistake(
                "audit_log", "The audit log's folder \(folder) is not there or cannot be looked into.",
                why: "The server does not start without the audit log that the configuration wants.",
                remedy: "Make the folder, for the user who runs the server, or change audit_log_file.")
        ]
    }

    private var proxies: [CheckFinding] {
        let ranges = configuration.trustedProxies
        let why = "Whoever connects from there can claim any address for a browser by X-Forwarded-For."
        let remedy = "Name the addresses of your own proxies only, as [127.0.0.1, 10.0.3.7]."
        if ranges.contains(where: \.isEverything) {
            return [.mistake("trusted_proxies", "trusted_proxies trusts every address.", why: why, remedy: remedy)]
        }
        if ranges.contains(where: \.isTooWide) {
            return [
                .advice(
                    "trusted_proxies", "trusted_proxies has a network that is larger than one organization's.",
                    why: why, remedy: remedy)
            ]
        }
        let url = configuration.publicURL
        if url.isSecure, ranges.isEmpty {
            return [
                .advice(
                    "trusted_proxies", "public_url is https, and trusted_proxies names no proxy.",
                    why:
                        "This server speaks plain http: what speaks TLS for it is a proxy, whose word on the browser's "
                        + "address does not count now, so that the limits by address count everybody together.",
                    remedy: "Name the proxy's address in trusted_proxies, as [127.0.0.1].")
            ]
        }
        return []
    }

    private var address: [CheckFinding] {
        let url = configuration.publicURL
        let isLocalListener = PublicURL.isLoopback(configuration.host) || configuration.host == "::1"
        var findings: [CheckFinding] = []
        if url.isSecure, !isLocalListener {
            findings.append(
                .advice(
                    "listen", "The server listens on \(configuration.host), in plain http, while public_url is https.",
                    why: "Who reaches that port goes around TLS.",
                    remedy: "Listen on 127.0.0.1, or let only the proxy reach the port (in a container this is so)."))
        }
        if !url.isSecure, !isLocalListener {
            findings.append(
                .advice(
                    "listen", "The server listens on \(configuration.host), but public_url is \(url.origin).",
                    why: "Browsers on other machines come back from the provider to their own localhost.",
                    remedy: "Listen on 127.0.0.1, or set public_url to an https:// address that a TLS proxy serves."))
        }
        if !url.isSecure, configuration.trustedProxies.isEmpty, (url.port ?? 80) != configuration.port {
            findings.append(
                .advice(
                    "public_url",
                    "public_url has the port \(url.port ?? 80), but the server listens on \(configuration.port).",
                    why: "The provider sends people back to \(url.redirectURI), where nobody may answer.",
                    remedy: "Make them equal, unless something forwards that port to this server."))
        }
        return findings
    }

    /// What of the redirect URI the platform does not take, whatever is registered.
    func redirectURI(of application: Application) -> [CheckFinding] {
        let url = configuration.publicURL
        guard application.kind != .oidc, !url.isSecure, url.host != "localhost" else { return [] }
        return [
            .advice(
                "redirect_uri", "The platform takes http redirect URIs for the host localhost, not for \(url.host).",
                why: "\(application.registration.redirectURI) can be registered in the manifest at best.",
                remedy: "Set public_url to http://localhost with the same port, and open that address."
            ).of(application)
        ]
    }

    /// Who else can read the application's proof of who it is.
    func secrets(of application: Application) -> [CheckFinding] {
        let paths: [String]
        switch application.credential {
        case .fixed: return []
        case .secretFile(let path, _), .federatedTokenFile(let path): paths = [path]
        // The certificate itself is public.
        case .certificateFiles(_, let privateKey): paths = [privateKey]
        }
        let files = paths.compactMap(StoreInspection.File.init).filter { $0.mode & 0o077 != 0 }
        return files.map { file in
            let mode = String(file.mode, radix: 8)
            let why = "Who has it can act as this application at the provider."
            let finding: CheckFinding
            if file.mode & 0o027 != 0 {
                finding = .mistake(
                    "file_permissions", "\(file.path) is open to other users (mode \(mode)).", why: why,
                    remedy: "chmod 600 \(file.path), owned by the user who runs the server; and make a new secret.")
            } else {
                // A group of the service's own is the usual way to keep secrets that root writes.
                finding = .advice(
                    "file_permissions", "\(file.path) can be read by its group (mode \(mode)).", why: why,
                    remedy: "Fine when only the server is in that group; else chmod 600 \(file.path).")
            }
            return finding.of(application)
        }
    }

    /// What to enter in the application's registration.
    func registration(of application: Application) -> CheckReport.Registration {
        let url = configuration.publicURL
        let isPublic = if case .fixed(.publicClient) = application.credential { true } else { false }
        return CheckReport.Registration(
            application: application.id, title: application.title,
            platform: isPublic ? "Mobile and desktop applications" : "Web",
            redirectURI: application.registration.redirectURI,
            signedOutURI: url.postLogoutRedirectURI,
            frontChannelLogoutURL: url.frontChannelLogoutURI)
    }
}
