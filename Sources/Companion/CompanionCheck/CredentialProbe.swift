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
    /// The answer about one application.
    enum Answer: Sendable {
        /// No attempt was made; another finding gives the reason.
        case notTried
        case accepted
        /// It is accepted only when the secret is sent in another way than the configured one, or than the first one if none
        /// is configured, which nobody has to change.
        case acceptedOtherwise(AuthenticatedClient, ClientAuthentication.SecretMethod?)
        /// It is accepted, but a code would be refused with the client's redirect URI.
        case acceptedWithoutAddress(String?)
        /// It is accepted, but the application is not assigned to a role of its own.
        case unassigned(String?)
        /// The response does not decide it: the OAuth error, if there was one, and the provider's words.
        case undecided(String?, String?)
        /// The provider refuses the client.
        case refused(OpenIDError, String?)
        /// The token endpoint does not work.
        case unavailable(CheckFinding)

        /// Whether it shows that the provider knows the client ID.
        var provesClient: Bool {
            switch self {
            case .accepted, .acceptedOtherwise, .acceptedWithoutAddress, .unassigned: true
            case .notTried, .undecided, .refused, .unavailable: false
            }
        }
    }

    let client: HTTPClient
    let directory: ProviderDirectory
    let now: @Sendable () -> Date

    /// Asks, without any effect at the provider.
    func answer(for application: Application) async -> Answer {
        let credentials = ClientCredentials(now: now, randomBytes: SessionStore.secureRandomBytes)
        guard let own = try? credentials.client(of: application) else { return .notTried }
        // At common nobody says whether a secret is right, but at the tenant of the application's own tokens.
        let authority = application.appOnlyAuthority ?? application.authority
        // Another finding reports a provider that cannot be reached. The credential's state stays unknown.
        guard let metadata = try? await directory.metadata(for: authority) else { return .undecided(nil, nil) }
        // Other providers may not support a grant that sign-ins do not use.
        guard application.kind == .oidc else {
            let answer = await self.answer(to: .clientCredentials, of: own, application, at: metadata)
            if case .undecided = answer {} else if case .notTried = answer {} else { return answer }
            return await self.answer(to: .madeUpCode, of: own, application, at: metadata)
        }
        let answer = await self.answer(to: .madeUpCode, of: own, application, at: metadata)
        guard case .refused(_, let words) = answer else { return answer }
        if let (other, method) = own.withOtherSecretMethod(at: metadata),
            case .accepted = await self.answer(to: .madeUpCode, of: other, application, at: metadata)
        {
            return .acceptedOtherwise(other, method)
        }
        // A request that names no redirect URI shows whether that is the reason.
        switch await self.answer(to: .clientCredentials, of: own, application, at: metadata) {
        case .accepted, .undecided("unauthorized_client", _), .undecided("invalid_scope", _):
            return .acceptedWithoutAddress(words)
        default: return answer
        }
    }

    private func answer(
        to grant: CredentialTrial.Grant, of own: AuthenticatedClient, _ application: Application,
        at metadata: ProviderMetadata
    ) async -> Answer {
        guard
            let trial = try? CredentialTrial(
                grant, metadata: metadata, client: own, randomBytes: SessionStore.secureRandomBytes)
        else { return .notTried }
        let answer: ProviderResponse
        do throws(HTTPClientError) {
            answer = try await client.send(trial.providerRequest.ofCheck)
        } catch {
            return .unavailable(
                .mistake(
                    "token_endpoint", "The token endpoint cannot be reached: \(error.reason)", why: Self.why,
                    remedy: CheckFinding.remedy(reaching: metadata.tokenEndpoint)))
        }
        let words = SentValues(in: [trial.providerRequest]).words(of: answer)
        switch trial.verdict(on: answer, now: now) {
        case .accepted: return .accepted
        case .unassigned: return .unassigned(words)
        case .unknown(let error): return .undecided(error, words)
        case .unavailable(let error):
            return .unavailable(
                .mistake(
                    "token_endpoint", "The token endpoint returned \(answer.head.status.code).", why: Self.why,
                    remedy: error.code == .throttled
                        ? "Wait as long as it asks, then look for the cause: forced refreshes, or several servers with this client ID."
                        : "Look at the provider's status page, and try again in a few minutes."
                ).quoting(words))
        case .refused(let error): return .refused(error, words)
        }
    }

    private static let why = "Nobody can sign in, because codes are redeemed and tokens are renewed there."
}

