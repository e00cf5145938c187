import Cryptography
import Foundation
import HTTPTypes
import TenantControl
import TenantDirectory
import WebFormats

extension DemoAuthorizationRequest {
    /// Checks the client and the address of the response first; their errors are never redirected.
    private static func client(
        _ fields: FormFields, at segment: TenantSegment, of platform: IdentityPlatform
    ) throws(PlatformError) -> (DemoClient, redirectURI: String) {
        let id = try fields.required("client_id")
        let client = try platform.registrations.client(id: id, at: segment)
        guard !client.redirectURIs.isEmpty else { throw .noAddressRegistered }
        // Without one, the only one that is registered is meant (authz-err-10).
        let registered = client.redirectURIs.count == 1 ? client.redirectURIs.first : nil
        guard let redirectURI = fields.text("redirect_uri") ?? registered else { throw .noReplyAddress }
        guard client.redirectClass(of: redirectURI) != nil else {
            guard segment.userFlow == nil else { throw .redirectURIMismatch(redirectURI, ofUserFlow: client) }
            throw .redirectURIMismatch(redirectURI, client)
        }
        for name in parameters where fields.isRepeated(name) { throw .repeatedParameter(name) }
        return (client, redirectURI)
    }

    private static let parameters = [
        "client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce", "prompt",
        "max_age", "login_hint", "domain_hint", "claims", "code_challenge", "code_challenge_method", "client_info",
    ]

    /// Checks an authorization request in the platform's order.
    init(
        authorize fields: FormFields, segment: TenantSegment, platform: IdentityPlatform, isVersion1: Bool = false
    ) throws(AuthorizationFailure) {
        let client: DemoClient
        let redirectURI: String
        do throws(PlatformError) {
            (client, redirectURI) = try Self.client(fields, at: segment, of: platform)
            _ = try Self.prompt(fields)
        } catch {
            throw AuthorizationFailure(
                error: Self.said(error, at: segment, fields), target: Self.target(of: error, fields, platform))
        }
        // An ID token never stands in a query, which servers log (OAuth 2.0 Multiple Response Types, section 3).
        let isForCode = ["code", nil].contains(fields.text("response_type"))
        let modeText = fields.text("response_mode") ?? (isForCode ? "query" : "fragment")
        let mode = AnswerTarget.ResponseMode(rawValue: modeText)
        let target = AnswerTarget(redirectURI: redirectURI, responseMode: mode ?? .query, state: fields["state"])
        do throws(PlatformError) {
            if mode == nil || mode == .query && !isForCode && client.issuesIDTokens {
                throw .unsupportedValue(modeText, of: "response_mode")
            }
            try fields.checkSupport()
            try self.init(fields, segment: segment, client: client, target: target, scopes: platform.scopes)
            self.isVersion1 = isVersion1
        } catch {
            throw AuthorizationFailure(error: Self.said(error, at: segment, fields), target: target)
        }
    }

    /// Returns an error of an authorization request as the path of the request has it.
    private static func said(_ error: PlatformError, at segment: TenantSegment, _ fields: FormFields) -> PlatformError {
        error.at(segment, client: fields.text("client_id"), scope: fields.text("scope")) { fields.text($0) }
    }

    /// Returns where a user flow reports an address that is not registered: at the first one that is, never at the one
    /// that was asked for (t2-b2c-01). All other errors of this kind are pages.
    private static func target(
        of error: PlatformError, _ fields: FormFields, _ platform: IdentityPlatform
    ) -> AnswerTarget? {
        guard error.error == "redirect_uri_mismatch", let id = fields.text("client_id"),
            let redirectURI = platform.registrations.client(id: id)?.redirectURIs.first
        else { return nil }
        return AnswerTarget(redirectURI: redirectURI, responseMode: .fragment, state: fields["state"])
    }

    /// A prompt that there is not, and two of them, are refused on a page (t2-authz-23).
    private static func prompt(_ fields: FormFields) throws(PlatformError) -> Prompt? {
        guard let text = fields.text("prompt") else { return nil }
        guard let prompt = Prompt(rawValue: text) else { throw .unsupportedPrompt }
        return prompt
    }

