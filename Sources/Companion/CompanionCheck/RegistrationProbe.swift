import CompanionCore
import Foundation
import HTTPClient
import HTTPTypes
import OpenIDConnect
import SessionStore

/// Asks the provider whether people could sign in to the application as it is configured. The probe sends the sign-in
/// request of a browser without a session, first with `prompt=none`. If the redirect URI is registered, the provider
/// redirects to it with an error; if not, it shows an error page (RFC 6749 section 4.1.2.1: no redirect to an unknown
/// address). No one is signed in.
///
/// Where that does not decide it, the probe sends the request of a sign-in. A generic provider's pages have no numbers, so
/// its page is compared with those for a client and for a redirect URI that do not exist.
struct RegistrationProbe: Sendable {
    /// The findings, and the state of two values that other probes depend on.
    struct Result: Sendable {
        /// The state of a value at the provider.
        enum Standing { case known, wrong, open }

        var findings: [CheckFinding] = []
        var client = Standing.open
        var redirectURI = Standing.open
    }

    let client: HTTPClient

    /// The redirect URI is not registered, or not for this platform. B2C has its own code.
    private static let unknownAddress = ["AADSTS50011", "AADSTS900971", "AADB2C90006", "AADB2C90007"]
    /// The provider does not know the client ID.
    private static let unknownClient = ["AADSTS700016", "AADB2C90018"]
    /// A scope is malformed, unknown, belongs to an unknown resource, or is missing from the registration
    /// (AADSTS650053 to 650057).
    private static let refusedScope = [
        "AADSTS70011", "AADSTS65005", "AADSTS500011", "AADSTS28004", "AADB2C90117", "AADB2C90146",
    ]
    private static let refusedScopeErrors: Set = ["invalid_scope", "invalid_resource"]
    /// The client may not use this flow.
    private static let refusedClientErrors: Set = [
        "unauthorized_client", "unsupported_response_type", "invalid_client",
    ]
    private static let why = "Nobody can sign in: the provider shows an error page instead of a sign-in page."

    /// Returns what is known without the provider's metadata, whose absence another finding reports.
    func result(for application: Application) -> Result { Result(findings: scopes(of: application)) }

    /// Asks the provider.
    ///
    /// - Parameters:
    ///   - provesClient: whether the token endpoint accepts the client.
    ///   - pushed: the result of a request that was sent in advance; it counts where the provider takes no other.
    func result(
        for application: Application, _ registration: CheckReport.Registration, at metadata: ProviderMetadata,
        provesClient: Bool, pushed: PushedProbe.Result?
    ) async -> Result {
        var result: Result
        if metadata.requiresPushedAuthorization, let pushed {
            guard case .opened(let answer) = pushed else { return self.result(for: application) }
            result = self.result(of: answer, application, registration) ?? self.result(for: application)
        } else {
            result = await asked(application, registration, metadata, provesClient)
        }
        result.findings = (result.findings + [kind(of: application, metadata)]).compactMap(\.self)
        return result
    }

    private func asked(
        _ application: Application, _ registration: CheckReport.Registration, _ metadata: ProviderMetadata,
        _ provesClient: Bool
    ) async -> Result {
        let own = application.registration
        let silent = await open(Prompt.none, own, metadata)
        if silent.returned != nil, silent.refusalWhenReturned == nil || isAboutScope(silent),
            let result = result(of: silent, application, registration)
        {
            return result
        }
        if silent.has(Self.unknownClient + Self.unknownAddress),
            let result = result(of: silent, application, registration)
        {
            return result
        }
        let page = await open(application.prompt, own, metadata)
        if let result = result(of: page, application, registration) { return result }
        if silent.returned != nil { return known(page, application) }
        guard application.kind == .oidc, page.status != .tooManyRequests else {
            return open(page, application, registration)
        }
        let result = await compared(page, application, registration, metadata, provesClient)
        // Some providers ask people to sign in before they look at anything else, unless the request forbids a page.
        guard result.redirectURI == .open, !page.isRefusal, silent.isRefusal,
            case (false, true) = await resemblances(of: silent, Prompt.none, own, metadata)
        else { return result }
        return unknownAddress(silent, application, registration)
    }

    private func open(
        _ prompt: Prompt?, _ registration: ClientRegistration, _ metadata: ProviderMetadata
    ) async -> SignInAnswer {
        // This attempt is only for the probe and is never stored.
        let attempt = AuthorizationAttempt(randomBytes: SessionStore.secureRandomBytes)
        func answer(to request: AuthorizationRequest) async -> SignInAnswer {
            await SignInAnswer(
                request.url(metadata: metadata, registration: registration, attempt: attempt),
                redirectURI: registration.redirectURI, clientID: registration.clientID, by: client)
        }
        var request = AuthorizationRequest(prompt: prompt)
        let first = await answer(to: request)
        guard first.error == "invalid_request",
            request.mayLackConsent(metadata: metadata, registration: registration)
        else { return first }
        // A sign-in is repeated in the same way.
        request.asksForConsent = true
        return await answer(to: request)
    }

