import HTTPServer
import HTTPTypes
import HTTPWire
import OpenIDConnect
import SessionStore

/// Out to the provider, and back.
struct SignInEndpoints: Sendable {
    let flow: SignInFlow
    let store: SessionStore
    let sessions: SessionLookup
    let limits: RequestLimits
    let formPosts: FormPostCallbacks
    let cookie: SessionCookie
    let marks: BrowserMarks
    let publicURL: PublicURL
    let languages: Languages

    func begin(_ call: Call, _ application: Application, _ session: LookedUpSession) async throws -> Response {
        let head = call.request.head
        var options = try SignInOptions(
            query: head.query, application: application, publicURL: publicURL,
            isCrossSite: head[.secFetchSite] == "cross-site")
        // What the browser asks for, the provider hears from it.
        if let chosen = languages.chosen(by: head) { options.extraParameters.append(("ui_locales", chosen.tag)) }
        do {
            return redirect(call, to: try await flow.begin(application, options, session, cookie: call.cookie))
        } catch let problem as Problem where problem.code != .signInLoop || head[.secFetchMode] != "navigate" {
            throw problem
        } catch {
            // The page that the person came from can say it better than an error page, and stays where it was.
            let problem = Problem(any: error)
            guard head.wantsPage, problem.code != .storageUnavailable else { throw problem }
            call.context.note(problem)
            return .redirect(to: failurePath(options.returnPath.text, problem))
        }
    }

    func beginAdminConsent(_ call: Call, _ application: Application) async throws -> Response {
        let home = publicURL.pagePath(of: application)
        guard let returnPath = ReturnPath(call.field("return_to") ?? home, below: publicURL.prefix) else {
            throw Problem(.badRequest, "“return_to” must be a path of this site.")
        }
        let departure = try await flow.adminConsent.begin(
            application, tenant: call.field("tenant"), returnPath: returnPath, cookie: call.cookie)
        return redirect(call, to: departure)
    }

    private func redirect(_ call: Call, to departure: SignInFlow.Departure) -> Response {
        var response = Response.redirect(to: departure.location, status: .found)
        if departure.sessionID != call.cookie { response = cookie.setting(departure.sessionID, on: response) }
        return marks.mark(in: call.request.head) == nil ? cookie.setting(marks.fresh(), on: response) : response
    }

    func callback(_ call: Call) async throws -> Response {
        // An answer stays at the address to which it came.
        let redirectURI = call.application.map { publicURL.redirectURI(ofApplication: $0.id) } ?? publicURL.redirectURI
        let callback: Callback
        if call.request.head.method == .post {
            // The cookie does not come with a cross-site POST (SameSite=Lax): the answer waits for a GET that has it.
            let callback = try Callback(formBody: call.request.body)
            try await count(call)
            guard try await store.hasLiveAttempt(state: callback.state) else { throw SignInFlow.notOfThisBrowser }
            guard let handle = try await keep(callback, body: call.request.body) else {
                throw Throttle.problem(retryAfter: 60)
            }
            return .redirect(to: redirectURI.dropFirst(publicURL.origin.count) + "?resume=\(handle)")
        }
        if let handle = call.field("resume") {
            try await count(call)
            guard let kept = try await kept(handle) else { throw SignInFlow.isOver() }
            callback = kept
        } else {
            callback = try Callback(query: call.request.head.query ?? "")
            try await count(call)
        }
        switch try await flow.complete(callback, at: redirectURI, cookie: call.cookie) {
        case .signedIn(let path, let id, let hasNewAccount):
            let response = cookie.setting(id, on: .redirect(to: path))
            return hasNewAccount ? marks.noteSignIn(call.request.head, on: response) : response
        case .signedInBefore(let path):
            return .redirect(to: path)
        case .continues(let departure):
            return cookie.setting(departure.sessionID, on: .redirect(to: departure.location))
        case .failed(let path, let problem):
            call.context.note(problem)
            return .redirect(to: failurePath(path, problem))
        }
    }

    /// Counts an answer that may belong to a sign-in, before anything is done for it.
    private func count(_ call: Call) async throws {
        try limits.take(.callbacks, of: await sessions.session(of: call).signedIn, for: call)
    }

    /// Keeps a posted answer where every server that shares the sessions finds it; one that is alone has it in memory.
    private func keep(_ callback: Callback, body: [UInt8]) async throws -> String? {
        guard store.isShared else { return formPosts.keep(callback, bytes: body.count) }
        return try await store.keepAnswer(String(decoding: body, as: UTF8.self), state: callback.state)
    }

    private func kept(_ handle: String) async throws -> Callback? {
        guard store.isShared else { return formPosts.find(handle) }
        return try await store.answer(handle).map { try Callback(formBody: Array($0.utf8)) }
    }

    /// The page that began a sign-in, with the stable code of what went wrong, how many seconds to wait, and nothing else.
    private func failurePath(_ path: String, _ problem: Problem) -> String {
        let id = problem.correlationID.map { "&correlation_id=" + $0 } ?? ""
        let wait = problem.retryAfter.map { "&retry_after=\($0)" } ?? ""
        return path + (path.contains("?") ? "&" : "?") + "sign_in_error=" + problem.code.rawValue + id + wait
    }
}
