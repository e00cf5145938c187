import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

extension Platform {
    /// `POST /{tenant}/oauth2/v2.0/token`
    func token(_ request: Request, segment: TenantSegment) async -> Response {
        let settings = controls.settings
        controls.count(.tokenRequests)
        if let delay = settings.delayMilliseconds[.token] { try? await Task.sleep(for: .milliseconds(delay)) }
        if let injected = controls.takeInjected(.token) {
            controls.count(.tokenFailed)
            return injected.response
        }
        if controls.takeLostTokenAnswer() {
            _ = answer(request, segment, settings)
            return .noStore(.gatewayTimeout, "text/plain; charset=utf-8", Array("upstream request timeout".utf8))
        }
        return answer(request, segment, settings)
    }

    private func answer(_ request: Request, _ segment: TenantSegment, _ settings: Controls.Settings) -> Response {
        do {
            let exchange = try Exchange(request, platform: self)
            do {
                if let number = controls.takePlatformError(.token), let error = PlatformError.numbered(number) {
                    throw error
                }
                return identified(try token(exchange, segment, settings), exchange.diagnostics)
            } catch let error as PlatformError {
                return tokenError(error, exchange.diagnostics)
            }
        } catch {
            if !(error is PlatformError) { logger.error("A token request to the demo tenant failed.", error: error) }
            return tokenError(error as? PlatformError ?? .serverError, Diagnostics(request, nil, platform: self))
        }
    }

    private func token(
        _ exchange: Exchange, _ segment: TenantSegment, _ settings: Controls.Settings
    ) throws -> Response {
        let fields = exchange.fields
        guard fields.hasRepeatedNames == false else { throw PlatformError.malformedRequest }
        guard let grantType = fields.text("grant_type") else { throw PlatformError.missingParameter("grant_type") }
        // An application's own token needs an explicit tenant, because no person's account implies one.
        if grantType == "client_credentials", !segment.isTenant { throw PlatformError.noTenantForOwnToken }
        switch grantType {
        case "authorization_code":
            let code = fields.text("code").flatMap { state.sealer.open($0, for: .code, as: AuthorizationCode.self) }
            let client = try authenticatedClient(
                exchange, segment, redeeming: code.map { ($0.clientID, $0.redirectClass) })
            let answer = try redeem(code, exchange, segment, client, settings)
            controls.count(.tokenCode)
            return .json(.ok, answer)
        case "refresh_token":
            let token = fields.text("refresh_token").flatMap {
                state.sealer.open($0, for: .refreshToken, as: RefreshToken.self)
            }
            let client = try authenticatedClient(
                exchange, segment, redeeming: token.map { ($0.clientID, $0.redirectClass) })
            let answer = try refresh(token, exchange, segment, client, settings)
            controls.count(.tokenRefresh)
            return .json(.ok, answer)
        case "client_credentials":
            let client = try authenticatedClient(exchange, segment)
            return .json(.ok, try ownToken(exchange, segment, client, settings))
        default:
            _ = try authenticatedClient(exchange, segment)
            throw PlatformError.unsupportedGrantType(grantType)
        }
    }

    // MARK: The client

