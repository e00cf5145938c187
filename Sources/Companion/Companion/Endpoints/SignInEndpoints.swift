import CompanionCore
import CompanionSignIn
import HTTPServer
import HTTPTypes
import HTTPWire
import Languages
import OpenIDConnect
import SessionStore

/// Sends the browser to the provider, and handles its return.
struct SignInEndpoints: Sendable {
    let flow: SignInFlow
    let store: SessionStore
    let sessions: SessionLookup
    let limits: RequestLimits
    let cookie: SessionCookie
    let attempts: AttemptCookies
    let marks: BrowserMarks
    let publicURL: PublicURL
    let languages: Languages
    /// Whether the provider is the demo tenant, which can repeat the failure of a case, and says what became of a request.
    let isDemo: Bool

    func begin(_ call: Call, _ application: Application, _ session: LookedUpSession) async throws -> Response {
        let head = call.request.head
        var options = try SignInOptions(
            query: head.query, application: application, publicURL: publicURL,
            isFromElsewhere: head.isFromElsewhere)
        // Without a choice of a language, the browser's own preference reaches the provider with the browser's request.
        if isDemo, !head.isFromElsewhere {
            for (own, name) in [("replay", "companion_replay"), ("request", "client-request-id")] {
                if let value = call.field(own) { options.extraParameters.append((name, value)) }
            }
        }
        if let chosen = languages.chosen(by: head) { options.extraParameters.append(("ui_locales", chosen.tag)) }
        return try await Self.leaving(head, call.context, from: options.returnPath) {
            let (browser, newMark) = try browser(call, session)
            return redirect(
                call,
                to: try await flow.begin(application, options, browser, mayPush: mayPush(call, of: session.signedIn)),
                newMark: newMark)
        }
    }

    func beginAdminConsent(_ call: Call, _ application: Application, _ session: LookedUpSession) async throws
        -> Response
    {
        let home = publicURL.pagePath(of: application)
        guard let returnPath = ReturnPath(call.field("return_to") ?? home, below: publicURL.prefix) else {
            throw Problem(.badRequest, "“return_to” must be a path of this site.")
        }
        return try await Self.leaving(call.request.head, call.context, from: returnPath) {
            let (browser, newMark) = try browser(call, session)
            let departure = try await flow.adminConsent.begin(
                application, tenant: call.field("tenant"), returnPath: returnPath, browser)
            return redirect(call, to: departure, newMark: newMark)
        }
    }

