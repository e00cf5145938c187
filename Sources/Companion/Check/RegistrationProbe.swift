import Foundation
import HTTPClient
import OpenIDConnect
import SessionStore

/// Asks the provider whether the redirect URI is registered, as a browser without a session would ask: a request to sign
/// in with `prompt=none` is sent back to the redirect URI with an error where that is registered, and answered with an
/// error page where it is not (RFC 6749 section 4.1.2.1: no redirect to an unknown address). Nobody signs in.
struct RegistrationProbe: Sendable {
    let client: HTTPClient
    let directory: ProviderDirectory

    /// The redirect URI is not registered, or not for this platform; B2C has a number of its own.
    private static let unknownAddress = ["AADSTS50011", "AADSTS900971", "AADB2C90006"]
    /// The client id is not known there.
    private static let unknownClient = ["AADSTS700016", "AADB2C90018"]

    /// nil when the provider's answer leaves it open.
    func finding(for application: Application, _ registration: CheckReport.Registration) async -> CheckFinding? {
        guard let metadata = try? await directory.metadata(for: application.authority) else { return nil }
        // Made for this question, and kept by nobody.
        let attempt = AuthorizationAttempt(randomBytes: SessionStore.secureRandomBytes)
        let url = AuthorizationRequest(prompt: Prompt.none).url(
            metadata: metadata, registration: application.registration, attempt: attempt)
        guard let endpoint = Endpoint(url) else { return nil }
        let request = ProviderRequest.page(endpoint)
        guard let answer = try? await client.send(request.head) else { return nil }
        if let location = answer.head.headerFields[.location], location.hasPrefix(registration.redirectURI) {
            return .good("redirect_uri", "The provider knows the redirect URI.").of(application)
        }
        let text = String(decoding: answer.body, as: UTF8.self)
        if Self.unknownClient.contains(where: text.contains) {
            return .mistake(
                "client_id", "The provider does not know the client ID \(application.registration.clientID).",
                why: "Nobody can sign in.",
                remedy:
                    "Copy “Application (client) ID” of the app registration, and name its tenant in authority: \(application.authority)."
            ).of(application)
        }
        let isRefused =
            Self.unknownAddress.contains(where: text.contains)
            || (application.kind == .oidc && answer.head.status.kind == .clientError
                && text.lowercased().contains("redirect"))
        guard isRefused else { return nil }
        return .mistake(
            "redirect_uri", "The provider does not know the redirect URI \(registration.redirectURI).",
            why: "Nobody can sign in: the provider shows an error page instead of a sign-in page.",
            remedy:
                "Register exactly this text (with scheme, port and path, and no slash at the end) under Authentication, "
                + "platform \(registration.platform)."
        ).of(application)
    }
}
