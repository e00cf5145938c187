import CompanionCore
import Foundation
import SessionStore
import WebFormats

/// Finds problems of the whole installation in a configuration that is valid.
struct ConfigurationFindings {
    let configuration: CompanionConfiguration
    /// The wall clock's time.
    let now: Date

    /// The findings that concern the whole installation.
    var general: [CheckFinding] { proxies + address + audit + withoutEffect + apiTokens + apis }

    /// Tokens of programs that expire soon, or have expired.
    private var apiTokens: [CheckFinding] {
        configuration.apiTokens.map { token in
            let why = "From then on the server refuses the program's requests."
            let remedy =
                "Make a new one with `companion tokens new --name \(token.name)`, give it to the program, and replace the entry in api_tokens."
            var finding: CheckFinding
            if let end = token.expires {
                finding = .expiry(
                    "api_token", at: end, now: now, expired: "The token \(token.name) expired on \(end.day).",
                    soon: "The token \(token.name) expires on \(end.day).",
                    valid: "The token \(token.name) is valid until \(end.day).", why: why, remedy: remedy)
            } else {
                finding = .advice(
                    "api_token", "The token \(token.name) never expires.", why: "Someone who copies it keeps access.",
                    remedy: remedy)
            }
            finding.item = token.name
            return finding
        }
    }

    private var apis: [CheckFinding] {
        APIFindings(apis: configuration.apis, applications: configuration.applications).all
    }

    private var withoutEffect: [CheckFinding] {
        configuration.withoutEffect.map { key in
            .advice(
                key, "\(key) has no effect any more.",
                why: "Pending sign-ins no longer use the database, because the browser keeps them.",
                remedy: "Remove \(key) from the configuration.")
        }
    }

    private var audit: [CheckFinding] {
        guard let path = configuration.auditLogFile else { return [] }
        if let file = FileAccess(path) {
            guard file.mode & 0o007 != 0 else {
                return [.good("audit_log", "Other users cannot access the audit log.")]
            }
            return [
                .advice(
                    "audit_log", "\(path) is open to other users (mode \(String(file.mode, radix: 8))).",
                    why: "It records, by pseudonym, when people signed in and out.", remedy: "chmod 600 \(path)")
            ]
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileAccess(folder) == nil else {
            return [.good("audit_log", "There is no audit log yet. The server creates it at its start (\(path)).")]
        }
        return [
            .mistake(
                "audit_log", "The audit log's folder \(folder) does not exist or cannot be read.",
                why: "The server does not start without the configured audit log.",
                remedy: "Create the folder for the user who runs the server, or change audit_log_file.")
        ]
    }

    private var proxies: [CheckFinding] {
        let ranges = configuration.trustedProxies
        let why = "Anyone who connects from there can claim any address for a browser with X-Forwarded-For."
        let remedy = "List only the addresses of your own proxies, for example [127.0.0.1, 10.0.3.7]."
        if ranges.contains(where: \.isEverything) {
            return [.mistake("trusted_proxies", "trusted_proxies trusts every address.", why: why, remedy: remedy)]
        }
        if ranges.contains(where: \.isTooWide) {
            return [
                .advice(
                    "trusted_proxies",
                    "trusted_proxies contains a network larger than /24 (of IPv6: /64).",
                    why: why, remedy: remedy)
            ]
        }
        let url = configuration.publicURL
        if url.isSecure, ranges.isEmpty, configuration.tls == nil {
            return [
                .advice(
                    "trusted_proxies", "public_url is https, but trusted_proxies lists no proxy.",
                    why:
                        "This server speaks plain http, so a proxy must speak TLS for it. Without the list the proxy's "
                        + "X-Forwarded-For is ignored, and all clients share one limit by address.",
                    remedy: "List the proxy's address in trusted_proxies, for example [127.0.0.1].")
            ]
        }
        return []
    }

    private var address: [CheckFinding] {
        let url = configuration.publicURL
        let isLocalListener = Loopback.contains(configuration.host)
        var findings: [CheckFinding] = []
        if url.isSecure, !isLocalListener, configuration.tls == nil {
            findings.append(
                .advice(
                    "listen", "The server listens on \(configuration.host), in plain http, while public_url is https.",
                    why: "Anyone who can reach that port bypasses TLS.",
                    remedy: "Listen on 127.0.0.1, or let only the proxy reach the port (as in a container)."))
        }
        if !url.isSecure, !isLocalListener {
            findings.append(
                .advice(
                    "listen", "The server listens on \(configuration.host), but public_url is \(url.origin).",
                    why: "The provider sends browsers on other machines back to their own localhost.",
                    remedy: "Listen on 127.0.0.1, or set public_url to an https:// address that a TLS proxy serves."))
        }
        let port = url.port ?? (url.isSecure ? 443 : 80)
        if url.isSecure == (configuration.tls != nil), configuration.trustedProxies.isEmpty, port != configuration.port
        {
            findings.append(
                .advice(
                    "public_url",
                    "public_url has the port \(port), but the server listens on \(configuration.port).",
                    why: "The provider sends people back to \(url.redirectURI), where no server may be listening.",
                    remedy: "Use the same port for both, unless something forwards that port to this server."))
        }
        return findings
    }
}
