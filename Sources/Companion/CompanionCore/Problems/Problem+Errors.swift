package import HTTPClient
import Languages
package import OpenIDConnect
package import SessionStore

/// Converts the modules' errors into problems. This is the only place that does so.
extension Problem {
    /// The seconds to wait after a 429 without Retry-After.
    package static let unstatedPause: Double = 120

    /// Converts a provider's error. `action` is added if signing in again helps.
    package init(_ error: OpenIDError, action: Action? = nil) {
        // The contract's codes include those of the protocol; any other code of the protocol becomes a server error.
        let code = Code(rawValue: error.code.rawValue) ?? .serverError
        let detail: Message =
            error.claim != nil
            ? "The identity provider's ID token has no usable claim “\(error.claim ?? "")”, which is required. Tell the operator."
            : Message(verbatim: error.reason)
        let pause = error.retryAfter.map { Int($0.components.seconds) }
        self.init(
            code, detail, action: action,
            retryAfter: pause ?? (code == .throttled ? Int(Self.unstatedPause) : nil),
            correlationID: error.correlationID, reason: error.description)
        numbers = error.numbers
        providerError = error.providerError
        providerWords = error.providerWords
        traceID = error.traceID
        timestamp = error.timestamp
    }

    /// Converts a store's error. It signs no one out.
    package init(_ error: StoreError) {
        switch error {
        case .noSuchSession, .attemptNotPending:
            self.init(.sessionExpired, "You have been signed out in the meantime. Sign in again.")
        case .noRoom:
            self.init(
                .storageUnavailable,
                "Too many sign-ins are in progress, or the disk is nearly full. Try again in a few minutes.",
                retryAfter: 60, reason: error.description)
        case .unavailable, .corrupt, .newerSchema, .keyFile, .cannotUnseal, .notEmpty:
            self.init(
                .storageUnavailable,
                "Your session is safe, but cannot be read or changed right now. Try again in a moment.",
                retryAfter: 5, reason: error.description)
        }
    }

    /// Converts the failure of a request to the API.
    package init(api error: HTTPClientError) {
        let detail: Message =
            error.kind == .timedOut
            ? "The API did not answer in time. Try again in a moment."
            : "The API could not be reached. Try again in a moment."
        self.init(.apiUnavailable, detail, reason: "\(error.kind): \(error.reason)")
    }

    /// Converts any error, with this request's identifier if the provider gave none.
    package init(any error: any Error) {
        self.init(converting: error)
        correlationID = correlationID ?? RequestContext.current?.correlationID
    }

    private init(converting error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as OpenIDError: self.init(error)
        case let error as StoreError: self.init(error)
        case let error as HTTPClientError: self.init(api: error)
        case is CancellationError: self.init(.serverError, "The request was cancelled.")
        default:
            self.init(.serverError, "Try again; if it happens again, tell the operator.", reason: "\(type(of: error))")
        }
    }
}
