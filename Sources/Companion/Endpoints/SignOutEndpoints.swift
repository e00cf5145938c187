import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import OpenIDConnect
import SessionStore

/// The end of a session: by the person here, or by the provider.
extension Endpoints {
    private struct SignOutBody: Decodable {
        var browser: Bool?
        var account: String?
    }

    private struct SignOutAnswer: Encodable {
        @OrNull var redirect: String?
    }

    func signOut(_ exchange: Exchange, request: Request) async throws -> Response {
        let application = try application(exchange)
        let body: SignOutBody = try decode(request.body)
        let session = try await session(exchange)
        let account =
            body.account.map { session?.account(for: application.id, id: $0) }
            ?? session?.currentAccount(for: application.id)
        guard let session, let account else {
            return signedOut(redirect: await signOutFlow.signOutOfProvider(application))
        }
        let result = try await signOutFlow.signOut(
            application, session: session, account: account, ofBrowser: body.browser ?? false)
        let response = signedOut(redirect: result.redirect)
        return configuration.deviceMode == .shared ? response : cookie.setting(result.sessionID, on: response)
    }

    private func signedOut(redirect: String?) -> Response {
        var response = Response.json(SignOutAnswer(redirect: redirect))
        guard configuration.deviceMode == .shared else { return response }
        // The browser keeps nothing of a person at a shared device, the cookie included.
        response.headerFields[.clearSiteData] = "\"cache\", \"cookies\", \"storage\""
        return cookie.ending(on: response)
    }

    /// OpenID Connect Front-Channel Logout 1.0: the provider's page fetches this in a hidden frame. No cookie comes with
    /// it, and none is needed.
    func frontChannelLogout(_ exchange: Exchange) async throws -> Response {
        try await channelLogout.front(issuer: exchange.field("iss"), sid: exchange.field("sid"))
        return Response(
            status: .ok,
            headerFields: [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
                // Framable here alone, and with nothing in it to click on.
                .contentSecurityPolicy: "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors *",
                .crossOriginResourcePolicy: "cross-origin",
            ], body: Array("<!doctype html><title>Signed out</title>".utf8))
    }

    private struct LogoutError: Encodable {
        var error: String
        var error_description: String
    }

    /// OpenID Connect Back-Channel Logout 1.0 section 2.8: 200, or 400 with an OAuth error.
    func backChannelLogout(_ request: Request) async throws -> Response {
        let token = try? FormFields(body: request.body)["logout_token"]
        do throws(Problem) {
            try await channelLogout.back(token: token)
            return Response(status: .ok, headerFields: [.cacheControl: "no-store"], body: [])
        } catch {
            guard error.status == .badRequest else { throw error }
            return .json(
                LogoutError(error: "invalid_request", error_description: error.detail.english), status: .badRequest)
        }
    }
}

extension HTTPField.Name {
    /// Clear Site Data (W3C).
    static let clearSiteData = literal("clear-site-data")
}
