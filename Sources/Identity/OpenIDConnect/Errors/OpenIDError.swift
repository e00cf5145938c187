/// An error that may be shown: it never contains a token, code, verifier, nonce or state. Its description may be logged.
public struct OpenIDError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Stable codes, which an application may show and store.
    public enum Code: String, Sendable, CaseIterable {
        /// The provider wants the person to sign in again, interactively.
        case interactionRequired = "interaction_required"
        /// The person has not yet consented to the application's permissions.
        case consentRequired = "consent_required"
        /// Only an administrator can consent to the application's permissions.
        case adminConsentRequired = "admin_consent_required"
        /// The person cancelled or declined.
        case cancelled
        /// The person forgot the password on a B2C page: continue with the reset policy (AADB2C90118).
        case passwordResetRequested = "password_reset_requested"
        /// A policy or the tenant blocks this account.
        case accessDenied = "access_denied"
        /// There is no usable response. Nothing is known about the account: keep everything and try later.
        case providerUnavailable = "provider_unavailable"
        /// There were too many requests; `retryAfter` says when to try again.
        case throttled
        /// The operator must fix the client ID, secret, redirect URI or client type.
        case providerRejectedClient = "provider_rejected_client"
        /// The operator must fix a scope or another parameter.
        case providerRejectedRequest = "provider_rejected_request"
        /// The discovery document or the keys do not belong to the configured authority.
        case invalidMetadata = "provider_metadata_invalid"
        /// The callback does not belong to this attempt.
        case stateMismatch = "state_mismatch"
        /// The callback comes from another issuer (RFC 9207).
        case issuerMismatch = "issuer_mismatch"
        /// The ID token does not belong to this attempt.
        case nonceMismatch = "nonce_mismatch"
        /// The ID token was refused; `idTokenFault` contains the reason.
        case invalidIDToken = "invalid_id_token"
        /// A callback that no provider sends.
        case badRequest = "bad_request"
    }

    /// The code, for decisions.
    public private(set) var code: Code
    /// One or two sentences for people, with the next step.
    public private(set) var reason: String
    /// The fault of the ID token, for `invalid_id_token` and `nonce_mismatch`.
    public internal(set) var idTokenFault: IDTokenFault?
    /// The claim that an ID token lacks, if that is its fault.
    public internal(set) var claim: String?
    /// The provider's own `error`.
    public internal(set) var providerError: String?
    /// The provider's own `error_description` in one line, without anything that it was sent; nil at Microsoft's platforms,
    /// whose numbers explain the error. Show it as a quotation, and never log it, because it may name a person.
    public internal(set) var providerWords: String?
    /// The provider's `suberror`.
    public internal(set) var suberror: String?
    /// The numbers of AADSTS errors, in order. Use them for hints only, because they may change.
    public internal(set) var aadsts: [Int] = []
    /// The numbers of B2C's AADB2C errors.
    public internal(set) var aadb2c: [Int] = []
    /// The provider's `trace_id`.
    public internal(set) var traceID: String?
    /// The provider's `correlation_id`.
    public internal(set) var correlationID: String?
    /// The provider's `timestamp`.
    public internal(set) var timestamp: String?
    /// A claims challenge, to be sent with the next request.
    public internal(set) var claims: ClaimsRequest?
    /// The status of a response that says nothing about the account or the client: 408, 429 or 5xx.
    public internal(set) var status: Int?
    /// The pause that the provider asked for.
    public internal(set) var retryAfter: Duration?

    /// All numbers in the platform's form, B2C's first: `AADB2C90118`, `AADSTS50058`.
    public var numbers: [String] { aadb2c.map { "AADB2C\($0)" } + aadsts.map { "AADSTS\($0)" } }

    /// Creates an error for a transport that could not reach the provider. `reason` must be free of secrets.
    public init(unreachable reason: String) {
        self.init(.providerUnavailable, reason)
    }

    /// Creates an earlier error of a provider from its stored code.
    ///
    /// - Parameters:
    ///   - text: the code; any other text counts as `interaction_required`.
    ///   - claims: the claims challenge, if there was one.
    public init(remembered text: String, claims: ClaimsRequest?) {
        let code = Code(rawValue: text) ?? .interactionRequired
        self.init(code, PlatformErrors.hint(for: code))
        self.claims = claims
    }

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Creates the error for an ID token in which a required claim is missing, or is of a wrong type.
    init(missingClaim name: String) {
        self.init(.invalidIDToken, "The ID token has no usable claim \(name), which is required.")
        idTokenFault = .malformed
        claim = name
    }

    init(_ fault: IDTokenFault) {
        self.init(fault == .nonce ? .nonceMismatch : .invalidIDToken, fault.reason)
        idTokenFault = fault
    }

    /// Whether nothing is known about the account or the client: keep everything, serve what is still valid, and try
    /// later.
    public var isTransient: Bool { code == .providerUnavailable || code == .throttled }

    /// Whether the same response may pass its checks later: the provider's keys are not to be had now, or this machine's
    /// clock is wrong. Such an error of a check is no verdict on the response.
    public var isProvisional: Bool {
        switch idTokenFault {
        case .unknownKey: true
        case nil: isTransient || code == .invalidMetadata
        default: isOfClock
        }
    }

    /// Whether a check failed because of this machine's clock, or of the provider's.
    public var isOfClock: Bool {
        switch idTokenFault {
        case .expired, .notYetValid, .issuedInFuture: true
        default: false
        }
    }

    /// Whether only the person can continue, according to the provider's `error` and `suberror` alone. This is never so
    /// when the provider was out of order, or when it rejected the client: the operator must fix that, and no one is
    /// signed out.
    public var isInteractionNeeded: Bool {
        guard !isTransient, let providerError, providerError != "invalid_client" else { return false }
        return Self.interactionErrors.contains(providerError)
            || suberror.map(Self.interactionSuberrors.contains) ?? false
    }

    /// This refusal of a refresh as a request for interaction; nil if it is temporary, or the client's fault. A provider
    /// that refuses a refresh token with an unusual word, such as `invalid_request`, will not accept it later either.
    public var asRefusedRefresh: OpenIDError? {
        guard !isInteractionNeeded else { return self }
        guard !isTransient, code != .providerRejectedClient, let providerError,
            !Self.clientErrors.contains(providerError)
        else { return nil }
        var error = self
        error.code = .interactionRequired
        error.reason = PlatformErrors.hint(for: .interactionRequired)
        return error
    }

    private static let clientErrors: Set<String> = [
        "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
    ]
    private static let interactionErrors: Set<String> = [
        "interaction_required", "consent_required", "login_required", "bad_token", "invalid_grant",
    ]
    static let interactionSuberrors: Set<String> = [
        "message_only", "additional_action", "basic_action", "user_password_expired", "consent_required", "bad_token",
    ]

    /// The code, the reason and the values that the provider's support asks for.
    public var description: String {
        var text = "\(code.rawValue): \(reason)"
        if let providerError { text += " error=\(providerError)" }
        if let suberror { text += " suberror=\(suberror)" }
        for number in aadsts { text += " AADSTS\(number)" }
        for number in aadb2c { text += " AADB2C\(number)" }
        if let traceID { text += " trace_id=\(traceID)" }
        if let correlationID { text += " correlation_id=\(correlationID)" }
        if let timestamp { text += " timestamp=\(timestamp)" }
        return text
    }
}

