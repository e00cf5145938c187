import CompanionCore
import CompanionSignIn
import Foundation
import HTTPClient
import HTTPTypes
import OpenIDConnect
import SessionStore

/// Asks the provider whether people could sign in to the application as it is configured. The probe sends the sign-in
/// request of a browser without a session, with `prompt=none`. If the redirect URI is registered, the provider
/// redirects to it with an error; if not, it shows an error page (RFC 6749 section 4.1.2.1: no redirect to an unknown
/// address). No one is signed in.
struct RegistrationProbe: Sendable {
    let client: HTTPClient
    let directory: ProviderDirectory

    /// The redirect URI is not registered, or not for this platform. B2C has its own code.
    private static let unknownAddress = ["AADSTS50011", "AADSTS900971", "AADB2C90006"]
    /// The provider does not know the client ID.
    private static let unknownClient = ["AADSTS700016", "AADB2C90018"]
    /// A scope is malformed, unknown, belongs to an unknown resource, or is missing from the registration
    /// (AADSTS650053 to 650057).
    private static let refusedScope = [
        "AADSTS70011", "AADSTS65005", "AADSTS500011", "AADSTS28004", "AADB2C90117", "AADB2C90146",
    ]
    private static let refusedScopeErrors: Set = ["invalid_scope", "invalid_resource"]
    /// The errors of a provider that needs to show a page (OpenID Connect Core section 3.1.2.6), and OAuth's refusal
    /// without one.
    private static let needsPage: Set = [
        "login_required", "interaction_required", "consent_required", "account_selection_required", "access_denied",
    ]

    /// Returns no findings if the provider's metadata cannot be loaded, because another finding reports that.
    func findings(for application: Application, _ registration: CheckReport.Registration) async -> [CheckFinding] {
        guard let metadata = try? await directory.metadata(for: application.authority) else { return [] }
        // This attempt is only for the probe and is never stored.
        let attempt = AuthorizationAttempt(randomBytes: SessionStore.secureRandomBytes)
        let url = AuthorizationRequest(prompt: Prompt.none).url(
            metadata: metadata, registration: application.registration, attempt: attempt)
        guard let endpoint = Endpoint(url) else { return [] }
        let answer = try? await client.send(ProviderRequest.page(endpoint))
        let found: [CheckFinding?]
        if let query = answer.flatMap({ Self.query($0, at: registration.redirectURI) }) {
            let refusal = Self.error(query, attempt, metadata)
            found = [
                .good("redirect_uri", "The provider knows the redirect URI."), refusedClient(application, refusal),
                scopes(of: application, refusal: refusal),
            ]
        } else {
            found = page(answer, of: application, registration)
        }
        return (found + [kind(of: application, metadata)]).compactMap { $0?.of(application) }
    }

    // MARK: Response

    /// Returns the query with which the provider redirects to the redirect URI; nil if it does not redirect there.
    private static func query(_ answer: ProviderResponse, at redirectURI: String) -> String? {
        guard let location = answer.head.headerFields[.location], location.hasPrefix(redirectURI + "?") else {
            return nil
        }
        return String(location.dropFirst(redirectURI.count + 1).prefix { $0 != "#" })
    }

    /// Returns the provider's refusal; nil if there is none, or if the provider only wants to show a page.
    private static func error(
        _ query: String, _ attempt: AuthorizationAttempt, _ metadata: ProviderMetadata
    ) -> OpenIDError? {
        do throws(OpenIDError) {
            _ = try Callback(query: query).validated(against: attempt, metadata: metadata)
            return nil
        } catch {
            return error.providerError.map(needsPage.contains) == false || isAboutScope(error) ? error : nil
        }
    }

    private static func isAboutScope(_ error: OpenIDError) -> Bool {
        let numbers = error.aadsts.map { "AADSTS\($0)" } + error.aadb2c.map { "AADB2C\($0)" }
        return error.providerError.map(refusedScopeErrors.contains) == true
            || numbers.contains { number in refusedScope.contains(where: number.hasPrefix) }
    }