    // MARK: Meaning

    private func isAboutScope(_ answer: SignInAnswer) -> Bool {
        answer.error.map(Self.refusedScopeErrors.contains) == true || answer.has(Self.refusedScope)
    }

    /// Returns the meaning of an answer that leaves no doubt; nil for a page that has none of the platform's numbers.
    private func result(
        of answer: SignInAnswer, _ application: Application, _ registration: CheckReport.Registration
    ) -> Result? {
        // A user flow reports an unknown address to another one, which may only differ from ours in a slash.
        if answer.returned != nil, !answer.has(Self.unknownAddress) {
            var findings: [CheckFinding] = [.good("redirect_uri", "The provider knows the redirect URI.")]
            if isAboutScope(answer) {
                findings.append(refusedScopes(of: application, answer))
            } else {
                if answer.refusalWhenReturned != nil { findings.append(refusal(answer, application)) }
                findings += scopes(of: application)
            }
            return Result(findings: findings, client: .known, redirectURI: .known)
        }
        if answer.has(Self.unknownClient) { return unknownClient(answer, application) }
        if answer.has(Self.unknownAddress) { return unknownAddress(answer, application, registration) }
        if answer.isOutOfOrder { return Result(findings: [refusal(answer, application)] + scopes(of: application)) }
        guard isAboutScope(answer) else { return nil }
        return Result(
            findings: open(answer, application, registration).findings.prefix(1) + [
                refusedScopes(of: application, answer)
            ])
    }

    /// Returns the meaning of a generic provider's page, by what it shows for values that do not exist.
    private func compared(
        _ page: SignInAnswer, _ application: Application, _ registration: CheckReport.Registration,
        _ metadata: ProviderMetadata, _ provesClient: Bool
    ) async -> Result {
        switch await resemblances(of: page, application.prompt, application.registration, metadata) {
        case (false, true) where page.isRefusal || page.isMereText:
            return unknownAddress(page, application, registration)
        case (true, _) where page.isRefusal:
            return provesClient
                ? unknownAddress(page, application, registration) : refusedEither(page, application, registration)
        case (false, false):
            return page.isMereText ? open(page, application, registration) : known(page, application)
        default: return open(page, application, registration)
        }
    }

    /// Returns whether an answer is the same as for a client and for a redirect URI that do not exist.
    private func resemblances(
        of answer: SignInAnswer, _ prompt: Prompt?, _ own: ClientRegistration, _ metadata: ProviderMetadata
    ) async -> (stranger: Bool, astray: Bool) {
        let random = UUID().uuidString.lowercased()
        func replaced(_ id: String, _ uri: String) -> ClientRegistration {
            ClientRegistration(
                clientID: id, redirectURI: uri, scopes: own.scopes, scopesAreComplete: own.scopesAreComplete,
                clientCapabilities: own.clientCapabilities)
        }
        let stranger = await open(prompt, replaced(random, own.redirectURI), metadata)
        let astray = await open(prompt, replaced(own.clientID, "\(own.redirectURI)/\(random)"), metadata)
        return (answer.resembles(stranger), answer.resembles(astray))
    }

    /// The client and the redirect URI are right; the page may still refuse something else.
    private func known(_ page: SignInAnswer, _ application: Application) -> Result {
        var findings: [CheckFinding] = [.good("redirect_uri", "The provider knows the redirect URI.")]
        if page.isRefusal { findings.append(refusal(page, application)) }
        return Result(findings: findings + scopes(of: application), client: .known, redirectURI: .known)
    }

    /// Only a sign-in can show it.
    private func open(
        _ page: SignInAnswer, _ application: Application, _ registration: CheckReport.Registration
    ) -> Result {
        let finding = CheckFinding.unknown(
            "redirect_uri",
            "Only a sign-in can show whether the provider knows the redirect URI \(registration.redirectURI) (it returned \(page.status?.code ?? 0))."
        )
        // A sign-in page has more to say than fits here, and nothing about this.
        let words = page.isRefusal || page.isMereText ? page.words : nil
        return Result(findings: [finding.quoting(words)] + scopes(of: application))
    }

    private func unknownClient(_ page: SignInAnswer, _ application: Application) -> Result {
        let finding = CheckFinding.mistake(
            "client_id", "The provider does not know the client ID \(application.registration.clientID).",
            why: "Nobody can sign in.",
            remedy: application.kind == .oidc
                ? "Copy the client ID from the client's registration at the provider: \(application.authority)."
                : "Copy “Application (client) ID” of the app registration, and name its tenant in authority: \(application.authority)."
        )
        return Result(findings: [application.kind == .oidc ? finding.quoting(page.words) : finding], client: .wrong)
    }