    /// Checks the part whose errors are sent to the application.
    private init(
        _ fields: FormFields, segment: TenantSegment, client: DemoClient, target: AnswerTarget, scopes: Scopes
    ) throws(PlatformError) {
        let responseType = try fields.required("response_type")
        let kinds = Set(responseType.split(separator: " "))
        let wantsIDToken = kinds.contains("id_token")
        guard kinds.isSubset(of: client.issuesIDTokens ? ["code", "id_token"] : ["code"]), !kinds.isEmpty else {
            throw .unsupportedResponseType(responseType)
        }
        if wantsIDToken { _ = try fields.required("nonce") }
        let scope = try fields.required("scope")
        var maxAge: Int?
        if let text = fields.text("max_age") {
            guard let seconds = Int(text), seconds >= 0 else { throw .unsupportedValue(text, of: "max_age") }
            maxAge = seconds
        }
        var claims = try RequestedClaims(fields["claims"])
        if maxAge != nil { claims.hasMaxAge = true }
        let (wanted, refusal) = scopes.read(scope, of: client, tenant: segment.directoryID)
        // A text that is no scope is refused at once; what does not exist, only after the sign-in.
        if let refusal, refusal.number == 70011 { throw refusal }
        try scopes.check(resource: fields.text("resource"), of: wanted)
        self.init(
            purpose: .code, segment: segment, clientID: client.id, target: target, scopes: wanted,
            askedScope: scope, nonce: fields.text("nonce"), wantsIDToken: wantsIDToken,
            wantsNoCode: !kinds.contains("code"),
            codeChallenge: try Self.codeChallenge(fields, client.redirectClass(of: target.redirectURI)),
            prompt: try Self.prompt(fields), maxAge: maxAge, loginHint: fields.text("login_hint"),
            domainHint: fields.text("domain_hint"), claims: claims, wantsClientInfo: fields["client_info"] == "1",
            replay: fields.text("companion_replay").flatMap(Replay.init))
    }

    /// Returns the code challenge (RFC 7636 §4.3). The platform demands it of single-page applications alone. Others may
    /// omit it, but not send only half of it.
    private static func codeChallenge(
        _ fields: FormFields, _ redirectClass: DemoClient.RedirectClass?
    ) throws(PlatformError) -> String? {
        let method = fields.text("code_challenge_method")
        guard let challenge = fields.text("code_challenge") else {
            if redirectClass == .spa { throw .codeChallengeMissing }
            if method != nil { throw .codeChallengeInvalid }
            return nil
        }
        switch method ?? "plain" {
        case "S256":
            guard challenge.utf8.count == 43, Base64URL.decode(challenge.utf8)?.count == 32 else {
                throw .codeChallengeInvalid
            }
            return challenge
        case "plain":
            guard CodeVerifier.isValid(challenge) else { throw .codeChallengeInvalid }
            return CodeVerifier.hash(challenge)
        case let other: throw .unsupportedValue(other, of: "code_challenge_method")
        }
    }

    /// Checks a request for admin consent, which is possible at one tenant or `organizations`, but never at `common`.
    init(
        adminConsent fields: FormFields, segment: TenantSegment, platform: IdentityPlatform, isVersion1: Bool = false
    ) throws(AuthorizationFailure) {
        do throws(PlatformError) {
            guard segment.admitsOrganizationsOnly || isVersion1 && segment == .common else {
                throw .noTenantForAdminConsent
            }
            let (client, redirectURI) = try Self.client(fields, at: segment, of: platform)
            self.init(
                purpose: .adminConsent, segment: segment, clientID: client.id,
                target: AnswerTarget(redirectURI: redirectURI, responseMode: .query, state: fields["state"]),
                scopes: try platform.scopes.parse(fields.text("scope") ?? ".default", of: client))
        } catch {
            throw AuthorizationFailure(error: error)
        }
    }
}

extension PlatformError {
    fileprivate static let unsupportedPrompt = Self(
        error: "invalid_request", number: 90023,
        message: "Unsupported 'prompt' value. It is one of login, none, consent, select_account and create."
    ).naming("prompt")
}

/// Proof Key for Code Exchange (RFC 7636).
enum CodeVerifier {
    /// Whether the text is 43 to 128 unreserved characters (§4.1).
    static func isValid(_ text: String) -> Bool {
        (43...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                let character = Character(Unicode.Scalar(byte))
                return character.isASCII && (character.isLetter || character.isNumber || "-._~".contains(character))
            }
    }

    /// Returns the S256 hash of a verifier (§4.2).
    static func hash(_ verifier: String) -> String { Base64URL.encode(SHA256.hash(data: Data(verifier.utf8))) }
}

extension TenantSegment {
    var admitsOrganizationsOnly: Bool {
        if case .tenant(let id) = self { Tenant.organizations.contains(id) } else { self == .organizations }
    }
}
