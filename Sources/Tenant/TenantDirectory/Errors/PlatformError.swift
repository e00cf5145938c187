package import Foundation
package import HTTPTypes
package import WebFormats

/// An error in the platform's form, with an OAuth name and an AADSTS number. It is shown as a page, sent to the
/// redirect URI, or returned as JSON.
package struct PlatformError: Error, Sendable, Hashable {
    package static let workforcePrefix = "AADSTS"
    package static let userFlowPrefix = "AADB2C"

    /// The OAuth error that clients branch on.
    package var error: String
    /// The AADSTS number.
    package var number: Int
    package var message: String
    package var status: HTTPResponse.Status = .badRequest
    package var suberror: String?
    /// The claims that the client has to request next, as JSON text.
    package var claims: String?
    /// The prefix of the number.
    package var prefix = workforcePrefix
    /// The other members of its JSON.
    package var members: [String: JSONValue] = [:]
    /// The parameter, grant type or client ID that its message names; nil for most errors.
    private(set) var named: String?

    package init(
        error: String, number: Int, message: String, status: HTTPResponse.Status = .badRequest, suberror: String? = nil,
        claims: String? = nil, prefix: String = workforcePrefix
    ) {
        self.error = error
        self.number = number
        self.message = message
        self.status = status
        self.suberror = suberror
        self.claims = claims
        self.prefix = prefix
    }

    /// Returns the error with the value that its message names, for paths whose message is another one.
    package func naming(_ value: String) -> Self {
        var error = self
        error.named = value
        return error
    }
}

// The differences between endpoints
extension PlatformError {
    /// The numbers that come with the address of a page about them (tok-err-07, v2disc-err-04, authz-err-02).
    private static let explained: Set = [
        50056, 50058, 50076, 50105, 50126, 50173, 53003, 65004, 70000, 70016, 90002, 500_011, 700_016, 700_021, 700_024,
        700_027, 700_082, 700_084, 900_144, 7_000_114, 7_000_215, 9_002_313, 9_002_326,
    ]

    /// The address of the page about its number; nil for numbers that come without one.
    package var page: String? {
        guard prefix == Self.workforcePrefix, Self.explained.contains(number), let origin = Origins.current else {
            return nil
        }
        return "\(origin)/error?code=\(number)"
    }

    /// Returns the error as the token endpoint says it: a policy refuses the grant (tok-err-kinds-19, t2-tok-08), but a
    /// second factor that is missing on behalf of somebody does not (obo-04), nor do the words of version 1. That a password
    /// that is too old is like a second factor is inferred.
    package func atTokenEndpoint(isVersion1: Bool = false) -> Self {
        guard !isVersion1 else { return self }
        var error = self
        if [50076, 50079, 70043].contains(number), suberror != nil { error.error = "invalid_grant" }
        if [53000, 53001, 53003].contains(number), suberror == nil {
            (error.error, error.suberror) = ("invalid_grant", "message_only")
            error.claims = claims ?? SecondFactor.claimsChallenge
        }
        return error
    }
}

extension PlatformError {
    /// The error as personal accounts get it: of a grant that has ended, only that it has (t2-msa-01), and of a consent
    /// that is missing the same number (AzureAD/microsoft-authentication-library-for-js issue 3303).
    package var ofPersonalAccount: Self {
        guard prefix == Self.workforcePrefix else { return self }
        let message: String
        switch number {
        case 50173, 70008, 700_082, 700_084:
            message = "The user could not be authenticated as the grant is expired. The user must sign in again."
        case 65001:
            message =
                "The request was denied because one or more scopes requested are unauthorized or expired. The user must "
                + "first sign in and grant the client application access to the requested scope."
        default: return self
        }
        return Self(error: "invalid_grant", number: 70000, message: message)
    }
}