    /// Returns the client after it has authenticated itself as the class of the redirect URI demands to which the code
    /// was issued.
    ///
    /// - Parameter grant: The client and the class of the code or refresh token. Without one, or with one of another
    ///   client, the registration decides.
    private func authenticatedClient(
        _ exchange: Exchange, _ segment: TenantSegment,
        redeeming grant: (clientID: String, redirectClass: DemoClient.RedirectClass?)? = nil
    ) throws(PlatformError) -> DemoClient {
        let basic = try basicCredentials(exchange.request.head)
        guard let id = basic?.id ?? exchange.fields.text("client_id") else { throw .missingParameter("client_id") }
        ClientNote.change { $0.clientID = id }
        let client = try registrations.client(id: id, at: segment)
        if basic != nil, let other = exchange.fields.text("client_id"), other.lowercased() != client.id.lowercased() {
            throw .malformedRequest
        }
        let secret = basic?.secret ?? exchange.fields.text("client_secret")
        let assertion = exchange.fields.text("client_assertion")
        let hasCredential = secret != nil || assertion != nil
        let isScript = exchange.request.head[.origin] != nil
        switch grant.flatMap({ $0.clientID == client.id ? $0.redirectClass : nil }) {
        case .spa where isScript && !hasCredential: return client
        case .spa where !isScript: throw .scriptExpected
        case _ where isScript: throw .scriptNotExpected
        case nil where client.isPublic, .native:
            guard !hasCredential else { throw .secretNotAllowed }
            return client
        default: break
        }
        if let assertion {
            guard exchange.fields.text("client_assertion_type") == ClientAssertion.type,
                isAccepted(assertion, of: client, at: exchange)
            else { throw .assertionInvalid }
            return client
        }
        guard let secret else { throw .secretMissing }
        guard secret == client.secret else { throw .secretWrong(client) }
        return client
    }

    /// Parses the credentials (RFC 6749 §2.3.1). Both halves are form-encoded before base64.
    private func basicCredentials(_ head: RequestHead) throws(PlatformError) -> (id: String, secret: String)? {
        guard let field = head[.authorization] else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic" else { return nil }
        guard let data = Data(base64Encoded: String(parts[1]).trimmingCharacters(in: .whitespaces)),
            let colon = data.firstIndex(of: UInt8(ascii: ":")),
            let id = try? PercentDecoding.decode(data[..<colon], plusIsSpace: true),
            let secret = try? PercentDecoding.decode(data[(colon + 1)...], plusIsSpace: true)
        else { throw .malformedRequest }
        return (id, secret)
    }

    // MARK: The grants

    private func redeem(
        _ code: AuthorizationCode?, _ exchange: Exchange, _ segment: TenantSegment, _ client: DemoClient,
        _ settings: Controls.Settings
    ) throws -> JSONValue {
        let fields = exchange.fields
        guard fields.text("code") != nil else { throw PlatformError.missingParameter("code") }
        guard let redirectURI = fields.text("redirect_uri") else {
            throw PlatformError.missingParameter("redirect_uri")
        }
        guard let code, let account = account(username: code.username) else {
            throw PlatformError.malformedGrant
        }
        guard code.clientID == client.id else { throw PlatformError.grantOfAnotherClient }
        guard code.segment == segment else { throw PlatformError.codeOfAnotherTenant }
        let now = exchange.diagnostics.time
        guard now < code.expires else { throw PlatformError.codeExpired }
        if state.read({ $0.redeemedCodes[code.id] != nil }) { throw redeemedBefore() }
        guard code.redirectURI == redirectURI else {
            throw PlatformError.replyAddressMismatch(redirectURI, code.redirectURI)
        }
        guard fields.text("code_verifier").map(CodeVerifier.hash) == code.codeChallenge else {
            throw PlatformError.codeVerifierMismatch
        }
        try checkRevocation(account, code.authentication)
        let askedScope = fields.text("scope")
        let scopes = try askedScope.map { try self.scopes.parse($0) } ?? code.scopes
        guard self.scopes.resources(scopes).count <= 1 else {
            throw askedScope.map(PlatformError.severalResources) ?? .noScopeForSeveralResources
        }
        let claims = try RequestedClaims(fields["claims"])
        guard hasConsented(account, to: client, scopes: scopes) else { throw PlatformError.notConsented(client) }
        // All checks come before this point, so that of two simultaneous redemptions exactly one succeeds.
        let isFirst = state.note { record in
            if record.redeemedCodes.count.isMultiple(of: 256) {
                record.redeemedCodes = record.redeemedCodes.filter { $0.value > now }
            }
            return record.redeemedCodes.updateValue(code.expires, forKey: code.id) == nil
        }
        guard isFirst else { throw redeemedBefore() }
        _ = controls.challengeMet(by: account.objectID, asking: code.claims)
        return try issuer(client, code.redirectClass, segment, account, code.authentication, exchange, settings).answer(
            scopes: scopes, asked: askedScope ?? code.askedScope, granted: merged(code.scopes, scopes),
            nonce: code.nonce,
            challenge: controls.challengeMet(by: account.objectID, asking: claims),
            fault: controls.takeIDTokenFault(), wantsClientInfo: fields["client_info"] == "1")
    }

