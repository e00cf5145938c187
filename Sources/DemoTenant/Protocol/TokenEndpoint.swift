import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

extension Platform {
    /// `POST /{tenant}/oauth2/v2.0/token`
    func token(_ request: Request, segment: TenantSegment) async -> Response {
        controls.count(.tokenRequests)
        return await answer(request, segment) { try $0.tokens() }
    }

    /// `POST /{tenant}/oauth2/v2.0/devicecode`
    func deviceCode(_ request: Request, segment: TenantSegment) async -> Response {
        await answer(request, segment) { try $0.deviceCode() }
    }

    /// Answers an application, with the failures that were requested for the token endpoint.
    private func answer(
        _ request: Request, _ segment: TenantSegment, _ make: (GrantRequest) throws -> JSONValue
    ) async -> Response {
        let settings = controls.settings
        if let delay = settings.delay(of: .token) { try? await Task.sleep(for: .milliseconds(delay)) }
        if let injected = controls.takeInjected(.token) {
            controls.count(.tokenFailed)
            return injected.response
        }
        if controls.takeLostTokenAnswer() {
            _ = answer(request, segment, settings, make)
            return .noStore(.gatewayTimeout, "text/plain; charset=utf-8", Array("upstream request timeout".utf8))
        }
        return answer(request, segment, settings, make)
    }

    private func answer(
        _ request: Request, _ segment: TenantSegment, _ settings: Controls.Settings,
        _ make: (GrantRequest) throws -> JSONValue
    ) -> Response {
        do {
            let exchange = try Exchange(request, platform: self)
            do {
                if let error = controls.takePlatformError(.token) { throw error }
                let request = GrantRequest(platform: self, exchange: exchange, segment: segment, settings: settings)
                guard exchange.fields.hasRepeatedNames == false else { throw PlatformError.malformedRequest }
                return identified(.json(.ok, try make(request)), exchange.diagnostics)
            } catch let error as PlatformError {
                return tokenError(error, exchange.diagnostics)
            }
        } catch {
            if !(error is PlatformError) { logger.error("A token request to the demo tenant failed.", error: error) }
            return tokenError(error as? PlatformError ?? .serverError, Diagnostics(request, nil, platform: self))
        }
    }

    /// Returns a refusal to an application that has sent a form.
    func tokenError(_ error: PlatformError, _ diagnostics: Diagnostics) -> Response {
        controls.count(.tokenFailed)
        return identified(.json(error.status, diagnostics.json(error)), diagnostics)
    }

    private func identified(_ response: Response, _ diagnostics: Diagnostics) -> Response {
        var response = response
        for (name, value) in [
            ("x-ms-request-id", diagnostics.traceID), ("client-request-id", diagnostics.correlationID),
        ] {
            if let name = HTTPField.Name(name) { response.headerFields[name] = value }
        }
        return response
    }
}

/// A request of an application for tokens, or for a code of its own. Each grant has an extension in a file of its own.
struct GrantRequest {
    let platform: Platform
    let exchange: Exchange
    let segment: TenantSegment
    let settings: Controls.Settings

    var fields: FormFields { exchange.fields }
    var controls: Controls { platform.controls }
    var state: TenantState { platform.state }
    var now: Date { exchange.diagnostics.time }

    /// Returns the tokens for the grant that the request names.
    fileprivate func tokens() throws -> JSONValue {
        switch fields.text("grant_type") {
        case nil: throw PlatformError.missingParameter("grant_type")
        case "authorization_code": return try redeemCode()
        case "refresh_token": return try refresh()
        case "client_credentials": return try ownToken()
        case DeviceCode.grantType where segment.userFlow == nil: return try deviceTokens()
        case let other?:
            _ = try authenticatedClient()
            throw PlatformError.unsupportedGrantType(other)
        }
    }

    /// Throws if everything that was issued under an authentication has ended since.
    func checkRevocation(_ account: DemoAccount, _ authentication: Authentication) throws(PlatformError) {
        guard state.read({ $0.revocations[account.username, default: 0] }) == authentication.revocations else {
            throw .grantRevoked
        }
    }

    /// Returns the issuer of a person's tokens.
    func issuer(
        _ client: DemoClient, _ redirectClass: DemoClient.RedirectClass?, _ account: DemoAccount,
        _ authentication: Authentication, requested: RequestedClaims = .none
    ) -> TokenIssuer {
        TokenIssuer(
            platform: platform, client: client, redirectClass: redirectClass, segment: segment, account: account,
            authentication: authentication, now: now, settings: settings, requested: requested)
    }

    /// Returns the scopes of both, without duplicates.
    func merged(_ first: [String], _ second: [String]) -> [String] {
        first + second.filter { !first.contains($0) }
    }
}

extension Diagnostics {
    /// Returns the body of an error.
    func json(_ error: PlatformError) -> JSONValue {
        var body: [String: JSONValue] = [
            "error": .string(error.error), "error_description": .string(describe(error)),
            "timestamp": .string(timestamp), "trace_id": .string(traceID),
            "correlation_id": .string(correlationID),
        ]
        if error.prefix == PlatformError.workforcePrefix { body["error_codes"] = [.integer(error.number)] }
        if let suberror = error.suberror { body["suberror"] = .string(suberror) }
        if let claims = error.claims { body["claims"] = .string(claims) }
        return .object(body)
    }
}

extension Controls.InjectedAnswer {
    /// Returns the response that was requested at `/control`.
    var response: Response {
        let content: (type: String, bytes: [UInt8])
        if let text = body.string {
            content = ("text/plain; charset=utf-8", Array(text.utf8))
        } else if body == .null {
            content = ("text/plain; charset=utf-8", [])
        } else {
            content = ("application/json; charset=utf-8", body.bytes)
        }
        var response = Response.noStore(HTTPResponse.Status(code: status), content.type, content.bytes)
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { response.headerFields[name] = value }
        }
        return response
    }
}