// Errors of a request at any endpoint
extension PlatformError {
    package static func unknownTenant(_ segment: String) -> Self {
        let isDomainOrID = segment.contains(".") || segment.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12]
        guard isDomainOrID else {
            return Self(
                error: "invalid_tenant", number: 900_023,
                message: "Specified tenant identifier '\(segment)' is neither a valid DNS name, nor a valid external "
                    + "domain.")
        }
        return Self(
            error: "invalid_tenant", number: 90002,
            message: "Tenant '\(segment)' not found. Check to make sure you have the correct tenant ID and are signing "
                + "into the correct cloud. Check with your subscription administrator, this may happen if there are no active "
                + "subscriptions for the tenant. The demo has common, organizations, consumers and "
                + "\(Tenant.contosoDomain).")
    }
    package static func missingParameter(_ name: String) -> Self {
        Self(
            error: "invalid_request", number: 900144,
            message: "The request body must contain the following parameter: '\(name)'."
        ).naming(name)
    }
    package static func repeatedParameter(_ name: String) -> Self {
        Self(
            error: "invalid_request", number: 9000410,
            message: "Malformed request. The parameter '\(name)' is given more than once.")
    }
    package static let malformedRequest = Self(
        error: "invalid_request", number: 9002313, message: "Invalid request. Request is malformed or invalid.")
    package static func malformedCode(at segment: TenantSegment) -> Self {
        malformedGrant(at: segment, named: "The provided value for the 'code' parameter is not valid.")
    }
    package static func malformedRefreshToken(at segment: TenantSegment) -> Self {
        malformedGrant(
            at: segment,
            named: "The provided value for the input parameter 'refresh_token' or 'assertion' is not valid.")
    }
    /// A grant that cannot be read, which consumers' endpoint, and only it, calls by its name (abraunegg/onedrive issue
    /// 1370, BingAds/BingAds-Python-SDK issue 279).
    private static func malformedGrant(at segment: TenantSegment, named sentence: String) -> Self {
        segment.directoryID == Tenant.consumers
            ? Self(error: "invalid_grant", number: 70000, message: sentence)
            : Self(
                error: "invalid_grant", number: 9_002_313,
                message: "Invalid request. Request is malformed or invalid.")
    }
    package static func invalidScope(_ scope: String) -> Self {
        Self(
            error: "invalid_scope", number: 70011,
            message: "The provided value for the input parameter 'scope' is not valid. The scope \(scope) is not valid."
        )
    }
    static func unknownScope(_ scope: String, of resource: String, askedBy client: DemoClient?) -> Self {
        let application = client.map { "application '\($0.name)'" } ?? "application"
        return Self(
            error: "invalid_scope", number: 650_053,
            message: "The \(application) asked for scope '\(scope)' that doesn't exist on the resource '\(resource)'. "
                + "Contact the app vendor.")
    }
    package static func unknownResource(_ name: String, in tenant: String) -> Self {
        Self(
            error: "invalid_resource", number: 500011,
            message:
                "The resource principal named \(name) was not found in the tenant named \(tenant). \(notInstalled) "
                + "You might have sent your authentication request to the wrong tenant. No application here exposes it."
        )
    }
    package static func unknownResource(_ name: String, at segment: TenantSegment) -> Self {
        unknownResource(name, in: segment.directoryID)
    }
    /// The sentence about what is missing in a tenant (t2-authz-07, t2-tok-04).
    static let notInstalled =
        "This can happen if the application has not been installed by the administrator of the tenant or consented to by "
        + "any user in the tenant."
    package static let resourceMismatch = Self(
        error: "invalid_target", number: 9_010_010,
        message: "The resource parameter provided in the request doesn't match with the requested scopes.")
    package static func notConsented(_ client: DemoClient) -> Self {
        Self(
            error: "invalid_grant", number: 65001,
            message: "The user or administrator has not consented to use the application with ID '\(client.id)' "
                + "named '\(client.name)'. Send an interactive authorization request for this user and resource.",
            suberror: "consent_required")
    }
    package static let secondFactorNeeded = Self(
        error: "interaction_required", number: 50076,
        message: "Due to a configuration change made by your administrator, or because you moved to a new location, "
            + "you must use multi-factor authentication to access '\(AccessToken.graphAudience)'.",
        suberror: "basic_action", claims: SecondFactor.claimsChallenge)
    package static let blockedByPolicy = Self(
        error: "access_denied", number: 53003,
        message: "Access has been blocked by Conditional Access policies. The access policy does not allow token "
            + "issuance.")
    /// - Parameter provider: The identity provider of the account.
    package static func notInTenant(
        _ account: DemoAccount, from provider: String, at segment: TenantSegment, _ client: DemoClient
    ) -> Self {
        Self(
            error: "invalid_grant", number: 50020,
            message: "User account '\(account.username)' from identity provider '\(provider)' does not exist in tenant "
                + "'\(segment.directoryName)' and cannot access the application '\(client.id)'(\(client.name)) in that "
                + "tenant. The account needs to be added as an external user in the tenant first. Sign out and sign in again "
                + "with a different Azure Active Directory user account.")
    }
    package static let serverError = Self(
        error: "server_error", number: 90033, message: "A transient error has occurred. Please try again.",
        status: .internalServerError)
}

// Errors of an authorization request
extension PlatformError {
    /// Whether the platform shows the error itself, because it does not know the application or its address.
    package var isShownByTenant: Bool { [50011, 700016, 700038, 900971].contains(number) }
}