    private func redeemedBefore() -> PlatformError {
        controls.count(.codeReplayed)
        return .codeRedeemed
    }

    private func refresh(
        _ token: RefreshToken?, _ exchange: Exchange, _ segment: TenantSegment, _ client: DemoClient,
        _ settings: Controls.Settings
    ) throws -> JSONValue {
        let fields = exchange.fields
        guard fields.text("refresh_token") != nil else { throw PlatformError.missingParameter("refresh_token") }
        guard let token, let account = account(username: token.username) else { throw PlatformError.malformedGrant }
        guard token.clientID == client.id else { throw PlatformError.grantOfAnotherClient }
        guard segment.admits(account) else { throw PlatformError.notInTenant(account) }
        try checkRevocation(account, token.authentication)
        guard exchange.diagnostics.time < token.expires else {
            throw token.redirectClass == .spa ? PlatformError.scriptSessionExpired : .refreshTokenExpired
        }
        // If there are several resources, a refresh is for the first one.
        let askedScope = fields.text("scope")
        let scopes = self.scopes.ofFirstResource(try askedScope.map { try self.scopes.parse($0) } ?? token.scopes)
        if settings.isGeneric { try refuseAsOthers(token, asked: askedScope == nil ? [] : scopes, settings) }
        let claims = try RequestedClaims(fields["claims"])
        try checkSessionFailure(token)
        let met = token.authentication.secondFactor
        if refusesSilently(account, met: met) || (claims.secondFactor && met == 0) {
            throw PlatformError.secondFactorNeeded
        }
        guard !needsAdministrator(account, for: client, scopes: scopes),
            hasConsented(account, to: client, scopes: scopes)
        else { throw PlatformError.notConsented(client) }
        // All checks come before this point, so that of two simultaneous uses exactly one succeeds.
        let renewal = try renewal(of: token, settings, now: exchange.diagnostics.time)
        let answer = try issuer(client, token.redirectClass, segment, account, token.authentication, exchange, settings)
            .answer(
                scopes: scopes, asked: askedScope, granted: merged(token.scopes, scopes), nonce: nil,
                challenge: controls.challengeMet(by: account.objectID, asking: claims), fault: nil,
                wantsClientInfo: fields["client_info"] == "1", renewal: renewal)
        // An unchanged scope may be omitted (RFC 6749 §5.1). Other providers do that.
        guard settings.isGeneric, askedScope == nil, case .object(var members) = answer else { return answer }
        members["scope"] = nil
        return .object(members)
    }

    private func renewal(
        of token: RefreshToken, _ settings: Controls.Settings, now: Date
    ) throws(PlatformError) -> RefreshFamilies.Renewal {
        let renewal = RefreshFamilies.Renewal(
            family: token.family ?? newID(), successor: newID(),
            expires: token.redirectClass == .spa
                ? token.expires : now.addingTimeInterval(Double(settings.refreshTokenSeconds)))
        let use = state.note { record in
            record.refreshFamilies = record.refreshFamilies ?? RefreshFamilies()
            return record.refreshFamilies?.use(
                token, renewal: renewal, isSingleUse: settings.hasSingleUseRefreshTokens, now: now)
        }
        switch use {
        case .first, nil: return renewal
        case .again:
            controls.count(.refreshReplayed)
            throw .grantRevoked
        case .afterRevocation: throw .grantRevoked
        }
    }

