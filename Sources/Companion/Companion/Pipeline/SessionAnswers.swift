import HTTPServer
import SessionStore
import Synchronization

/// Responses that depend only on a session, cached with it until it changes.
final class SessionAnswers: Sendable {
    private struct Address: Hashable {
        let route: Int
        let app: String?
    }

    /// Returns the cached responses of a session. The session cache keeps them as long as the session itself.
    static func of(_ session: Session) -> SessionAnswers {
        session.derived.value { SessionAnswers() } ?? SessionAnswers()
    }

    private let answers = Mutex<[Address: PreparedResponse]>([:])

    /// Returns the response of one address, which is made at its first request.
    func answer(at match: RouteMatch, make: () -> PreparedResponse) -> PreparedResponse {
        let address = Address(route: match.number, app: match.app)
        if let known = answers.withLock({ $0[address] }) { return known }
        let made = make()
        answers.withLock { $0[address] = made }
        return made
    }
}