extension PlatformError {
    package static func redirectURIMismatch(_ uri: String, _ client: DemoClient) -> Self {
        Self(
            error: "invalid_request", number: 50011,
            message: "The redirect URI '\(uri)' specified in the request does not match the redirect URIs configured "
                + "for the application '\(client.id)'. Make sure the redirect URI sent in the request matches one added to "
                + "your application in the Azure portal. Navigate to https://aka.ms/redirectUriMismatchError to learn more "
                + "about how to fix this.")
    }
    /// The same at a user flow (t2-b2c-01).
    package static func redirectURIMismatch(_ uri: String, ofUserFlow client: DemoClient) -> Self {
        Self(
            error: "redirect_uri_mismatch", number: 90006,
            message: "The redirect URI '\(uri)' provided in the request is not registered for the client id "
                + "'\(client.id)'.", prefix: userFlowPrefix)
    }
    package static let noAddressRegistered = Self(
        error: "invalid_request", number: 500_113, message: "No reply address is registered for the application.")
    package static func unsupportedResponseType(_ type: String) -> Self {
        Self(
            error: "unsupported_response_type", number: 700054,
            message: "response_type '\(type)' is not enabled for the application.")
    }
    package static let noReplyAddress = Self(
        error: "invalid_request", number: 900_971, message: "No reply address provided.")
    package static func unsupportedParameter(_ name: String) -> Self {
        Self(
            error: "invalid_request", number: 901_002, message: "The '\(name)' request parameter is not supported.")
    }
    package static func unsupportedValue(_ value: String, of parameter: String) -> Self {
        Self(
            error: "invalid_request", number: 90023,
            message: "'\(value)' is not a supported value of the parameter '\(parameter)'."
        ).naming(parameter)
    }
    package static let codeChallengeMissing = Self(
        error: "invalid_request", number: 9002325,
        message: "Proof Key for Code Exchange is required for cross-origin authorization code redemption. Send "
            + "code_challenge with code_challenge_method=S256.")
    package static let codeChallengeInvalid = Self(
        error: "invalid_request", number: 501491,
        message: "Invalid size or character of the Code_Challenge parameter; with S256 it is 43 characters of "
            + "base64url.")
    package static let notSignedIn = Self(
        error: "login_required", number: 50058,
        message: "A silent sign-in request was sent but no user is signed in. The cookies used to represent the "
            + "user's session were not sent in the request to Azure AD. This can happen if the user is using Internet "
            + "Explorer or Edge, and the web app sending the silent sign-in request is in different IE security zone than "
            + "the Azure AD endpoint (login.microsoftonline.com).")
    package static let ambiguousAccount = Self(
        error: "interaction_required", number: 16000,
        message: "Either multiple user identities are available for the current request or selected account is not "
            + "supported for the scenario.")
    package static let consentDeclined = Self(
        error: "access_denied", number: 65004, message: "User declined to consent to access the app.")
    package static let secondFactorDeclined = Self(
        error: "access_denied", number: 500121, message: "Authentication failed during strong authentication request.",
        suberror: "cancel")
    package static let adminConsentNeeded = Self(
        error: "access_denied", number: 90094,
        message: "The grant requires administrator permission: an administrator of the organization has to consent.")
    package static let noTenant = Self(
        error: "invalid_request", number: 50059,
        message: "No tenant-identifying information found in either the request or implied by any provided "
            + "credentials.")
    package static let noTenantForAdminConsent = Self(
        error: "invalid_request", number: 50059,
        message: "No tenant-identifying information found in either the request or implied by any provided "
            + "credentials. Admin consent is asked at one tenant or at 'organizations'.")
    package static let flowExpired = Self(
        error: "invalid_request", number: 165000,
        message: "The sign-in was not completed in time, or its page is from another sign-in. Go back to the "
            + "application and begin again.")
}

extension PlatformError {
    package static let unknownInstance = Self(
        error: "invalid_instance", number: 50049, message: "Unknown or invalid instance.")
}