    /// Refuses a refresh as other providers would. It must not request more than was granted (RFC 6749 §6), although
    /// Microsoft's platforms allow that, and its token must not be revoked (RFC 7009).
    private func refuseAsOthers(
        _ token: RefreshToken, asked: [String], _ settings: Controls.Settings
    ) throws(PlatformError) {
        if state.read({ $0.revokedTokens?.contains(token.id) == true }) { throw .grantRevoked }
        let granted = token.scopes.filter { $0.lowercased() != settings.declinedScope?.lowercased() }
        if let more = asked.first(where: { !granted.contains($0) }) { throw .invalidScope(more) }
    }

    /// `POST /{tenant}/oauth2/v2.0/revoke` (RFC 7009), available while the tenant acts as another provider.
    func revoke(_ request: Request, segment: TenantSegment) -> Response {
        do {
            let exchange = try Exchange(request, platform: self)
            do {
                let token = exchange.fields.text("token").flatMap {
                    state.sealer.open($0, for: .refreshToken, as: RefreshToken.self)
                }
                let client = try authenticatedClient(
                    exchange, segment, redeeming: token.map { ($0.clientID, $0.redirectClass) })
                // A token that does not belong to this client needs no revocation (§2.2).
                if let token, token.clientID == client.id {
                    state.change { $0.revokedTokens = ($0.revokedTokens ?? []).union([token.id]) }
                    controls.count(.tokenRevoked)
                }
                return .noStore(.ok, "text/plain; charset=utf-8", [])
            } catch {
                return tokenError(error, exchange.diagnostics)
            }
        } catch {
            return tokenError(.malformedRequest, Diagnostics(request, nil, platform: self))
        }
    }

    /// Issues a token for the application itself, without a person. The demo's APIs do not accept it.
    private func ownToken(
        _ exchange: Exchange, _ segment: TenantSegment, _ client: DemoClient, _ settings: Controls.Settings
    ) throws -> JSONValue {
        guard !client.isPublic else { throw PlatformError.secretMissing }
        guard let scope = exchange.fields.text("scope") else { throw PlatformError.missingParameter("scope") }
        guard scope.hasSuffix("/.default"), let key = state.signingKey(for: .work) else {
            throw PlatformError.invalidScope(scope)
        }
        guard let audience = scopes.audience(ofOwnToken: scope) else {
            throw PlatformError.unknownResource(String(scope.dropLast("/.default".count)), at: segment)
        }
        let principal = nameBasedID("service principal", client.id)
        let seconds = Int(exchange.diagnostics.time.timeIntervalSince1970)
        let token = try key.sign([
            "aud": .string(audience), "iss": .string(issuer(of: segment)),
            "iat": .integer(seconds), "nbf": .integer(seconds), "exp": .integer(seconds + settings.accessTokenSeconds),
            "appid": .string(client.id), "idtyp": "app", "ver": "1.0", "oid": .string(principal),
            "sub": .string(principal), "tid": .string(segment.path),
        ])
        return [
            "token_type": "Bearer", "expires_in": .integer(settings.accessTokenSeconds),
            "ext_expires_in": .integer(settings.accessTokenSeconds), "access_token": .string(token),
        ]
    }

    private func checkRevocation(_ account: DemoAccount, _ authentication: Authentication) throws(PlatformError) {
        guard state.read({ $0.revocations[account.username, default: 0] }) == authentication.revocations else {
            throw .grantRevoked
        }
    }

    private func issuer(
        _ client: DemoClient, _ redirectClass: DemoClient.RedirectClass?, _ segment: TenantSegment,
        _ account: DemoAccount, _ authentication: Authentication, _ exchange: Exchange, _ settings: Controls.Settings
    ) -> TokenIssuer {
        TokenIssuer(
            platform: self, client: client, redirectClass: redirectClass, segment: segment, account: account,
            authentication: authentication,
            now: exchange.diagnostics.time, settings: settings)
    }

    private func merged(_ first: [String], _ second: [String]) -> [String] {
        first + second.filter { !first.contains($0) }
    }

    // MARK: Responses

    private func tokenError(_ error: PlatformError, _ diagnostics: Diagnostics) -> Response {
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