    // MARK: Meaning

    /// Interprets a response in which the provider shows a page of its own, either to sign in or to report an error,
    /// or nothing at all.
    private func page(
        _ answer: ProviderResponse?, of application: Application, _ registration: CheckReport.Registration
    ) -> [CheckFinding?] {
        let text = answer.map { String(decoding: $0.body, as: UTF8.self) } ?? ""
        if Self.unknownClient.contains(where: text.contains) {
            return [
                .mistake(
                    "client_id", "The provider does not know the client ID \(application.registration.clientID).",
                    why: "Nobody can sign in.",
                    remedy:
                        "Copy “Application (client) ID” of the app registration, and name its tenant in authority: \(application.authority)."
                )
            ]
        }
        let status = answer?.head.status
        let isRefused = application.kind == .oidc && status?.kind == .clientError && status != .tooManyRequests
        if isRefused || Self.unknownAddress.contains(where: text.contains) {
            return [
                .mistake(
                    "redirect_uri",
                    isRefused
                        ? "The provider returns \(status?.code ?? 0) to a sign-in with the redirect URI \(registration.redirectURI)."
                        : "The provider does not know the redirect URI \(registration.redirectURI).",
                    why: "Nobody can sign in: the provider shows an error page instead of a sign-in page.",
                    remedy:
                        "Register exactly this text (with scheme, port and path, and no slash at the end) under Authentication, "
                        + "platform \(registration.platform)."
                        + (isRefused ? " If it is registered, compare client_id and scopes with the registration." : "")
                )
            ]
        }
        let said = status.map { "it returned \($0.code)" } ?? "it did not answer"
        return [
            .unknown(
                "redirect_uri",
                "Only a sign-in can show whether the provider knows the redirect URI \(registration.redirectURI) (\(said))."
            ),
            Self.refusedScope.contains(where: text.contains)
                ? refusedScopes(of: application, nil) : scopes(of: application, refusal: nil),
        ]
    }

    private func refusedClient(_ application: Application, _ refusal: OpenIDError?) -> CheckFinding? {
        guard let error = refusal?.providerError, ["unauthorized_client", "unsupported_response_type"].contains(error)
        else { return nil }
        return .mistake(
            "client_id", "The provider does not let this client sign people in (\(error)).", why: "Nobody can sign in.",
            remedy: "Allow the authorization code flow (response type code) in the client's registration.")
    }

    /// - Parameter refusal: the reason why the provider does not begin a sign-in.
    private func scopes(of application: Application, refusal: OpenIDError?) -> CheckFinding? {
        if let refusal, Self.isAboutScope(refusal) { return refusedScopes(of: application, refusal) }
        let scopes = application.registration.scopes
        let apis = application.kind == .oidc ? [] : application.registration.apis
        if apis.count > 1 {
            return .mistake(
                "scopes", "The scopes belong to several APIs: \(apis.joined(separator: ", ")).",
                why:
                    "The platform issues a token for one API at a time: the sign-in page comes, then the code is refused "
                    + "(AADSTS28000).",
                remedy: "Leave only the scopes of one API in apps.\(application.id).scopes: those of its api.")
        }
        guard !scopes.isEmpty else { return nil }
        let said = refusal?.providerError.map { " (it returned \($0))" } ?? ""
        return .unknown(
            "scopes",
            "Only a sign-in can show whether the provider grants the scopes \(scopes.joined(separator: " "))\(said).")
    }

    private func refusedScopes(of application: Application, _ refusal: OpenIDError?) -> CheckFinding {
        let said = refusal?.providerError.map { " (\($0))" } ?? ""
        return .mistake(
            "scopes",
            "The provider refuses the scopes \(application.registration.scopes.joined(separator: " "))\(said).",
            why: "Nobody can sign in.",
            remedy:
                "Compare apps.\(application.id).scopes with the registration's API permissions, letter by letter.")
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