// Errors of a token request
extension PlatformError {
    package static func unsupportedGrantType(_ type: String) -> Self {
        Self(
            error: "unsupported_grant_type", number: 70003,
            message: "The app requested an unsupported grant type '\(type)'."
        ).naming(type)
    }
    package static let secretMissing = Self(
        error: "invalid_client", number: 7000218,
        message: "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.",
        status: .unauthorized)
    package static let secretNotAllowed = Self(
        error: "invalid_client", number: 700025,
        message: "Client is public so neither 'client_assertion' nor 'client_secret' should be presented.",
        status: .unauthorized)
    package static func secretWrong(_ client: DemoClient) -> Self {
        Self(
            error: "invalid_client", number: 7000215,
            message: "Invalid client secret provided. Ensure the secret being sent in the request is the client secret "
                + "value, not the client secret ID, for a secret added to app '\(client.id)'.",
            status: .unauthorized)
    }
    package static func secretExpired(_ client: DemoClient) -> Self {
        Self(
            error: "invalid_client", number: 7_000_222,
            message: "The provided client secret keys for app '\(client.id)' are expired. Visit the Azure portal to "
                + "create new keys for your app: https://aka.ms/NewClientSecret, or consider using certificate credentials for "
                + "added security: https://aka.ms/certCreds.", status: .unauthorized)
    }
    package static let scriptExpected = Self(
        error: "invalid_request", number: 9_002_327,
        message: "Tokens issued for the 'Single-Page Application' client-type may only be redeemed via cross-origin "
            + "requests.")
    package static let scriptNotExpected = Self(
        error: "invalid_request", number: 9_002_326,
        message: "Cross-origin token redemption is permitted only for the 'Single-Page Application' client-type.")
    /// Returns the error of a page's refresh token after its day (t2-rt-10).
    package static func scriptSessionExpired(issued: Date) -> Self {
        Self(
            error: "invalid_grant", number: 700084,
            message: "The refresh token was issued to a single page app (SPA), and therefore has a fixed, limited "
                + "lifetime of 1.00:00:00, which cannot be extended. It is now expired and a new sign in request must be "
                + "sent by the SPA to the sign in page. The token was issued on \(issued.withSevenDecimals).",
            suberror: "bad_token")
    }
    package static let codeExpired = Self(
        error: "invalid_grant", number: 70008,
        message: "The provided authorization code or refresh token has expired due to inactivity. Send a new "
            + "interactive authorization request for this user and resource.", suberror: "bad_token")
    package static let codeRedeemed = Self(
        error: "invalid_grant", number: 54005,
        message: "OAuth2 Authorization code was already redeemed, please retry with a new valid code or use an "
            + "existing refresh token.")
    package static let grantOfAnotherClient = Self(
        error: "invalid_grant", number: 70000, message: "Provided grant was issued to another client id.")
    package static let codeOfAnotherTenant = Self(
        error: "invalid_grant", number: 700005,
        message: "Provided Authorization Code is intended to use against other tenant, thus rejected.")
    package static func grantOfAnotherFlow(_ issued: UserFlow, asked: UserFlow) -> Self {
        Self(
            error: "invalid_grant", number: 90088,
            message: "The provided grant has not been issued for this endpoint. Actual Value : "
                + "\(issued.registeredName) and Expected Value : \(asked.registeredName)", prefix: userFlowPrefix)
    }
    package static func replyAddressMismatch(_ given: String, _ wanted: String) -> Self {
        Self(
            error: "invalid_client", number: 500112,
            message: "The reply address '\(given)' does not match the reply address '\(wanted)' provided when "
                + "requesting Authorization code.")
    }
    package static let codeVerifierMismatch = Self(
        error: "invalid_grant", number: 501481,
        message: "The Code_Verifier does not match the code_challenge supplied in the authorization request.")
    package static func severalResources(_ scope: String) -> Self {
        Self(
            error: "invalid_request", number: 28000,
            message: "Provided value for the input parameter scope is not valid because it contains more than one "
                + "resource. Scope \(scope) is not valid.")
    }
    package static let noScopeForSeveralResources = Self(
        error: "invalid_request", number: 28003,
        message: "Provided value for the input parameter scope cannot be empty when requesting an access token using "
            + "the provided authorization code. Please specify a valid scope.")
    package static let refreshTokenExpired = Self(
        error: "invalid_grant", number: 700082,
        message: "The refresh token has expired due to inactivity.", suberror: "bad_token")
    package static let grantRevoked = Self(
        error: "invalid_grant", number: 50173,
        message: "The provided grant has expired due to it being revoked, a fresh auth token is needed. The user might "
            + "have changed or reset their password.", suberror: "bad_token")

    /// Returns the error of a grant that was revoked, with the times (t2-rt-04).
    ///
    /// - Parameter validFrom: The time of the revocation; nil if an older version has noted none.
    package static func revokedGrant(issued: Date, validFrom: Date?) -> Self {
        guard let validFrom else { return grantRevoked }
        return grantRevoked.saying(
            "The grant was issued on '\(issued.withSevenDecimals)' and the TokensValidFrom date (before which tokens are not "
                + "valid) for this user is '\(validFrom.withSevenDecimals)'.")
    }

    /// Returns the error of a refresh token that has not been used for long, with the platform's usual lifetime (t2-rt-12).
    package static func inactiveToken(issued: Date) -> Self {
        refreshTokenExpired.saying(
            "The token was issued on \(issued.withSevenDecimals) and was inactive for 90.00:00:00.")
    }

    /// Returns the error with one more sentence.
    private func saying(_ sentence: String) -> Self {
        var error = self
        error.message += " " + sentence
        return error
    }
}

/// The demand for a second factor.
package enum SecondFactor {
    /// The error's `claims`, in the real platform's form. The value identifies a policy.
    package static let claimsChallenge: String = {
        let claims: JSONValue = [
            "access_token": ["capolids": ["essential": true, "values": ["3d1c9a52-8f0e-4a86-b1c7-9e2f6d405a13"]]]
        ]
        return claims.text
    }()
}
