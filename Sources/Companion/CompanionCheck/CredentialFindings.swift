import CompanionCore
import CompanionSignIn
import Foundation
import Languages
import OpenIDConnect

/// Examines an application's credential without asking anyone: whether it can be read, and when it ends.
struct CredentialFindings {
    let application: Application
    /// The configuration file; nil if the environment alone configures the server.
    var file: String?
    let now: Date

    /// The effect of a credential's end.
    static let end =
        "From that day on nobody can sign in and no token is renewed. People who are signed in stay signed in."

    var all: [CheckFinding] {
        let authentication: ClientAuthentication
        do {
            authentication = try ClientCredentials.read(application.credential)
        } catch {
            return [
                .mistake(
                    "credential", "The application cannot authenticate: \(error)",
                    why: "The provider issues tokens only to an application that proves its identity.",
                    remedy: "Put the file there, readable only by the user who runs the server.")
            ]
        }
        switch authentication {
        case .publicClient:
            return [
                .good(
                    "credential",
                    "No secret is configured. Set \(application.secretVariable), unless the application is registered as a public client."
                )
            ]
        case .certificate(let certificate): return [expiry(certificate.notValidAfter)]
        case .secret(let value, _)
        where application.kind != .oidc && (value == Self.placeholder || UUID(uuidString: value) != nil):
            return [
                .mistake(
                    "credential", "Instead of the secret's value, its ID or a placeholder is configured.",
                    why: "The platform refuses it with AADSTS7000215, and nobody can sign in.",
                    remedy:
                        "Copy the secret's “Value” under Certificates & secrets. It is shown once: make a new secret if it is gone."
                )
            ]
        case .secret:
            guard let end = application.clientSecretExpires else {
                return [.good("credential", "A secret is configured."), unknownEnd]
            }
            return [expiry(end)]
        case .assertion(let token): return [federated(token)]
        }
    }

    /// The provider tells only those who may read the registration when a secret ends.
    private var unknownEnd: CheckFinding {
        let setting = application.secretExpires
        let variable = Setting.environmentName(of: setting)
        guard let file else {
            return .unknown(
                "client_secret_expires",
                "It is not known when the secret expires. To be warned before, set \(variable) in the environment.")
        }
        return .unknown(
            "client_secret_expires",
            "It is not known when the secret expires. To be warned before, set \(setting) in \(file), or \(variable) in the environment."
        )
    }

    /// Another system renews the token, so that nobody needs to be warned before its end.
    private func federated(_ token: String) -> CheckFinding {
        guard let seconds = DecodedToken(token)?.time("exp") else {
            return .good("credential", "A federated token is configured.")
        }
        let end = Date(timeIntervalSince1970: TimeInterval(seconds))
        let time = end.formatted(.iso8601)
        guard end <= now else { return .good("credential", "The federated token is valid until \(time).") }
        return .mistake(
            "credential", "The federated token expired at \(time).",
            why: "The provider refuses it, so nobody can sign in and no token is renewed.",
            remedy: application.renewal)
    }

    /// The README has this in place of a secret's value.
    private static let placeholder = "…"

    private func expiry(_ date: Date) -> CheckFinding {
        let (day, days) = (date.day, now.days(until: date))
        let isSecret = application.credential.kind == .secret
        let expired: Message =
            isSecret
            ? "The client secret expired on \(day). Replace it now."
            : "The certificate expired on \(day). Replace it now."
        let tomorrow: Message =
            isSecret
            ? "The client secret expires on \(day), in 1 day. Replace it."
            : "The certificate expires on \(day), in 1 day. Replace it."
        let later: Message =
            isSecret
            ? "The client secret expires on \(day), in \(days) days. Replace it."
            : "The certificate expires on \(day), in \(days) days. Replace it."
        let valid: Message =
            isSecret ? "The client secret is valid until \(day)." : "The certificate is valid until \(day)."
        return .expiry(
            "credential", at: date, now: now, expired: expired, soon: days == 1 ? tomorrow : later, valid: valid,
            why: Self.end, remedy: application.renewal)
    }
}

extension Application {
    fileprivate var secretVariable: String { Setting.environmentName(of: "apps.\(id).client_secret") }
    fileprivate var secretExpires: String { "apps.\(id).client_secret_expires" }

    /// The instruction for replacing the credential.
    var renewal: String {
        let isEntra = kind != .oidc
        let create =
            isEntra
            ? "Under Certificates & secrets create a new secret" : "Let the provider make a new secret for this client"
        return switch credential {
        case .fixed(.publicClient):
            isEntra
                ? "Under Certificates & secrets create a secret and set \(secretVariable) to its value, or register the "
                    + "redirect URI for mobile and desktop applications, which need none."
                : "Set \(secretVariable) to the client's secret, or register it at the provider as a public client, which "
                    + "has none."
        case .fixed:
            "\(create), set \(secretVariable) to its value and \(Setting.environmentName(of: secretExpires)) to its expiry "
                + "date, restart, then delete the old one."
        case .secretFile(let path, _):
            "\(create), write its value to \(path) (no restart is needed), set \(secretExpires) to its expiry date, then "
                + "delete the old one."
        case .certificateFiles(let certificate, let privateKey):
            "\(isEntra ? "Add a new certificate under Certificates & secrets" : "Register a new certificate at the provider"), "
                + "then write it to \(certificate) and its key to \(privateKey) (no restart is needed)."
        case .federatedTokenFile(let path):
            "Check the program that writes \(path): it should have renewed the token."
        }
    }

    /// The place where the operator registers a redirect URI.
    func placeOfRedirectURI(_ platform: String?) -> String {
        platform.map { "under Authentication, platform \($0)" } ?? "in the client's registration at the provider"
    }
}
