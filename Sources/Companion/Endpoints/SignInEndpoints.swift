import HTTPServer
import HTTPTypes
import HTTPWire
import OpenIDConnect
import SessionStore

/// Out to the provider, and back.
extension Endpoints {
    func signIn(_ exchange: Exchange, request: Request) async throws -> Response {
        let application = try application(exchange)
        let options = try SignInOptions(
            query: exchange.query, application: application, publicURL: configuration.publicURL,
            isCrossSite: request.head[.secFetchSite] == "cross-site")
        do {
            let (location, id) = try await signInFlow.begin(
                application, options: options, cookie: exchange.cookie, correlationID: exchange.correlationID)
            return redirect(exchange, to: location, id)
        } catch let problem as Problem {
            throw problem
        } catch {
            // The page that the person came from can say it better than an error page, and stays where it was.
            let problem = Problem(any: error, correlationID: exchange.correlationID)
            guard exchange.wantsPage, problem.code != .storageUnavailable else { throw problem }
            exchange.context.note(problem)
            return .redirect(to: failurePath(options.returnPath.text, problem))
        }
    }

    func adminConsent(_ exchange: Exchange) async throws -> Response {
        let application = try application(exchange)
        let home = configuration.publicURL.pagePath(of: application)
        guard let returnPath = ReturnPath(exchange.field("return_to") ?? home, below: configuration.publicURL.prefix)
        else {
            throw Problem(.badRequest, "“return_to” must be a path of this site.")
        }
        let (location, id) = try await signInFlow.beginAdminConsent(
            application, tenant: exchange.field("tenant"), returnPath: returnPath, cookie: exchange.cookie)
        return redirect(exchange, to: location, id)
    }

    private func redirect(_ exchange: Exchange, to location: String, _ id: SessionID) -> Response {
        let response = Response.redirect(to: location, status: .found)
        return id == exchange.cookie ? response : cookie.setting(id, on: response)
    }

    func callback(_ exchange: Exchange, request: Request) async throws -> Response {
        // An answer stays at the address to which it came.
        let publicURL = configuration.publicURL
        let redirectURI =
            exchange.application.map { publicURL.redirectURI(ofApplication: $0.id) } ?? publicURL.redirectURI
        let callback: Callback
        if request.head.method == .post {
            // The cookie does not come with a cross-site POST (SameSite=Lax): the answer waits for a GET that has it.
            let callback = try Callback(formBody: request.body)
            guard try await store.hasLiveAttempt(state: callback.state) else { throw SignInFlow.notOfThisBrowser }
            guard let handle = formPosts.keep(callback, bytes: request.body.count) else {
                throw Throttle.problem(retryAfter: 60)
            }
            return .redirect(to: redirectURI.dropFirst(publicURL.origin.count) + "?resume=\(handle)")
        }
        if let handle = exchange.field("resume") {
            guard let kept = formPosts.find(handle) else {
                throw Problem(.stateMismatch, "This sign-in is over or took too long. Start again from the page.")
            }
            callback = kept
        } else {
            callback = try Callback(query: exchange.query ?? "")
        }
        switch try await signInFlow.complete(
            callback, at: redirectURI, cookie: exchange.cookie, correlationID: exchange.correlationID)
        {
        case .signedIn(let path, let id):
            return cookie.setting(id, on: .redirect(to: path))
        case .signedInBefore(let path):
            return .redirect(to: path)
        case .continues(let location, let id):
            return cookie.setting(id, on: .redirect(to: location))
        case .failed(_, let path, let problem):
            exchange.context.note(problem)
            return .redirect(to: failurePath(path, problem))
        }
    }

    /// The page that began a sign-in, with the stable code of what went wrong and nothing else.
    private func failurePath(_ path: String, _ problem: Problem) -> String {
        let id = problem.correlationID.map { "&correlation_id=" + $0 } ?? ""
        return path + (path.contains("?") ? "&" : "?") + "sign_in_error=" + problem.code.rawValue + id
    }

    /// What the page that a failed sign-in came back to needs to explain it.
    func signInFailure(_ exchange: Exchange, request: Request) async throws -> Response {
        let application = try application(exchange)
        let session = try await session(exchange)
        let problem = session.flatMap { history.lastFailure(session: $0.key, app: application.id) }
        return .json(SignInFailure(failure: problem?.body(in: languages.language(of: request.head))))
    }

    private struct SignInFailure: Encodable {
        @OrNull var failure: Problem.Body?
    }
}
