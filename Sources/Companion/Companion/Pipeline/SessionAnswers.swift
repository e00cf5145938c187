import HTTPServer
import SessionStore
import Synchronization

/// Responses that depend only on a session, cached with it until it changes.
final class SessionAnswers: Sendable {
    private struct Address: Hashable {
        let route: Int
        let app: String?

        init(_ match: RouteMatch) { (route, app) = (match.number, match.app) }
    }

    /// Returns the cached responses of a session. The session cache keeps them as long as the session itself.
    static func of(_ session: Session) -> SessionAnswers {
        session.derived.value { SessionAnswers() } ?? SessionAnswers()
    }

    private let answers = Mutex<[Address: PreparedResponse]>([:])

    /// Returns the response of one address; nil if none has been made.
    func answer(at match: RouteMatch) -> PreparedResponse? { answers.withLock { $0[Address(match)] } }

    /// Keeps the response of one address.
    func keep(_ answer: PreparedResponse, at match: RouteMatch) { answers.withLock { $0[Address(match)] = answer } }
}
