import HTTPServer
import SessionStore
import Synchronization

/// The answers that depend on a session alone, kept beside it for as long as it does not change.
final class SessionAnswers: Sendable {
    private struct Address: Hashable {
        let route: Int
        let app: String?
    }

    /// Those of a session, which the cache keeps as long as the session itself.
    static func of(_ session: Session) -> SessionAnswers {
        session.derived.value { SessionAnswers() } ?? SessionAnswers()
    }

    private let answers = Mutex<[Address: PreparedResponse]>([:])

    /// The answer of one address, made when it is first asked for.
    func answer(at match: RouteMatch, make: () -> PreparedResponse) -> PreparedResponse {
        let address = Address(route: match.number, app: match.app)
        if let known = answers.withLock({ $0[address] }) { return known }
        let made = make()
        answers.withLock { $0[address] = made }
        return made
    }
}
