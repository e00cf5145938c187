import CompanionCore
import CompanionSignIn
import Foundation
import HTTPClient
import Languages
import OpenIDConnect
import SessionStore

/// Asks the token endpoint whether it accepts the application's credential. Only the provider knows when a secret has
/// expired.
struct CredentialProbe: Sendable {
    /// The result for one application.
    enum Result: Sendable {
        /// No attempt was made; another finding gives the reason.
        case notTried
        case accepted
        /// The response does not decide it. The value is the OAuth error, if there was one.
        case unknown(String?)
        /// The provider refused the credential; this finding replaces the good ones.
        case refused(CheckFinding)
        /// The token endpoint does not work.
        case unavailable(CheckFinding)
    }

    let client: HTTPClient
    let directory: ProviderDirectory
    let now: @Sendable () -> Date

    func result(for application: Application) async -> Result {
        let credentials = ClientCredentials(now: now, randomBytes: SessionStore.secureRandomBytes)
        guard let authenticated = try? credentials.client(of: application) else { return .notTried }
        // Another finding reports a provider that cannot be reached. The credential's state stays unknown.
        guard let metadata = try? await directory.metadata(for: application.authority) else { return .unknown(nil) }
        // Other providers may not support a grant that sign-ins do not use.
        let grants: [CredentialTrial.Grant] =
            application.kind == .oidc ? [.madeUpCode] : [.clientCredentials, .madeUpCode]
        var result = Result.notTried
        for grant in grants {
            guard
                let trial = try? CredentialTrial(
                    grant, metadata: metadata, client: authenticated,
                    randomBytes: SessionStore.secureRandomBytes)
            else { continue }
            result = await self.result(of: trial, application, at: metadata)
            guard case .unknown = result else { return result }
        }
        return result
    }

    private func result(
        of trial: CredentialTrial, _ application: Application, at metadata: ProviderMetadata
    ) async -> Result {
        let answer: ProviderResponse
        do throws(HTTPClientError) {
            answer = try await client.send(trial.providerRequest)
        } catch {
            return .unavailable(
                .mistake(
                    "token_endpoint", "The token endpoint cannot be reached: \(error.reason)", why: Self.why,
                    remedy: CheckFinding.remedy(reaching: metadata.tokenEndpoint)
                ).of(application))
        }
        switch trial.verdict(on: answer, now: now) {
        case .accepted: return .accepted
        case .unknown(let error): return .unknown(error)
        case .unavailable(let error):
            return .unavailable(
                .mistake(
                    "token_endpoint", "The token endpoint returned \(answer.head.status.code).", why: Self.why,
                    remedy: error.code == .throttled
                        ? "Wait as long as it asks, then look for the cause: forced refreshes, or several servers with this client ID."
                        : "Look at the provider's status page, and try again in a few minutes."
                ).of(application))
        case .refused(let error):
            return .refused(
                .mistake(
                    "credential",
                    application.credential.isConfigured
                        ? "The provider does not accept the application's secret or certificate: \(error.description)"
                        : "No secret is configured, and the provider asks for one: \(error.description)",
                    why: "Nobody can sign in, and no token is renewed. People who are signed in stay signed in.",
                    remedy: (Problem(error).explanation.map { $0.remedy + " " } ?? "") + application.credential.renewal
                ).of(application))
        }
    }

    private static let why = "Nobody can sign in, because codes are redeemed and tokens are renewed there."
}

extension [CheckFinding] {
    /// Returns these findings with the result of the credential probe. Each problem is reported once.
    func adding(_ result: CredentialProbe.Result, for application: Application) -> [CheckFinding] {
        func isGood(_ finding: CheckFinding) -> Bool {
            finding.subject == "credential" && finding.application == application.id && finding.severity == .good
        }
        func saying(_ text: Message, _ severity: CheckFinding.Severity) -> [CheckFinding] {
            map { isGood($0) ? $0.saying(text, severity) : $0 }
        }
        func unknown(_ error: String?) -> [CheckFinding] {
            let said = error.map { " (it returned \($0))" } ?? ""
            return saying("Only a sign-in can show whether the provider accepts it\(said).", .unknown)
        }
        switch result {
        case .notTried: return self
        case .accepted: return saying("The provider accepts it.", .good)
        case .unknown(let error): return unknown(error)
        case .unavailable(let finding): return unknown(nil) + [finding]
        case .refused(let finding): return filter { !isGood($0) } + [finding]
        }
    }
}
