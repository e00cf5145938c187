import CompanionCore
import CompanionSignIn
import Foundation
import HTTPClient
import Languages
import OpenIDConnect
import SessionStore

/// Sends a generic provider one sign-in request in advance (PAR, RFC 9126) and opens the address that it returns, as each
/// sign-in would.
struct PushedProbe: Sendable {
    /// The result of the request.
    enum Result: Sendable {
        /// The provider's page at the returned address.
        case opened(SignInAnswer)
        /// The provider refuses the request: its error, and its words.
        case refused(OpenIDError, String?)
        /// The configuration sends none, and the provider takes no other requests.
        case off
    }

    let client: HTTPClient
    let now: @Sendable () -> Date

    /// Returns nil if the provider does not announce it, or if the client cannot authenticate.
    func result(
        for application: Application, _ own: AuthenticatedClient, at metadata: ProviderMetadata
    ) async -> Result? {
        let attempt = AuthorizationAttempt(randomBytes: SessionStore.secureRandomBytes)
        guard
            let pushed = try? PushedAuthorizationRequest(
                AuthorizationRequest(prompt: application.prompt), metadata: metadata, client: own, attempt: attempt)
        else { return nil }
        let answer: ProviderResponse
        do throws(HTTPClientError) {
            answer = try await client.send(pushed.providerRequest)
        } catch {
            return .refused(OpenIDError(unreachable: error.reason), nil)
        }
        do throws(OpenIDError) {
            let url = try pushed.url(from: answer, now: now)
            return .opened(
                await SignInAnswer(
                    url, redirectURI: application.registration.redirectURI, clientID: own.registration.clientID,
                    after: [pushed.providerRequest], by: client))
        } catch {
            return .refused(error, SentValues(in: [pushed.providerRequest]).words(of: answer))
        }
    }
}

extension PushedProbe.Result {
    /// The finding about it.
    ///
    /// - Parameters:
    ///   - isRequired: whether the provider takes no other requests.
    ///   - provesClient: whether the token endpoint accepts the client.
    func finding(isRequired: Bool, provesClient: Bool) -> CheckFinding {
        let remedy =
            "Compare the provider's words with the client's registration there; the provider has to take what it announces "
            + "in its metadata (pushed_authorization_request_endpoint). If it need not be used, set pushed_authorization to off."
        switch self {
        case .opened(let answer) where answer.isRefusal || answer.isOutOfOrder || answer.refusalWhenReturned != nil:
            return .mistake(
                "par",
                "The provider takes a sign-in's parameters in advance (PAR), and then refuses the address that it returned.",
                why: "Nobody can sign in: the provider shows an error instead of its sign-in page.", remedy: remedy
            ).quoting(answer.words)
        case .off:
            return .mistake(
                "par",
                "The provider takes the parameters of a sign-in in advance only, and pushed_authorization is off.",
                why: "Nobody can sign in: the provider refuses all other requests.",
                remedy: "Set pushed_authorization to auto, or leave it out.")
        case .opened:
            return .good("par", "The provider takes the parameters of a sign-in in advance (PAR).")
        case .refused(let error, let words) where error.isTransient && !isRequired:
            return .unknown(
                "par", "Whether the provider takes the parameters of a sign-in in advance (PAR) is not known now."
            ).quoting(words)
        case .refused(let error, let words) where error.code == .providerRejectedClient && !provesClient:
            return .unknown(
                "par",
                "The provider refuses the client, so it is not known whether it takes the parameters of a sign-in in advance (PAR)."
            ).quoting(words)
        case .refused(let error, let words):
            return .mistake(
                "par",
                "The provider announces that it takes the parameters of a sign-in in advance (PAR), and refuses them.",
                why: "Nobody can sign in, because each sign-in begins with such a request.", remedy: remedy
            ).quoting(words ?? error.reason)
        }
    }
}
