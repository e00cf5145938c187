import CompanionCore
import CompanionSignIn
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import SessionStore
import WebFormats

/// One request on its way, after its checks.
struct Call: Sendable {
    /// Head, peer, and the body where the route takes one.
    var request: Request
    /// Its route.
    let match: RouteMatch
    /// The session's id that the cookie carried.
    let cookie: SessionID?
    /// That session as memory, or a read on this very thread, knows it; nil where nobody has looked yet, or where the
    /// store has to be waited for.
    let session: LookedUpSession?
    /// Whether it comes from this machine itself, and may know how the server does.
    let mayMonitor: Bool
    /// What its log line will need.
    let context: RequestContext

    /// The application that the path names.
    var application: Application? { match.application }

    /// What the path names of the application: an account, a session.
    var id: String? { match.id }

    /// A field of the query; nil when it is missing or empty, or when the query cannot be read.
    func field(_ name: String) -> String? {
        guard let query = request.head.query, let value = (try? FormFields(query: query))?[name], !value.isEmpty
        else { return nil }
        return value
    }

    /// The JSON body; an empty one is an empty object. All that these addresses take is ASCII, and is not taken in another
    /// form: runs of combining marks cost the square of their length to compare.
    ///
    /// - Throws: ``Problem`` `bad_request`.
    func body<Body: Decodable>() throws(Problem) -> Body { try Call.decode(request.body) }

    static func decode<Body: Decodable>(_ bytes: [UInt8]) throws(Problem) -> Body {
        let data = bytes.isEmpty ? Data("{}".utf8) : Data(bytes)
        guard isPlainASCII(bytes), let body = try? JSONDecoder().decode(Body.self, from: data) else {
            throw Problem(.badRequest, "The body is not the JSON object that this address takes.")
        }
        return body
    }

    /// Whether there is neither a byte beyond ASCII nor the escape of a character (`\u`).
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
    /// Whether a browser navigates, so that an error becomes a page.
    var wantsPage: Bool { self[.accept]?.contains("text/html") ?? false }
}

/// A call for one application, with the session that it came with.
final class Visit: Sendable {
    let call: Call
    let application: Application
    /// Nil when there is none, or when it has ended.
    let session: Session?
    let publicURL: PublicURL

    init(call: Call, application: Application, session: Session?, publicURL: PublicURL) {
        self.call = call
        self.application = application
        self.session = session
        self.publicURL = publicURL
    }

    /// The account that the call is for, or the sign-in to offer.
    ///
    /// - Parameters:
    ///   - id: the account's; nil takes the current one.
    ///   - tenant: another tenant than the one in which the account signed in, where it is a guest.
    /// - Throws: ``Problem``: `not_found` for an account that is not signed in here; `interaction_required` or
    ///   `session_expired` when nobody is.
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
