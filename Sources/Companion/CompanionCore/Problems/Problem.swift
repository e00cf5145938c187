package import HTTPTypes
package import HTTPWire
package import Languages
package import WebFormats

/// An error as the browser receives it: problem details (RFC 9457) with a stable code. Its texts address the person
/// at the page and never contain a token, code, state, verifier or cookie.
package struct Problem: Error, Sendable {
    /// The contract's stable codes.
    package enum Code: String, Sendable, CaseIterable {
        case interactionRequired = "interaction_required"
        case consentRequired = "consent_required"
        case adminConsentRequired = "admin_consent_required"
        case cancelled
        case passwordResetRequested = "password_reset_requested"
        case otherAccount = "other_account"
        case providerUnavailable = "provider_unavailable"
        case providerRejectedClient = "provider_rejected_client"
        case providerRejectedRequest = "provider_rejected_request"
        case providerMetadataInvalid = "provider_metadata_invalid"
        case accessDenied = "access_denied"
        case membershipUnknown = "membership_unknown"
        case apiUnavailable = "api_unavailable"
        case throttled
        case sessionExpired = "session_expired"
        case stateMismatch = "state_mismatch"
        case issuerMismatch = "issuer_mismatch"
        case nonceMismatch = "nonce_mismatch"
        case invalidIDToken = "invalid_id_token"
        case storageUnavailable = "storage_unavailable"
        case badRequest = "bad_request"
        case crossSiteRequest = "cross_site_request"
        case invalidToken = "invalid_token"
        case insufficientScope = "insufficient_scope"
        case notFound = "not_found"
        case methodNotAllowed = "method_not_allowed"
        case signInLoop = "sign_in_loop"
        case serverError = "server_error"

        /// Whether the page that begins a sign-in can explain the problem better than an error page can. That is so
        /// if the request was correct and the person can try again there.
        package var isSaidByPage: Bool {
            switch self {
            case .providerUnavailable, .providerRejectedClient, .providerRejectedRequest,
                .providerMetadataInvalid,
                .throttled, .sessionExpired, .signInLoop, .serverError:
                true
            default: false
            }
        }
    }

    /// The next step that the person can take.
    package struct Action: Sendable, Equatable {
        package var kind: String
        package var url: String

        package init(kind: String, url: String) {
            self.kind = kind
            self.url = url
        }

        package static func signIn(_ url: String) -> Action { Action(kind: "sign_in", url: url) }
    }

    package let code: Code
    package let detail: Message
    package var action: Action?
    /// The number of seconds to wait.
    package var retryAfter: Int?
    /// The status with which the API asked for the pause in which this call came.
    package var apiStatus: Int?
    /// The platform's error numbers, by which a language explains it.
    package var numbers: [String] = []
    /// The provider's OAuth error.
    package var providerError: String?
    /// The provider's own words about it, which pages quote. They are not for the log.
    package var providerWords: String?
    /// The provider's trace identifier, for its support.
    package var traceID: String?
    package var timestamp: String?
    /// The correlation identifier from the provider or Graph; ours if they gave none.
    package var correlationID: String?
    /// Whether the response closes the connection, because further requests would be refused too.
    package var endsConnection = false
    /// Details for the log only, beyond those that `detail` gives a person. They contain no secret either.
    package var reason: String?

    package init(
        _ code: Code, _ detail: Message, action: Action? = nil, retryAfter: Int? = nil, correlationID: String? = nil,
        reason: String? = nil
    ) {
        self.code = code
        self.detail = detail
        self.action = action
        self.retryAfter = retryAfter
        self.correlationID = correlationID
        self.reason = reason
    }

    /// A short code that a visitor can read to the staff. It is the beginning of a correlation ID in the log.
    package var staffCode: String {
        let digits = String(decoding: correlationID?.utf8.prefix(8) ?? "".utf8.prefix(0), as: UTF8.self).uppercased()
        guard digits.utf8.count == 8, digits.utf8.allSatisfy({ $0 < 0x80 }) else { return code.rawValue }
        return "\(digits.prefix(4))-\(digits.dropFirst(4))"
    }

    package var status: HTTPResponse.Status {
        switch code {
        case .interactionRequired, .consentRequired, .adminConsentRequired, .sessionExpired, .invalidToken:
            .unauthorized
        case .cancelled, .passwordResetRequested, .otherAccount, .stateMismatch, .issuerMismatch, .nonceMismatch,
            .invalidIDToken, .badRequest:
            .badRequest
        case .crossSiteRequest, .accessDenied, .insufficientScope: .forbidden
        case .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .throttled, .signInLoop: .tooManyRequests
        case .providerRejectedClient, .providerRejectedRequest, .providerMetadataInvalid, .apiUnavailable: .badGateway
        case .providerUnavailable, .membershipUnknown, .storageUnavailable: .serviceUnavailable
        case .serverError: .internalServerError
        }
    }

    /// Whether the operator must know, because the fault lies with this server, the provider or the API. A response
    /// of the provider that cannot be verified is never the person's fault: a clock, a key or a configuration is wrong.
    package var isFault: Bool {
        switch code {
        case .invalidIDToken, .nonceMismatch, .issuerMismatch: true
        default: status.kind == .serverError
        }
    }

    package var title: Message {
        switch code {
        case .interactionRequired: "Sign in again"
        case .consentRequired: "Your consent is needed"
        case .adminConsentRequired: "An administrator must approve this app"
        case .cancelled: "Sign-in cancelled"
        case .passwordResetRequested: "The password has to be reset"
        case .otherAccount: "A different account was used"
        case .providerUnavailable: "The identity provider cannot be reached"
        case .providerRejectedClient: "The identity provider does not accept this application"
        case .providerRejectedRequest: "The identity provider does not accept the request"
        case .providerMetadataInvalid: "The identity provider's published settings do not match"
        case .accessDenied: "This account may not sign in"
        case .membershipUnknown: "We cannot tell right now whether this account may sign in"
        case .apiUnavailable: "The API cannot be reached"
        case .throttled: "Too many requests"
        case .sessionExpired: "Your session has ended"
        case .stateMismatch: "This sign-in was not started here"
        case .issuerMismatch, .nonceMismatch, .invalidIDToken: "The sign-in could not be verified"
        case .storageUnavailable: "The companion cannot store anything right now"
        case .badRequest: "The request is not valid"
        case .crossSiteRequest: "The request came from another site"
        case .invalidToken: "The token is not valid"
        case .insufficientScope: "The token is not for this"
        case .notFound: "Not found"
        case .methodNotAllowed: "Method not allowed"
        case .signInLoop: "Sign-in keeps starting over"
        case .serverError: "Something went wrong here"
        }
    }

    /// Returns `detail` in the person's language. Sentences of the protocol's modules have no translations; they are
    /// replaced by the explanation of the platform's error number, or by the pages' sentence for the code.
    package func detail(in language: Language) -> String {
        if let explanation = language.explanation(of: numbers) { return explanation.cause + " " + explanation.remedy }
        if language.knows(detail) { return language.text(detail) }
        return language.page["sign_in.\(generalCode.rawValue)"] ?? detail.english
    }

    /// The code under which the pages have a sentence. Codes with the same meaning for a person share one.
    private var generalCode: Code {
        switch code {
        case .issuerMismatch, .nonceMismatch: .invalidIDToken
        case .providerRejectedRequest, .providerMetadataInvalid: .providerRejectedClient
        default: code
        }
    }

    /// Returns the problem document (RFC 9457).
    package func document(in language: Language) -> JSONValue {
        .members([
            "type": .string("urn:companion:problem:\(code.rawValue)"), "title": .string(language.text(title)),
            "status": .integer(Int(status.code)), "detail": .string(detail(in: language)),
            "code": .string(code.rawValue), "correlation_id": .text(correlationID),
            "action": action.map { ["kind": .string($0.kind), "url": .string($0.url)] },
            "explanation": language.explanation(of: numbers).map {
                [
                    "number": .string($0.number), "cause": .string($0.cause),
                    "who": .string($0.audience.rawValue), "remedy": .string($0.remedy),
                ]
            },
            "provider_error": .text(providerError), "provider_words": .text(providerWords),
            "trace_id": .text(traceID), "timestamp": .text(timestamp), "api_status": apiStatus.map(JSONValue.integer),
        ])
    }

    /// Returns the problem as `application/problem+json`.
    package func response(in language: Language) -> Response {
        var response = Response.json(
            document(in: language), status: status, contentType: "application/problem+json")
        if let retryAfter { response.headerFields[.retryAfter] = String(retryAfter) }
        // RFC 6750 section 3.
        if code == .invalidToken || code == .insufficientScope {
            response.headerFields[.wwwAuthenticate] = "Bearer error=\"\(code.rawValue)\""
        }
        response.endsConnection = endsConnection
        return response
    }
}
