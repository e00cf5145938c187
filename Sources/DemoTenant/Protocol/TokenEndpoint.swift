import Crypto
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire

extension Platform {
    /// `POST /{tenant}/oauth2/v2.0/token`
    func token(_ request: Request, segment: TenantSegment) async -> Response {
        controls.count(.tokenReceived)
        let settings = controls.settings
        if let delay = settings.delayMilliseconds[.token] { try? await Task.sleep(for: .milliseconds(delay)) }
        if let injected = controls.takeInjected(.token) {
            controls.count(.tokenFailed)
            return injected.response
        }
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
            if !(error is PlatformError) { logger.error("A token of the demo tenant failed.", error: error) }
            return tokenError(error as? PlatformError ?? .serverError, Diagnostics(request, nil, platform: self))
        }
    }

    private func token(
        _ exchange: Exchange, _ segment: TenantSegment, _ settings: Controls.Settings
    ) throws -> Response {
        let fields = exchange.fields
        guard fields.hasRepeatedNames == false else { throw PlatformError.malformedRequest }
        guard let grantType = fields.text("grant_type") else { throw PlatformError.missingParameter("grant_type") }
        let client = try authenticatedClient(exchange)
        switch grantType {
        case "authorization_code":
            let answer = try redeem(exchange, segment, client, settings)
            controls.count(.tokenCode)
            return .json(.ok, answer)
        case "refresh_token":
            let answer = try refresh(exchange, segment, client, settings)
            controls.count(.tokenRefresh)
            return .json(.ok, answer)
        default:
            throw PlatformError.unsupportedGrantType(grantType)
        }
    }

    // MARK: The client

    private func authenticatedClient(_ exchange: Exchange) throws(PlatformError) -> DemoClient {
        let basic = try basicCredentials(exchange.request.head)
        guard let id = basic?.id ?? exchange.fields.text("client_id") else { throw .missingParameter("client_id") }
        guard let client = clients[id.lowercased()] else { throw .unknownClient(id) }
        if basic != nil, let other = exchange.fields.text("client_id"), other.lowercased() != client.id.lowercased() {
            throw .malformedRequest
        }
        let secret = basic?.secret ?? exchange.fields.text("client_secret")
        let assertion = exchange.fields.text("client_assertion")
        if client.isPublic {
            guard secret == nil, assertion == nil else { throw .secretNotAllowed }
            return client
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

    /// RFC 6749 §2.3.1: both halves are form-encoded before base64.
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
        _ exchange: Exchange, _ segment: TenantSegment, _ client: DemoClient, _ settings: Controls.Settings
    ) throws -> JSONValue {
        let fields = exchange.fields
        guard let text = fields.text("code") else { throw PlatformError.missingParameter("code") }
        guard let redirectURI = fields.text("redirect_uri") else {
            throw PlatformError.missingParameter("redirect_uri")
        }
        guard let code = state.sealer.open(text, for: .code, as: AuthorizationCode.self),
            let account = account(username: code.username)
        else { throw PlatformError.malformedGrant }
        guard code.clientID == client.id else { throw PlatformError.grantOfAnotherClient }
        guard code.segment == segment else { throw PlatformError.codeOfAnotherTenant }
        let now = exchange.diagnostics.time
        guard now < code.expires else { throw PlatformError.codeExpired }
        if state.read({ $0.redeemedCodes[code.id] != nil }) { throw PlatformError.codeRedeemed }
        guard code.redirectURI == redirectURI else {
            throw PlatformError.replyAddressMismatch(redirectURI, code.redirectURI)
        }
        guard let verifier = fields.text("code_verifier"),
            Base64URL.encode(SHA256.hash(data: Data(verifier.utf8))) == code.codeChallenge
        else { throw PlatformError.codeVerifierMismatch }
        try checkRevocation(account, code.authentication)
        let scopes = try fields.text("scope").map { try Scope.parse($0) } ?? code.scopes
        let claims = try RequestedClaims(fields["claims"])
        guard hasConsented(account, to: client, scopes: scopes) else { throw PlatformError.notConsented(client) }
        // From here on nothing is refused: of two redemptions at once, one passes.
        let isFirst = state.note { record in
            if record.redeemedCodes.count.isMultiple(of: 256) {
                record.redeemedCodes = record.redeemedCodes.filter { $0.value > now }
            }
            return record.redeemedCodes.updateValue(code.expires, forKey: code.id) == nil
        }
        guard isFirst else { throw PlatformError.codeRedeemed }
        _ = controls.challengeMet(by: account.objectID, asking: code.claims)
        return try issuer(client, segment, account, code.authentication, exchange, settings).answer(
            scopes: scopes, granted: merged(code.scopes, scopes), nonce: code.nonce,
            challenge: controls.challengeMet(by: account.objectID, asking: claims),
            fault: controls.takeIDTokenFault(), wantsClientInfo: fields["client_info"] == "1")
    }

    private func refresh(
        _ exchange: Exchange, _ segment: TenantSegment, _ client: DemoClient, _ settings: Controls.Settings
    ) throws -> JSONValue {
        let fields = exchange.fields
        guard let text = fields.text("refresh_token") else { throw PlatformError.missingParameter("refresh_token") }
        guard let token = state.sealer.open(text, for: .refreshToken, as: RefreshToken.self),
            let account = account(username: token.username)
        else { throw PlatformError.malformedGrant }
        guard token.clientID == client.id else { throw PlatformError.grantOfAnotherClient }
        guard segment.admits(account) else { throw PlatformError.notInTenant(account) }
        try checkRevocation(account, token.authentication)
        guard exchange.diagnostics.time < token.expires else { throw PlatformError.refreshTokenExpired }
        let scopes = try fields.text("scope").map { try Scope.parse($0) } ?? token.scopes
        let claims = try RequestedClaims(fields["claims"])
        let met = token.authentication.secondFactor
        if refusesSilently(account, met: met) || (claims.secondFactor && met == 0) {
            throw PlatformError.secondFactorNeeded
        }
        guard !needsAdministrator(account, for: client, scopes: scopes),
            hasConsented(account, to: client, scopes: scopes)
        else { throw PlatformError.notConsented(client) }
        return try issuer(client, segment, account, token.authentication, exchange, settings).answer(
            scopes: scopes, granted: merged(token.scopes, scopes), nonce: nil,
            challenge: controls.challengeMet(by: account.objectID, asking: claims), fault: nil,
            wantsClientInfo: fields["client_info"] == "1")
    }

    private func checkRevocation(_ account: DemoAccount, _ authentication: Authentication) throws(PlatformError) {
        guard state.read({ $0.revocations[account.username, default: 0] }) == authentication.revocations else {
            throw .grantRevoked
        }
    }

    private func issuer(
        _ client: DemoClient, _ segment: TenantSegment, _ account: DemoAccount, _ authentication: Authentication,
        _ exchange: Exchange, _ settings: Controls.Settings
    ) -> TokenIssuer {
        TokenIssuer(
            platform: self, client: client, segment: segment, account: account, authentication: authentication,
            now: exchange.diagnostics.time, settings: settings)
    }

    private func merged(_ first: [String], _ second: [String]) -> [String] {
        first + second.filter { !first.contains($0) }
    }

    // MARK: Answers

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
    /// An error's body (facts: token answers).
    func json(_ error: PlatformError) -> JSONValue {
        var body: [String: JSONValue] = [
            "error": .string(error.error), "error_description": .string(describe(error)),
            "timestamp": .string(timestamp), "trace_id": .string(traceID),
            "correlation_id": .string(correlationID),
        ]
        if error.prefix == PlatformError.workforcePrefix { body["error_codes"] = [.int(error.number)] }
        if let suberror = error.suberror { body["suberror"] = .string(suberror) }
        if let claims = error.claims { body["claims"] = .string(claims) }
        return .object(body)
    }
}

extension Controls.InjectedAnswer {
    /// The answer that was asked for.
    var response: Response {
        let content: (type: String, bytes: [UInt8])
        if let text = body.stringValue {
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
