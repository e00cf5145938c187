import Foundation
import HTTPClient
import OpenIDConnect
import SessionStore

/// Asks the token endpoint whether it accepts the application's proof of who it is. When a secret ends, nobody but the
/// provider knows.
struct CredentialProbe: Sendable {
    let client: HTTPClient
    let directory: ProviderDirectory
    let now: @Sendable () -> Date

    /// nil when there is nothing to prove, when that cannot be tried, or when the answer says nothing against it.
    func finding(for application: Application) async -> CheckFinding? {
        let credentials = ClientCredentials(now: now, randomBytes: SessionStore.secureRandomBytes)
        // What keeps these from being there is a finding of its own.
        guard let metadata = try? await directory.metadata(for: application.authority),
            let registration = try? credentials.registration(of: application),
            let request = try? OwnTokenRequest(metadata: metadata, registration: registration)
        else { return nil }
        let answer: ProviderResponse
        do throws(HTTPClientError) {
            answer = try await client.send(request.providerRequest)
        } catch {
            return CheckFinding.mistake(
                "token_endpoint", "The token endpoint cannot be reached: \(error.reason)", why: Self.why,
                remedy:
                    "Try `curl -v \(metadata.tokenEndpoint)` on this machine: name resolution, firewall, proxy (https_proxy) or certificates."
            ).of(application)
        }
        guard let error = request.refusal(in: answer, now: now) else { return nil }
        guard !error.isTransient else {
            return CheckFinding.mistake(
                "token_endpoint", "The token endpoint answered \(answer.head.status.code).", why: Self.why,
                remedy: error.code == .throttled
                    ? "Wait as long as it asks; then find what asks so often: forced renewals, or several servers with this client id."
                    : "Look at the provider's status page, and try again in a few minutes."
            ).of(application)
        }
        return CheckFinding.mistake(
            "credential", "The provider does not accept the application's secret or certificate: \(error.description)",
            why: "Nobody can sign in, and no token is renewed; who is signed in stays so.",
            remedy: (error.explanation.map { $0.remedy + " " } ?? "") + application.credential.renewal
        ).of(application)
    }

    private static let why = "Codes are redeemed and tokens are renewed there: nobody can sign in."
}
