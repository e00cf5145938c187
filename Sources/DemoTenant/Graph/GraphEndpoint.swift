import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

/// An error in Graph's form.
struct GraphError: Error {
    var status: HTTPResponse.Status
    var code: String
    var message: String
    /// The value of WWW-Authenticate.
    var challenge: String?
    /// The number of seconds to wait.
    var retryAfter: Int?
}

extension Platform {
    enum GraphResource: Sendable {
        case me, photo, memberOf, userInfo, unknown(String)

        /// Whether a scope is sufficient. UserInfo accepts the token of any person who signed in.
        func isServed(to scope: String) -> Bool {
            if case .userInfo = self { true } else { scope.hasPrefix("User.Read") }
        }

        /// UserInfo may be posted to, with the token in the form (OpenID Connect Core section 5.3.1).
        func isPosted(by request: Request) -> Bool {
            if case .userInfo = self { request.head.method == .post } else { false }
        }
    }

    /// `GET /v1.0/me`, `/v1.0/me/photo/$value` and `/oidc/userinfo`
    func graph(_ request: Request, _ resource: GraphResource) async -> Response {
        switch resource {
        case .me, .userInfo: controls.count(.graphMe)
        case .photo, .memberOf, .unknown: break
        }
        let settings = controls.settings
        if let delay = settings.delay(of: .graph) { try? await Task.sleep(for: .milliseconds(delay)) }
        let ids = GraphIDs(request, platform: self)
        if let injected = controls.takeInjected(.graph) { return ids.put(on: injected.response) }
        do throws(GraphError) {
            let account = try authorizedAccount(
                bearerToken(request, resource), settings, audiences: [AccessToken.graphAudience],
                scope: resource.isServed(to:))
            guard [.get, .head].contains(request.head.method) || resource.isPosted(by: request) else {
                throw GraphError(
                    status: .methodNotAllowed, code: "BadRequest",
                    message: "The demo's Graph answers GET only.")
            }
            switch resource {
            case .me:
                return ids.put(on: .json(.ok, profile(account)))
            case .memberOf:
                return ids.put(on: .json(.ok, groups(account)))
            case .userInfo:
                return ids.put(on: .json(.ok, userInfo(account, bearerToken(request, resource))))
            case .photo:
                guard let portrait = account.portrait else {
                    throw GraphError(
                        status: .notFound, code: "ImageNotFound", message: "The photo of this user was not found.")
                }
                return ids.put(on: .noStore(.ok, "image/jpeg", await photo(portrait)))
            case .unknown(let segment):
                throw GraphError(
                    status: .badRequest, code: "BadRequest",
                    message: "Resource not found for the segment '\(segment)'. The demo's Graph has me, "
                        + "me/memberOf and me/photo/$value.")
            }
        } catch {
            return ids.put(on: refusal(error, ids))
        }
    }

    /// Returns the picture, which is drawn once.
    private func photo(_ portrait: Portrait) async -> [UInt8] {
        if let known = photos.withLock({ $0[portrait] }) { return known }
        // Drawing takes too long for the event loop.
        let drawn = await Task.detached { portrait.jpeg }.value
        photos.withLock { $0[portrait] = drawn }
        return drawn
    }

    private func profile(_ account: DemoAccount) -> JSONValue {
        [
            "@odata.context": .string("\(baseURL)/v1.0/$metadata#users/$entity"),
            "businessPhones": account.kind == .work && account.mobilePhone != nil
                ? [JSONValue(account.mobilePhone)] : [],
            "displayName": .string(displayName(of: account)), "givenName": .string(account.givenName),
            "id": .string(account.graphID), "jobTitle": JSONValue(account.jobTitle),
            "mail": .string(account.username), "mobilePhone": .null,
            "officeLocation": JSONValue(account.officeLocation),
            "preferredLanguage": account.kind == .work ? "en-US" : .null, "surname": .string(account.surname),
            "userPrincipalName": .string(account.username),
        ]
    }

    /// Returns the groups of an account. Groups have no members but people here, so that all memberships are direct.
    private func groups(_ account: DemoAccount) -> JSONValue {
        [
            "@odata.context": .string("\(baseURL)/v1.0/$metadata#directoryObjects"),
            "value": .array(
                account.groups.map { name in
                    [
                        "@odata.type": "#microsoft.graph.group", "id": .string(nameBasedID("group", name)),
                        "displayName": .string(name), "securityEnabled": true, "mailEnabled": false,
                    ]
                }),
        ]
    }

    /// Returns the UserInfo response (OpenID Connect Core section 5.3.2), with the same `sub` as in the requesting
    /// application's ID token.
    private func userInfo(_ account: DemoAccount, _ token: String?) -> JSONValue {
        let claims = token.flatMap(verifiedClaims)
        let (application, tenant) = (claims?["appid"]?.string ?? "", claims?["tid"]?.string ?? "")
        return [
            "sub": .string(account.subject(in: tenant, audience: application)),
            "name": .string(displayName(of: account)), "given_name": .string(account.givenName),
            "family_name": .string(account.surname), "email": .string(account.username),
        ]
    }

    // MARK: The access token

    private func bearerToken(_ request: Request, _ resource: GraphResource) -> String? {
        if let token = bearerToken(request.head) { return token }
        return resource.isPosted(by: request) ? (try? FormFields(body: request.body))?.text("access_token") : nil
    }

