package import Foundation
import Synchronization
package import TenantDirectory

/// Effects for some requests, or for all. A key at the top level of the JSON interface is a rule without a condition.
package struct Rule: Sendable {
    /// The requests that it concerns.
    package struct Condition: Sendable, Hashable {
        /// A client ID in lower case.
        package var clientID: String?
        package var username: String?
        /// The claim `sid` of a sign-on session's tokens.
        package var session: String?

        /// Whether it holds for every request.
        package var isForEveryone: Bool { self == Self() }

        /// Whether it holds. What a request does not say about itself meets no condition.
        package func holds(for subject: RuledRequest.Subject) -> Bool {
            (clientID == nil || clientID == subject.clientID) && (username == nil || username == subject.username)
                && (session == nil || session == subject.session)
        }
    }

    /// The number that identifies it, given when it begins.
    package var id = 0
    /// The key at the top level that it stands for; nil for a rule of the list.
    package var key: String?
    package var when = Condition()
    /// The number of requests for which it still has an effect; nil until it is ended.
    package var times: Int?
    /// The seconds after which it ends by itself; nil for a rule that somebody has to end.
    package var seconds: Int?
    /// The time at which it ends by itself.
    package internal(set) var end: Date?
    package var effects = Effects()

    /// - Parameter now: the time, which only some rules need.
    func isInForce(_ now: () -> Date) -> Bool { end.map { now() < $0 } ?? true }
}

/// The request that a task answers, as far as rules need to know it.
package final class RuledRequest: Sendable {
    /// The request of this task.
    @TaskLocal package static var current: RuledRequest?

    /// The client and the person of a request, as far as they are known.
    package struct Subject: Sendable, Hashable {
        package var clientID: String?
        package var username: String?
        package var session: String?

        package init(clientID: String? = nil, username: String? = nil, session: String? = nil) {
            self.clientID = clientID
            self.username = username
            self.session = session
        }
    }

    private struct State {
        var subject: Subject?
        var used: Set<Int> = []
    }

    private let state = Mutex(State())
    private let find: @Sendable () -> Subject

    /// - Parameter find: finds the subject, once, when a rule has a condition.
    package init(_ find: @escaping @Sendable () -> Subject) { self.find = find }

    package var subject: Subject {
        if let known = state.withLock({ $0.subject }) { return known }
        let found = find()
        return state.withLock { state in
            state.subject = state.subject ?? found
            return state.subject ?? found
        }
    }

    /// Names the person, for requests that find out in between.
    package func isBy(_ account: DemoAccount) {
        var subject = subject
        subject.username = account.username
        state.withLock { $0.subject = subject }
    }

    /// Whether a rule counts this request already.
    func hasUsed(_ rule: Int) -> Bool { state.withLock { $0.used.contains(rule) } }

    package func use(_ rule: Int) { state.withLock { _ = $0.used.insert(rule) } }
}
