import SessionStore

extension SignInFlow {
    /// The browser goes to the provider.
    struct Departure: Sendable {
        let location: String
        /// What the cookie must hold.
        let sessionID: SessionID
    }

    /// How a callback ended for the browser.
    enum Outcome: Sendable {
        /// Signed in, now or by the first run of the same callback; with whether an account has just come in, which a
        /// provider has named.
        case signedIn(returnPath: String, sessionID: SessionID, hasNewAccount: Bool = false)
        /// Signed in by something else than this callback, which is over.
        case signedInBefore(returnPath: String)
        /// On to the provider again, with another user flow.
        case continues(Departure)
        /// Not signed in; the page that started it says why.
        case failed(returnPath: String, Problem)
    }

    /// The answer belongs to no sign-in, or to another browser's.
    static var notOfThisBrowser: Problem {
        Problem(
            .stateMismatch,
            "This response doesn't match a sign-in started in this browser. Start again from the page, "
                + "and allow cookies for this site.")
    }

    /// The answer belongs to a sign-in that has ended.
    static func isOver(_ correlationID: String? = nil) -> Problem {
        Problem(
            .stateMismatch, "This sign-in is over or took too long. Start again from the page.",
            correlationID: correlationID)
    }
}
