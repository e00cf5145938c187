package import CompanionCore
import Languages
package import SessionStore

/// The browser that signs in, as its cookies say.
package struct Browser: Sendable {
    /// Nil when there is none, or when it has ended.
    package let session: Session?
    /// The session's id.
    package let cookie: SessionID?
    /// Its mark, which no other has.
    package let mark: [UInt8]

    package init(session: Session?, cookie: SessionID?, mark: [UInt8]) {
        self.session = session
        self.cookie = cookie
        self.mark = mark
    }

    /// The session that a sign-in belongs to, with the id that the browser has. One in which nobody is signed in, nor is
    /// remembered, may end before the browser is back: what begins there joins the session of then.
    package var origin: (key: SessionKey, id: SessionID)? {
        guard let session, let cookie, !session.accounts.isEmpty || session.remembersSomebody else {
            return nil
        }
        return (session.key, cookie)
    }
}

extension SignInFlow {
    /// The browser goes to the provider, and keeps the attempt until it comes back.
    package struct Departure: Sendable {
        package let location: String
        package let state: String
        package let signIn: SealedSignIn

        /// - Throws: ``Problem`` `bad_request` when the attempt is too large to be kept; ``StoreError`` when what it comes back
        ///   with could not be stored.
        init(_ attempt: NewSignInAttempt, to location: String, of browser: Browser, _ store: SessionStore) async throws
        {
            try await store.requireReadiness(forNewcomer: browser.session?.accounts.isEmpty ?? true)
            guard let signIn = try store.seal(attempt, in: browser.origin, for: browser.mark) else {
                let name = attempt.returnTo.utf8.count * 2 > attempt.payload.count ? "return_to" : "claims"
                throw Problem(.badRequest, "“\(name)” is too long or has control characters.")
            }
            (self.location, state, self.signIn) = (location, attempt.state, signIn)
        }
    }

    /// How a callback ended for the browser.
    package enum Outcome: Sendable {
        /// Signed in, now or by the first run of the same callback; with whether an account has just come in, which a
        /// provider has named.
        case signedIn(returnPath: String, sessionID: SessionID, hasNewAccount: Bool = false)
        /// Signed in by something else than this callback, which is over.
        case signedInBefore(returnPath: String)
        /// On to the provider again, with another user flow.
        case continues(Departure, sessionID: SessionID?)
        /// Not signed in; the page that started it says why, with the session that was made for the attempt.
        case failed(returnPath: String, Problem, sessionID: SessionID?)
    }

    /// The answer belongs to no sign-in, or to another browser's.
    package static var notOfThisBrowser: Problem {
        Problem(
            .stateMismatch,
            "This response doesn't match a sign-in started in this browser. Start again from the page, "
                + "and allow cookies for this site.")
    }

    /// The answer belongs to a sign-in that has ended.
    package static func isOver(_ correlationID: String? = nil) -> Problem {
        Problem(
            .stateMismatch, "This sign-in is over or took too long. Start again from the page.",
            correlationID: correlationID)
    }
}