    func bearerToken(_ head: RequestHead) -> String? {
        let parts = (head[.authorization] ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return parts[1].trimmingCharacters(in: .whitespaces)
    }

    /// Returns the account of a token, if an API with one of these audiences may accept it.
    ///
    /// - Parameter scope: whether a scope of the token is sufficient.
    func authorizedAccount(
        _ token: String?, _ settings: Controls.Settings, audiences: [String], scope: (String) -> Bool
    ) throws(GraphError) -> DemoAccount {
        guard let token else { throw unauthenticated("Access token is empty.") }
        guard let claims = verifiedClaims(token) else {
            throw unauthenticated("Access token validation failure. It is not a token of this demo tenant.")
        }
        ClientNote.change { $0.clientID = claims["appid"]?.string }
        guard claims["aud"]?.string.map(audiences.contains) ?? false else {
            throw unauthenticated("Access token validation failure. Invalid audience.")
        }
        guard let expiry = claims["exp"]?.integer, now().timeIntervalSince1970 < Double(expiry),
            !settings.letsExpire(claims)
        else {
            throw unauthenticated("Lifetime validation failed, the token is expired.")
        }
        try checkSessionFailure(claims)
        if claims["idtyp"]?.string == "app", audiences.contains(AccessToken.graphAudience) {
            throw GraphError(
                status: .badRequest, code: "BadRequest",
                message: "/me request is only valid with delegated authentication flow.")
        }
        guard let account = claims["upn"]?.string.flatMap(account(username:)) else {
            throw unauthenticated("Access token validation failure. Unknown user.")
        }
        if let challenge = settings.unmetChallenge(of: claims) { throw insufficientClaims(challenge) }
        let scopes = (claims["scp"]?.string ?? "").split(separator: " ", omittingEmptySubsequences: false)
            .map(String.init)
        guard scopes.contains(where: scope) else {
            throw GraphError(
                status: .forbidden, code: "Authorization_RequestDenied",
                message: "Insufficient privileges to complete the operation. The token has no scope for this.")
        }
        if let missing = settings.missingScope(of: scopes) {
            throw GraphError(
                status: .forbidden, code: "Authorization_RequestDenied",
                message: "Insufficient privileges to complete the operation. The scope \(missing) is missing.",
                challenge: bearer("error=\"insufficient_scope\", scope=\"\(missing)\""))
        }
        return account
    }

    /// Returns the claims of a token that has a valid signature of one of our keys.
    func verifiedClaims(_ token: String) -> JSONValue? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = Base64URL.decode(parts[0].utf8).flatMap({ JSONValue(parsing: $0) }),
            header["alg"]?.string == "RS256",
            let key = header["kid"]?.string.flatMap(state.key),
            let signature = Base64URL.decode(parts[2].utf8),
            key.isValidSignature(signature, for: "\(parts[0]).\(parts[1])")
        else { return nil }
        return Base64URL.decode(parts[1].utf8).flatMap { JSONValue(parsing: $0) }
    }

    private func unauthenticated(_ message: String) -> GraphError {
        GraphError(
            status: .unauthorized, code: "InvalidAuthenticationToken", message: message,
            challenge: bearer("client_id=\"\(AccessToken.graphAudience)\""))
    }

    /// Returns the error of continuous access evaluation.
    private func insufficientClaims(_ challenge: Int) -> GraphError {
        let claims: JSONValue = ["access_token": ["nbf": ["essential": true, "value": "\(challenge)"]]]
        return insufficientClaims(
            claims.text,
            message: "Continuous access evaluation resulted in challenge with result: InteractionRequired and code: "
                + "TokenIssuedBeforeRevocationTimestamp")
    }

    /// Returns a challenge, with the claims in base64 with padding.
    func insufficientClaims(_ claims: String, message: String) -> GraphError {
        GraphError(
            status: .unauthorized, code: "InvalidAuthenticationToken", message: message,
            challenge: bearer(
                "client_id=\"\(AccessToken.graphAudience)\", error=\"insufficient_claims\", "
                    + "claims=\"\(Data(claims.utf8).base64EncodedString())\""))
    }

    func bearer(_ parameters: String) -> String {
        "Bearer realm=\"\", authorization_uri=\"\(baseURL)/common/oauth2/v2.0/authorize\", \(parameters)"
    }

    private func refusal(_ error: GraphError, _ ids: GraphIDs) -> Response {
        var response = Response.json(
            error.status,
            [
                "error": [
                    "code": .string(error.code), "message": .string(error.message),
                    "innerError": [
                        "date": .string(ids.date), "request-id": .string(ids.requestID),
                        "client-request-id": .string(ids.clientRequestID),
                    ],
                ]
            ])
        response.headerFields[.retryAfter] = error.retryAfter.map(String.init)
        if let challenge = error.challenge { response.headerFields[.wwwAuthenticate] = challenge }
        return response
    }
}

/// The identifiers of one request to Graph, or to an API beside it.
struct GraphIDs {
    private static let requestIDField = HTTPField.Name("request-id")
    private static let clientRequestIDField = HTTPField.Name("client-request-id")

    let requestID: String
    let clientRequestID: String
    /// The time in the form of Graph's errors: `2026-01-31T23:59:59`.
    let date: String

    init(_ request: Request, platform: Platform) {
        requestID = platform.newID()
        let asked = Self.clientRequestIDField.flatMap { request.head[$0] }
        clientRequestID = asked.flatMap(UUID.init(uuidString:))?.uuidString.lowercased() ?? requestID
        date = String(platform.now().formatted(.iso8601).dropLast())
    }

    func put(on response: Response) -> Response {
        var response = response
        if let name = Self.requestIDField, response.headerFields[name] == nil {
            response.headerFields[name] = requestID
        }
        if let name = Self.clientRequestIDField, response.headerFields[name] == nil {
            response.headerFields[name] = clientRequestID
        }
        return response
    }
}