    private func unknownAddress(
        _ page: SignInAnswer, _ application: Application, _ registration: CheckReport.Registration
    ) -> Result {
        let finding = CheckFinding.mistake(
            "redirect_uri", "The provider does not know the redirect URI \(registration.redirectURI).", why: Self.why,
            remedy: Self.registering(registration, application))
        return Result(
            findings: [application.kind == .oidc ? finding.quoting(page.words) : finding], client: .known,
            redirectURI: .wrong)
    }

    private func refusedEither(
        _ page: SignInAnswer, _ application: Application, _ registration: CheckReport.Registration
    ) -> Result {
        // A page in another language, or without words, is quoted alone.
        let words = page.words?.lowercased() ?? ""
        switch (words.contains("client"), words.contains("redirect")) {
        case (true, false): return unknownClient(page, application)
        case (false, true): return unknownAddress(page, application, registration)
        default: break
        }
        let finding = CheckFinding.mistake(
            "redirect_uri",
            "The provider refuses the client ID or the redirect URI \(registration.redirectURI), and its page does not show which.",
            why: Self.why,
            remedy: "Compare apps.\(application.id).client_id with the client's registration. "
                + Self.registering(registration, application))
        return Result(findings: [finding.quoting(page.words)])
    }

    private static func registering(_ registration: CheckReport.Registration, _ application: Application) -> String {
        "Register exactly this text (with scheme, port and path, and no slash at the end) "
            + application.placeOfRedirectURI(registration.platform) + "."
    }

    /// The provider begins no sign-in, and another value than the client ID, redirect URI and scopes is the reason.
    private func refusal(_ answer: SignInAnswer, _ application: Application) -> CheckFinding {
        if let failure = answer.failure {
            return .mistake(
                "authorization", "The provider's sign-in page cannot be reached: \(failure)", why: Self.why,
                remedy: CheckFinding.remedy(reaching: application.authority))
        }
        if answer.isOutOfOrder {
            return .mistake(
                "authorization", "The provider's sign-in page returned \(answer.status?.code ?? 0).", why: Self.why,
                remedy: "Look at the provider's status page, and try again in a few minutes."
            ).quoting(answer.words)
        }
        let error = answer.error ?? answer.status.map { String($0.code) } ?? ""
        if Self.refusedClientErrors.contains(error) {
            return .mistake(
                "client_id", "The provider does not let this client sign people in (\(error)).",
                why: "Nobody can sign in.",
                remedy: "Allow the authorization code flow (response type code) in the client's registration."
            ).quoting(answer.words)
        }
        return .mistake(
            "authorization", "The provider refuses to begin a sign-in (\(error)).", why: "Nobody can sign in.",
            remedy:
                "Compare the provider's words with apps.\(application.id).prompt and scopes, and with the client's registration. "
                + "If it is out of order, try again in a few minutes."
        ).quoting(answer.words)
    }

    // MARK: Scopes and kind

    private func scopes(of application: Application) -> [CheckFinding] {
        let scopes = application.registration.scopes
        guard !scopes.isEmpty else { return [] }
        let finding = CheckFinding.unknown(
            "scopes",
            "Only a sign-in can show whether the provider grants the scopes \(scopes.joined(separator: " ")).")
        return [finding] + (orderOfScopes(application).map { [$0] } ?? [])
    }

    /// A token is for the API of the first scope.
    private func orderOfScopes(_ application: Application) -> CheckFinding? {
        guard application.graphMe != nil, let first = application.registration.apis.first,
            first != ClientRegistration.graphName
        else { return nil }
        return .advice(
            "scopes", "The first scope is one of \(first), but api is Microsoft Graph's.",
            why: "A token is for one API, that of the first scope, so the page's request has a token for another one.",
            remedy: "Put Microsoft Graph's scopes first in apps.\(application.id).scopes.")
    }

    private func refusedScopes(of application: Application, _ answer: SignInAnswer) -> CheckFinding {
        .mistake(
            "scopes",
            "The provider refuses the scopes \(application.registration.scopes.joined(separator: " ")).",
            why: "Nobody can sign in.",
            remedy: application.kind == .oidc
                ? "Compare apps.\(application.id).scopes with those that the client may ask for, letter by letter."
                : "Compare apps.\(application.id).scopes with the registration's API permissions, letter by letter."
        ).quoting(
            answer.returned == nil
                ? answer.error : [answer.error, answer.words].compactMap(\.self).joined(separator: ": "))
    }

    /// Checks the kind of the tenant. Only an external tenant has its form of issuer, but an authority of another
    /// kind may still accept such requests.
    private func kind(of application: Application, _ metadata: ProviderMetadata) -> CheckFinding? {
        switch metadata.isOfConfiguredKind {
        case true: return nil
        case false:
            return .mistake(
                "kind", "kind is external, but \(application.authority) is not an external tenant.",
                why:
                    "Its accounts, APIs and consent follow the rules of workforce tenants, which the server would not.",
                remedy: "Set apps.\(application.id).kind to workforce, or name the external tenant in authority.")
        case nil:
            return .unknown(
                "kind",
                "Only a sign-in can show whether the authority is an external tenant; its issuer does not say so.")
        }
    }
}