/// The reason for which an ID token was refused. The names are stable.
public enum IDTokenFault: String, Sendable, CaseIterable {
    /// The response to a code contains none.
    case missing
    /// The token does not have three parts, is not base64url or strict JSON, has a critical header or a wrong type, or
    /// lacks a required claim.
    case malformed
    /// The algorithm is not RS256, PS256 or ES256, or not one of the key.
    case algorithm
    /// `iss` is not the authority's.
    case issuer
    /// `tid` is not a GUID, or not a tenant that may sign in.
    case tenant
    /// `aud` is not this client alone.
    case audience
    /// `azp` is another client.
    case authorizedParty = "authorized_party"
    /// The provider has no key with the token's `kid`.
    case unknownKey = "unknown_key"
    /// The token has no `kid`, and the provider has several keys.
    case ambiguousKey = "ambiguous_key"
    /// `tfp` or `acr` is not the requested user flow.
    case policy
    /// The key belongs to another issuer.
    case keyIssuer = "key_issuer"
    /// The signature is wrong.
    case signature
    /// `exp` has passed.
    case expired
    /// `nbf` is in the future.
    case notYetValid = "not_yet_valid"
    /// `iat` is in the future.
    case issuedInFuture = "issued_in_future"
    /// `nonce` is missing or belongs to another attempt.
    case nonce
    /// A refreshed token is about another account: `iss`, `sub` or `tid` has changed.
    case otherAccount = "other_account"

    var reason: String {
        switch self {
        case .missing: "The provider sent no ID token; ask for the scope openid."
        case .malformed: "The ID token is not a well-formed signed token with the required claims."
        case .algorithm: "The ID token is not signed with RS256, PS256 or ES256 by a key meant for it."
        case .issuer: "The ID token's issuer is not the configured authority's."
        case .tenant: "The account's tenant may not sign in to this application."
        case .audience: "The ID token is not for this client ID alone."
        case .policy: "The ID token comes from another user flow."
        case .authorizedParty: "The ID token was issued to another client."
        case .unknownKey: "The ID token is signed with a key that the provider does not publish."
        case .ambiguousKey: "The ID token names no key, and the provider has several."
        case .keyIssuer: "The ID token is signed with a key of another issuer."
        case .signature: "The ID token's signature is wrong."
        case .expired: "The ID token has expired; check this machine's clock."
        case .notYetValid: "The ID token is not valid yet; check this machine's clock."
        case .issuedInFuture: "The ID token was issued in the future; check this machine's clock."
        case .nonce: "The ID token does not belong to this sign-in; start again."
        case .otherAccount: "The refreshed ID token is about another account."
        }
    }
}
