import CompanionCore
import CompanionSignIn
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import SessionStore
import WebFormats

/// One request that has passed its checks.
struct Call: Sendable {
    /// The head, the peer, and the body if the route takes one.
    var request: Request
    /// The route that matched.
    let match: RouteMatch
    /// The session's ID from the cookie.
    let cookie: SessionID?
    /// The session, if memory or a direct read on this thread has it; nil if it has not been looked up, or if the
    /// store is too slow to answer at once.
    let session: LookedUpSession?
    /// Whether the session was looked up, and is not available at once.
    let mustWait: Bool
    /// The program's token; nil if the request is a browser's.
    let program: APIToken?
    /// Whether the request comes from this machine itself, and may see monitoring data.
    let mayMonitor: Bool
    /// The context for the log line.
    let context: RequestContext

    /// The application that the path names.
    var application: Application? { match.application }

    /// The ID in the path, of an account or of a session.
    var id: String? { match.id }

    /// Returns a field of the query; nil if it is missing or empty, or if the query cannot be parsed.
    func field(_ name: String) -> String? {
        guard let query = request.head.query, let value = (try? FormFields(query: query))?[name], !value.isEmpty
        else { return nil }
        return value
    }

    /// Decodes the JSON body; an empty body counts as an empty object. Only plain ASCII is accepted, which is all
    /// that these addresses need: comparing long runs of combining marks takes quadratic time.
    ///
    /// - Throws: ``Problem`` `bad_request`.
    func body<Body: Decodable>() throws(Problem) -> Body { try Call.decode(request.body) }

    static func decode<Body: Decodable>(_ bytes: [UInt8]) throws(Problem) -> Body {
        let data = bytes.isEmpty ? Data("{}".utf8) : Data(bytes)
        guard isPlainASCII(bytes), let body = try? JSONDecoder().decode(Body.self, from: data) else {
            throw Problem(.badRequest, "The body is not the JSON object that this address expects.")
        }
        return body
    }

    /// Whether the bytes contain neither non-ASCII bytes nor Unicode escapes (`\u`).
    private static func isPlainASCII(_ bytes: [UInt8]) -> Bool {
        var isEscaped = false
        for byte in bytes {
            guard byte < 0x80, !isEscaped || byte != UInt8(ascii: "u") else { return false }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        return true
    }
}

extension RequestHead {
    /// Whether the client is a browser that navigates, so that an error becomes a page.
    var wantsPage: Bool { self[.accept]?.contains("text/html") ?? false }

    /// Whether the page of another origin caused the request, as far as the browser says so. A site of the same domain, or
    /// another port of this machine, is as strange to us as any other.
    var isFromElsewhere: Bool { self[.secFetchSite].map { $0 != "same-origin" && $0 != "none" } ?? false }
}

/// A call for one application, with the session of the request.
final class Visit: Sendable {
    let call: Call
    let application: Application
    /// The session; nil if the request has none, or if it has ended.
    let session: Session?
    let publicURL: PublicURL

    init(call: Call, application: Application, session: Session?, publicURL: PublicURL) {
        self.call = call
        self.application = application
        self.session = session
        self.publicURL = publicURL
    }

    /// Returns the account for the call.
    ///
    /// - Parameters:
    ///   - id: the account's ID; nil selects the current account.
    ///   - tenant: a tenant where the account is a guest, instead of the one in which it signed in.
    /// - Throws: ``Problem`` `not_found` for an account that is not signed in here; `interaction_required` or
    ///   `session_expired`, with a link to sign in, if no account is.
    func signedIn(as id: String? = nil, tenant: String? = nil) throws(Problem) -> SignedIn {
        guard let session else {
            guard call.cookie == nil else {
                throw Problem(.sessionExpired, "Your session has ended. Sign in again.", action: signIn)
            }
            throw Problem(.interactionRequired, "You are not signed in. Sign in first.", action: signIn)
        }
        if let id {
            guard id.utf8.count <= 512, let account = session.account(for: application.id, id: id) else {
                throw Problem(.notFound, "This account is not signed in here.")
            }
            return SignedIn(application: application, session: session, account: account, tenant: tenant)
        }
        guard let account = session.currentAccount(for: application.id) else {
            throw Problem(.interactionRequired, "You are not signed in. Sign in first.", action: signIn)
        }
        return SignedIn(application: application, session: session, account: account, tenant: tenant)
    }

    private var signIn: Problem.Action {
        .signIn(publicURL.signInPath(of: application, [("return_to", publicURL.pagePath(of: application))]))
    }
}
