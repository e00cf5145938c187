import Foundation
package import HTTPServer
import HTTPTypes
package import HTTPWire
import TenantControl
package import TenantDirectory
import WebFormats

extension IdentityPlatform {
    /// `POST /{tenant}/oauth2/v2.0/token`, or `oauth2/token`
    package func token(_ request: Request, segment: TenantSegment, isVersion1: Bool = false) async -> Response {
        controls.count(.tokenRequests)
        return await answer(request, segment, isVersion1) { try $0.tokens() }
    }

    /// `POST /{tenant}/oauth2/v2.0/devicecode`, or `oauth2/devicecode`
    package func deviceCode(_ request: Request, segment: TenantSegment, isVersion1: Bool = false) async -> Response {
        await answer(request, segment, isVersion1) { try $0.deviceCode() }
    }

    /// Answers an application, with the failures that were requested for the token endpoint.
    private func answer(
        _ request: Request, _ segment: TenantSegment, _ isVersion1: Bool,
        _ make: (GrantRequest) throws -> JSONValue
    ) async -> Response {
        let settings = controls.settings
        guard await controls.delay(at: .token) else {
            // Nobody reads the answer any more. A grant that was redeemed for it would be lost.
            controls.count(.tokenFailed)
            return .noStore(.gatewayTimeout, "text/plain; charset=utf-8", Array("the client is gone".utf8))
        }
        if let injected = controls.takeInjected(.token) {
            controls.count(.tokenFailed)
            return injected.response
        }
        if controls.takeLostTokenAnswer() {
            _ = answer(request, segment, isVersion1, settings, make)
            return .noStore(.gatewayTimeout, "text/plain; charset=utf-8", Array("upstream request timeout".utf8))
        }
        return answer(request, segment, isVersion1, settings, make)
    }

    private func answer(
        _ request: Request, _ segment: TenantSegment, _ isVersion1: Bool, _ settings: Controls.Settings,
        _ make: (GrantRequest) throws -> JSONValue
    ) -> Response {
        let exchange = Exchange(request, clock: clock, isVersion1: isVersion1)
        do {
            try exchange.check()
            if let error = controls.takeTokenError() { throw error }
            let request = GrantRequest(
                platform: self, exchange: exchange, segment: segment, settings: settings, isVersion1: isVersion1)
            guard exchange.fields.hasRepeatedNames == false else { throw PlatformError.malformedRequest }
            try exchange.fields.checkSupport()
            return identified(.json(.ok, try make(request)), exchange.diagnostics)
                .with(.clientTelemetry, segment.userFlow == nil ? "1,0,0,," : nil)
        } catch {
            if !(error is PlatformError) { logger.error("A token request to the demo tenant failed.", error: error) }
            return tokenError(
                error as? PlatformError ?? .serverError, at: segment, exchange.diagnostics,
                scope: exchange.fields.text("scope"), isVersion1: isVersion1)
        }
    }

    /// Returns a refusal to an application that has sent a form.
    ///
    /// - Parameter scope: The scopes of the form, which a user flow names.
    func tokenError(
        _ error: PlatformError, at segment: TenantSegment, _ diagnostics: Diagnostics, scope: String? = nil,
        isVersion1: Bool = false
    ) -> Response {
        controls.count(.tokenFailed)
        let error = error.atTokenEndpoint(isVersion1: isVersion1).at(segment, client: nil, scope: scope)
        let isOfWorkforce = error.prefix == PlatformError.workforcePrefix
        return identified(.json(error.status, diagnostics.json(error)), diagnostics)
            .with(.clientTelemetry, isOfWorkforce ? "1,\(error.number),0,," : nil)
    }

    func identified(_ response: Response, _ diagnostics: Diagnostics) -> Response {
        // Pragma is for caches older than Cache-Control (RFC 6749 section 5.1, tok-ok-15).
        response.with(.platformRequestID, diagnostics.traceID)
            .with(.clientRequestID, diagnostics.correlationID)
            .with(.pragma, "no-cache").with(.expires, "-1")
    }
}

/// A request of an application for tokens, or for a code of its own. Each grant has an extension in a file of its own.
struct GrantRequest {
    let platform: IdentityPlatform
    let exchange: Exchange
    let segment: TenantSegment
    let settings: Controls.Settings
    /// Whether an address of version 1 was asked.
    var isVersion1 = false

    var fields: FormFields { exchange.fields }
    var controls: Controls { platform.controls }
    var state: TenantState { platform.state }
    var now: Date { exchange.diagnostics.time }

    /// Returns the tokens for the grant that the request names.
    fileprivate func tokens() throws -> JSONValue {
        switch try fields.required("grant_type") {
        case "authorization_code": return try redeemCode()
        case "refresh_token": return try refresh()
        case "client_credentials": return try ownToken()
        case DeviceCode.grantType where segment.userFlow == nil: return try deviceTokens()
        // The word of older clients, such as MSAL for Node of 2022 (dc-09).
        case "device_code" where segment.userFlow == nil: return try deviceTokens()
        case Self.onBehalfOf where segment.userFlow == nil: return try tokenOnBehalf()
        case let type where isNative(type): return try nativeTokens(type)
        case "password" where platform.grants.allowsPasswords: return try tokensOfPassword()
        case let other:
            _ = try authenticatedClient()
            throw PlatformError.unsupportedGrantType(other)
        }
    }