extension [CheckFinding] {
    /// Returns the findings about a credential with the answer of the credential probe. Each problem is reported once.
    ///
    /// - Parameters:
    ///   - page: the result of a request to sign in, without which a generic provider's refusal of the client could be
    ///     about its ID or redirect URI.
    ///   - english: the language that explains a refusal.
    func adding(
        _ answer: CredentialProbe.Answer, _ page: RegistrationProbe.Result, for application: Application,
        in english: Language?
    ) -> [CheckFinding] {
        let isOpen = application.kind == .oidc && !(page.client == .known && page.redirectURI == .known)
        switch answer {
        case .notTried: return self
        case .accepted: return accepted
        case .acceptedOtherwise(_, let method): return accepted + (method.map { [application.wrongMethod($0)] } ?? [])
        case .acceptedWithoutAddress(let words):
            return accepted + (page.redirectURI == .wrong ? [] : [application.refusedAddress.quoting(words)])
        case .unassigned: return accepted + [application.unassigned]
        case .undecided(let error, let words): return undecided(error, words)
        case .unavailable(let finding): return undecided(nil, nil) + [finding]
        case .refused(_, let words) where page.client == .wrong || page.redirectURI == .wrong:
            return map {
                $0.severity != .good
                    ? $0
                    : $0.saying(
                        .unknown,
                        "The token endpoint refuses the client as well, so it is not known whether it accepts this."
                    ).quoting(words)
            }
        case .refused(let error, let words):
            let finding = isOpen ? application.refusedClient : application.refusedCredential(error, in: english)
            return filter { $0.severity != .good } + [finding.quoting(words)]
        }
    }

    private var accepted: [CheckFinding] {
        map { $0.severity == .good ? $0.saying(.good, "The provider accepts it.") : $0 }
    }

    private func undecided(_ error: String?, _ words: String?) -> [CheckFinding] {
        map { finding in
            guard finding.severity == .good else { return finding }
            guard let error else {
                return finding.saying(.unknown, "Only a sign-in can show whether the provider accepts it.")
            }
            return finding.saying(
                .unknown, "Only a sign-in can show whether the provider accepts it (it returned \(error))."
            ).quoting(error == "invalid_grant" ? nil : words)
        }
    }
}

extension Application {
    private static let whyCredential =
        "Nobody can sign in, and no token is renewed. People who are signed in stay signed in."

    fileprivate func refusedCredential(_ error: OpenIDError, in english: Language?) -> CheckFinding {
        let explanation = english?.explanation(of: error.numbers)
        let said = (explanation.map { $0.cause + " " } ?? "") + error.description
        return .mistake(
            "credential",
            credential.isConfigured
                ? "The provider does not accept the application's secret or certificate: \(said)"
                : "No secret is configured, and the provider asks for one: \(said)",
            why: Self.whyCredential, remedy: (explanation.map { $0.remedy + " " } ?? "") + renewal)
    }

    /// A generic provider's refusal may have several reasons.
    fileprivate var refusedClient: CheckFinding {
        .mistake(
            "credential",
            credential.isConfigured
                ? "The provider refuses the client, and its answers do not show why: for its ID, its secret, the way of sending that, or the redirect URI."
                : "The provider refuses the client, and its answers do not show why: for its ID, for want of a secret, or for the redirect URI.",
            why: Self.whyCredential,
            remedy:
                "Compare with the client's registration at the provider, in this order: apps.\(id).client_id, the redirect URI "
                + "\(registration.redirectURI), the secret's value, and how it is sent (apps.\(id).client_authentication)."
        )
    }

    fileprivate func wrongMethod(_ method: ClientAuthentication.SecretMethod) -> CheckFinding {
        .mistake(
            "client_authentication",
            method == .basic
                ? "The provider accepts the secret only in the Authorization field (basic)."
                : "The provider accepts the secret only in the form (post).",
            why: Self.whyCredential, remedy: "Set apps.\(id).client_authentication to \(method.rawValue).")
    }

    fileprivate var refusedAddress: CheckFinding {
        .mistake(
            "redirect_uri",
            "The provider accepts the client, but no code with the redirect URI \(registration.redirectURI).",
            why: "Nobody can sign in, because codes are redeemed with it.",
            remedy:
                "Register exactly this text (with scheme, port and path, and no slash at the end) \(placeOfRedirectURI(nil))."
        )
    }

    fileprivate var unassigned: CheckFinding {
        .advice(
            "assignment_required",
            "The application requires assignment, and its own service principal has none (AADSTS501051).",
            why:
                "The credential is good. But the platform refuses tokens for this application to all who are not assigned to "
                + "it: people (AADSTS50105), and the application itself.",
            remedy:
                "Under Enterprise applications, assign the service principal to an app role, and the people under Users and "
                + "groups; or set “Assignment required” to No.")
    }
}