    /// Redirects to the provider. If that fails and the page that the person came from can explain it better than an
    /// error page, the browser returns to that page.
    static func leaving(
        _ head: RequestHead, _ context: RequestContext, from page: ReturnPath, _ leave: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await leave()
        } catch {
            let problem = Problem(any: error)
            // After a sign-in loop, only a browser that navigates returns to the page. Other clients get the error
            // page. So does everybody if the provider gave its reason in words, which have no place in an address.
            guard problem.code.isSaidByPage, head.wantsPage, problem.providerWords == nil,
                problem.code != .signInLoop || head[.secFetchMode] == "navigate"
            else { throw problem }
            context.note(problem)
            return .redirect(to: failurePath(page.text, problem))
        }
    }

    /// Returns the browser behind the call, with a new mark if it had none.
    private func browser(_ call: Call, _ session: LookedUpSession) throws -> (Browser, newMark: BrowserMark?) {
        let known = marks.mark(in: call.request.head)
        let mark = known ?? marks.fresh()
        let browser = Browser(
            session: try session.stored(), cookie: call.cookie, mark: mark.bytes,
            site: limits.site(of: call).bytes)
        return (browser, known == nil ? mark : nil)
    }

    private func redirect(
        _ call: Call, to departure: SignInFlow.Departure, newMark: BrowserMark?, status: HTTPResponse.Status = .found
    )
        -> Response
    {
        let response = attempts.keeping(
            departure.signIn, of: departure.state, beside: call.request.head,
            on: .redirect(to: departure.location, status: status))
        return newMark.map { cookie.setting($0, on: response) } ?? response
    }

    func callback(_ call: Call) async throws -> Response {
        let head = call.request.head
        // The provider sends its response to the application's redirect URI, if it has one.
        let redirectURI = call.application.map { publicURL.redirectURI(ofApplication: $0.id) } ?? publicURL.redirectURI
        let callback: Callback
        if head.method == .post {
            // A cross-site POST carries no cookies (SameSite=Lax), so the response is held for a GET that does.
            let callback = try Callback(formBody: call.request.body)
            guard store.isOwn(state: callback.state) else { throw SignInFlow.notOfThisBrowser }
            try await limits.takeCallback(of: "posted " + callback.state, for: call) { try limits.takePosted(call) }
            let handle = try await store.keepAnswer(
                String(decoding: call.request.body, as: UTF8.self), state: callback.state,
                from: limits.network(of: call).bytes)
            guard let handle else { throw Throttle.problem(retryAfter: 60) }
            return .redirect(to: redirectURI.dropFirst(publicURL.origin.count) + "?resume=\(handle)")
        }
        if let handle = call.field("resume") {
            guard store.isHandle(handle) else { throw SignInFlow.isOver() }
            try await limits.takeCallback(of: "resumed " + handle, for: call) {}
            guard let kept = try await store.answer(handle) else { throw SignInFlow.isOver() }
            callback = try Callback(formBody: Array(kept.utf8))
        } else {
            callback = try Callback(query: head.query ?? "")
        }
        // A response that does not belong to a sign-in of this browser is refused before any further lookup, and is not
        // counted against its neighbours.
        guard let signIn = attempts.signIn(of: callback.state, in: head), let mark = marks.mark(in: head)?.bytes,
            let begun = store.open(signIn, state: callback.state, for: mark)
        else {
            guard store.isOwn(state: callback.state), let page = await page(of: call) else {
                throw SignInFlow.notOfThisBrowser
            }
            return .redirect(to: page)
        }
        var person: SessionKey?
        try await limits.takeCallback(of: callback.state, for: call) { person = try await count(call) }
        let outcome = try await flow.complete(
            callback, begun, at: redirectURI, cookie: call.cookie, mark: mark, mayPush: mayPush(call, of: person))
        switch outcome {
        case .signedIn(let path, let id, let hasNewAccount):
            let response = cookie.setting(id, on: .redirect(to: path))
            return hasNewAccount ? marks.noteSignIn(head, on: response) : response
        case .signedInBefore(let path):
            return .redirect(to: path)
        case .continues(let departure, let id):
            let response = redirect(call, to: departure, newMark: nil, status: .seeOther)
            return id.map { cookie.setting($0, on: response) } ?? response
        case .failed(let path, let problem, let id):
            call.context.note(problem)
            let response = Response.redirect(to: Self.failurePath(path, problem))
            return id.map { cookie.setting($0, on: response) } ?? response
        }
    }

    /// Returns the page of a person who is signed in: a browser with many tabs does not keep the oldest sign-ins. Nothing
    /// is redeemed.
    private func page(of call: Call) async -> String? {
        guard call.cookie != nil,
            case .found(let session) = await sessions.session(call.cookie, known: call.session, for: call.context)
        else { return nil }
        let apps = Set(session.accounts.map(\.app))
        return apps.first.map { apps.count == 1 ? "\(publicURL.prefix)/\($0)" : publicURL.homePath }
    }

    /// Counts a response to one of our own sign-ins before it is processed.
    ///
    /// - Returns: the session, if an account is signed in there.
    private func count(_ call: Call) async throws -> SessionKey? {
        let person = await sessions.session(call.cookie, known: call.session, for: call.context).signedIn
        try limits.take(.callbacks, of: person, for: call)
        return person
    }

    /// Returns the permission to send a request to the provider in advance, which counts against the browser's share.
    private func mayPush(_ call: Call, of person: SessionKey?) -> PushPermission {
        { [limits] in try limits.take(.pushedRequests, of: person, for: call) }
    }

    /// Returns the path of the page that began a sign-in, with the stable error code and the seconds to wait, and
    /// nothing else.
    private static func failurePath(_ path: String, _ problem: Problem) -> String {
        let id = problem.correlationID.map { "&correlation_id=" + $0 } ?? ""
        let wait = problem.retryAfter.map { "&retry_after=\($0)" } ?? ""
        return path + (path.contains("?") ? "&" : "?") + "sign_in_error=" + problem.code.rawValue + id + wait
    }
}