    /// Returns the person of a grant.
    func person(_ username: String) throws(PlatformError) -> DemoAccount {
        guard let account = platform.people.account(username: username) else {
            throw .unknownPerson(username, at: segment)
        }
        return account
    }

    /// Throws if everything that was issued under an authentication has ended since.
    ///
    /// - Parameter issued: The time of the grant, for the sentence.
    func checkRevocation(
        _ account: DemoAccount, _ authentication: Authentication, issued: Date
    ) throws(PlatformError) {
        guard state.read({ $0.revocations[account.username, default: 0] }) != authentication.revocations else { return }
        throw .revokedGrant(issued: issued, validFrom: state.tokensValidFrom(account))
    }

    /// Runs the rest of a grant, whose refusals a personal account gets in words of its own.
    func inWords(of account: DemoAccount, _ rest: () throws -> JSONValue) throws -> JSONValue {
        do {
            return try rest()
        } catch let error as PlatformError where account.kind == .personal {
            throw error.ofPersonalAccount
        }
    }

    /// Returns the scopes of a request, all of which exist and are of APIs that the registration lists.
    ///
    /// - Parameter granted: Those of the grant, if the request names none.
    func scopes(
        _ asked: String?, of client: DemoClient, granted: [String] = []
    ) throws(PlatformError) -> [String] {
        var scopes = granted
        if let asked { scopes = try platform.scopes.parse(asked, of: client, tenant: segment.directoryID) }
        try platform.grants.checkPermissions(of: client, scopes: scopes)
        return scopes
    }

    /// Throws if the address is of version 1, and the tenant of the person's account knows only version 2.
    func checkVersion(for account: DemoAccount) throws(PlatformError) {
        if isVersion1, segment.tenantID(for: account) == Tenant.consumers { throw .noVersion1ForPersonalAccounts }
    }

    /// Throws if a grant is of another user flow of the B2C tenant (t2-b2c-04).
    func checkUserFlow(_ issued: UserFlow?) throws(PlatformError) {
        guard let issued, let asked = segment.userFlow, issued != asked else { return }
        throw .grantOfAnotherFlow(issued, asked: asked)
    }

    /// Returns the issuer of a person's tokens.
    func issuer(
        _ client: DemoClient, _ redirectClass: DemoClient.RedirectClass?, _ account: DemoAccount,
        _ authentication: Authentication, requested: RequestedClaims = .none
    ) -> TokenIssuer {
        // Those that follow a revocation within its second are of the next one. A user flow's, which nobody looks at for
        // that, are not backdated, and would begin after they are there.
        let validFrom = segment.userFlow == nil ? state.tokensValidFrom(account) : nil
        return TokenIssuer(
            platform: platform, client: client, redirectClass: redirectClass, segment: segment, account: account,
            authentication: authentication, now: max(now, validFrom ?? now), settings: settings,
            clientProof: redirectClass == .web || redirectClass == nil && !client.isPublic ? clientProof : "0",
            requested: requested, isVersion1: isVersion1,
            isOnBehalf: fields.text("grant_type") == Self.onBehalfOf,
            challenge: controls.challengeMet(by: account.objectID, asking: requested.notBefore))
    }

    /// Returns the scopes of both, without duplicates.
    func merged(_ first: [String], _ second: [String]) -> [String] {
        first + second.filter { !first.contains($0) }
    }
}

extension FormFields {
    /// Refuses proof of possession (`token_type=pop`, `req_cnf`) and nested authentication (`brk_client_id`), which the
    /// tenant does not have. Without them an app would get something other than what it asked for.
    func checkSupport() throws(PlatformError) {
        if let type = text("token_type"), type.lowercased() != "bearer" {
            throw .unsupportedValue(type, of: "token_type")
        }
        for name in ["req_cnf", "brk_client_id", "brk_redirect_uri"] where text(name) != nil {
            throw .unsupportedParameter(name)
        }
    }
}

extension IdentityPlatform {
    /// Returns an error as JSON, for endpoints that are not pages.
    package func json(_ error: PlatformError, _ request: Request) -> Response {
        .json(error.status, Diagnostics(request, nil, clock: clock).json(error))
    }
}

extension Diagnostics {
    /// Returns the body of an error.
    func json(_ error: PlatformError) -> JSONValue {
        var body: [String: JSONValue] = [
            "error": .string(error.error), "error_description": .string(describe(error)),
        ]
        if error.prefix == PlatformError.workforcePrefix {
            body.merge([
                "error_codes": [.integer(error.number)], "timestamp": .string(timestamp), "trace_id": .string(traceID),
                "correlation_id": .string(correlationID),
            ]) { $1 }
            body["error_uri"] = error.page.map(JSONValue.string)
        }
        if let suberror = error.suberror { body["suberror"] = .string(suberror) }
        body.merge(error.members) { $1 }
        if let claims = error.claims { body["claims"] = .string(claims) }
        return .object(body)
    }
}
