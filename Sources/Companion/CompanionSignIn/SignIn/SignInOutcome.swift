package import CompanionCore
import Languages
package import SessionStore

/// The browser that signs in, as its cookies identify it.
package struct Browser: Sendable {
    /// The session; nil if there is none, or if it has ended.
    package let session: Session?
    /// The session's id.
    package let cookie: SessionID?
    /// The browser's mark, which is unique.
    package let mark: [UInt8]
    /// The bytes of the site that it comes from: of IPv6 a /48, otherwise the network.
    private let site: [UInt8]

    package init(session: Session?, cookie: SessionID?, mark: [UInt8], site: [UInt8]) {
        self.session = session
        self.cookie = cookie
        self.mark = mark
        self.site = site
    }

    /// The name under which the unknown authorities of its requests are counted: people who are signed in by themselves,
    /// all others by their site.
    package var requester: String {
        if let session, !session.accounts.isEmpty { return "session \(session.key)" }
        return "site \(site)"
    }

    /// The session that a sign-in belongs to, with its ID in the browser. Nil if the session has no current or
    /// remembered account, because it may end before the browser returns. The sign-in then joins the session that
    /// exists at its callback.
    package var origin: (key: SessionKey, id: SessionID)? {
        guard let session, let cookie, !session.accounts.isEmpty || session.remembersSomebody else {
            return nil
        }
        return (session.key, cookie)
    }
}

extension SignInFlow {
    /// The redirect to the provider, with the attempt for the browser's cookie.
    package struct Departure: Sendable {
        package let location: String
        package let state: String
        package let signIn: SealedSignIn

        /// - Throws: ``Problem`` `bad_request` if the attempt is too large for a cookie; ``StoreError`` if the store
        ///   could not take the result later.
        init(_ attempt: NewSignInAttempt, to location: String, of browser: Browser, _ store: SessionStore) async throws
        {
            try await store.requireReadiness(forNewcomer: browser.session?.accounts.isEmpty ?? true)
            guard let signIn = try store.seal(attempt, in: browser.origin, for: browser.mark) else {
                let name = attempt.returnTo.utf8.count * 2 > attempt.payload.count ? "return_to" : "claims"
                throw Problem(.badRequest, "“\(name)” is too long or contains control characters.")
            }
            (self.location, state, self.signIn) = (location, attempt.state, signIn)
        }
    }

    /// The outcome of a callback for the browser.
    package enum Outcome: Sendable {
        /// The account is signed in, by this run or an earlier one of the same callback. `hasNewAccount` is true if
        /// this run signed it in.
        case signedIn(returnPath: String, sessionID: SessionID, hasNewAccount: Bool = false)
        /// The account is already signed in, and this callback is too old.
        case signedInBefore(returnPath: String)
        /// The browser goes to the provider again, with another user flow.
        case continues(Departure, sessionID: SessionID?)
        /// The sign-in failed. The page that started it gives the reason, with the session that was created for the
        /// attempt.
        case failed(returnPath: String, Problem, sessionID: SessionID?)
    }

    /// The problem of a response that belongs to no sign-in, or to another browser's.
    package static var notOfThisBrowser: Problem {
        Problem(
            .stateMismatch,
            "This response doesn't match a sign-in started in this browser. Start again from the page, "
                + "and allow cookies for this site.")
    }

    /// Returns the problem of a response that belongs to a finished sign-in.
    package static func isOver(_ correlationID: String? = nil) -> Problem {
        Problem(
            .stateMismatch, "This sign-in has ended or took too long. Start again from the page.",
            correlationID: correlationID)
    }
}
