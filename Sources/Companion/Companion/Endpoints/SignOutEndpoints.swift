import CompanionCore
import CompanionSignIn
import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

/// Ends sessions, at the request of the person or of the provider.
struct SignOutEndpoints: Sendable {
    let flow: SignOutFlow
    let channels: ChannelLogout
    let cookie: SessionCookie
    let attempts: AttemptCookies

    private struct SignOutBody: Decodable {
        var browser: Bool?
        var account: String?
    }

    func signOut(_ visit: Visit) async throws -> Response {
        let body: SignOutBody = try visit.call.body()
        guard let asking = try? visit.signedIn(as: body.account) else {
            return signedOut(visit, redirect: await flow.signOutOfProvider(visit.application))
        }
        let result = try await flow.signOut(asking, ofBrowser: body.browser ?? false)
        let response = signedOut(visit, redirect: result.redirect)
        return cookie.isShared ? response : cookie.setting(result.sessionID, on: response)
    }

    private func signedOut(_ visit: Visit, redirect: String?) -> Response {
        var answer: [String: JSONValue] = ["redirect": .orNull(redirect)]
        if flow.keepsSession(visit.application) { answer["provider_keeps_session"] = true }
        var response = Response.json(.object(answer))
        guard cookie.isShared else { return response }
        // On a shared device the browser must keep no trace of a person, not even cookies.
        response.headerFields[.clearSiteData] = "\"cache\", \"cookies\", \"storage\""
        return attempts.ending(in: visit.call.request.head, on: cookie.endingMark(on: cookie.ending(on: response)))
    }

    /// Handles OpenID Connect Front-Channel Logout 1.0: the provider's page loads this in a hidden frame. The request
    /// has no cookie and needs none.
    func frontChannelLogout(_ call: Call) async throws -> Response {
        try await channels.front(issuer: call.field("iss"), sid: call.field("sid"))
        return Response(
            status: .ok,
            headerFields: [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
                // Only this response may be framed, and it contains nothing to click on.
                .contentSecurityPolicy: "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors *",
                .crossOriginResourcePolicy: "cross-origin",
            ], body: Array("<!doctype html><title>Signed out</title>".utf8))
    }

    /// Handles OpenID Connect Back-Channel Logout 1.0 section 2.8: returns 200, or 400 with an OAuth error.
    func backChannelLogout(_ call: Call) async throws -> Response {
        let token = try? FormFields(body: call.request.body)["logout_token"]
        do throws(Problem) {
            try await channels.back(token: token)
            return .noStore(.ok)
        } catch {
            guard error.status == .badRequest else { throw error }
            return .json(
                ["error": "invalid_request", "error_description": .string(error.detail.english)], status: .badRequest)
        }
    }
}
