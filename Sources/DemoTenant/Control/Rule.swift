import Synchronization

/// Effects for some requests, or for all. A key at the top level of the JSON interface is a rule without a condition.
struct Rule: Sendable {
    /// The requests that it concerns.
    struct Condition: Sendable, Hashable {
        /// A client ID in lower case.
        var clientID: String?
        var username: String?

        /// Whether it holds. What a request does not say about itself meets no condition.
        func holds(for subject: RuledRequest.Subject) -> Bool {
            (clientID == nil || clientID == subject.clientID) && (username == nil || username == subject.username)
        }
    }

    /// The number that identifies it, given when it begins.
    var id = 0
    /// The key at the top level that it stands for; nil for a rule of the list.
    var key: String?
    var when = Condition()
    /// The number of requests for which it still has an effect; nil until it is ended.
    var times: Int?
    var effects = Effects()
}

/// The request that a task answers, as far as rules need to know it.
final class RuledRequest: Sendable {
    @TaskLocal static var current: RuledRequest?

    /// The client and the person of a request, as far as they are known.
    struct Subject: Sendable, Hashable {
        var clientID: String?
        var username: String?
    }

    private struct State {
        var subject: Subject?
        var used: Set<Int> = []
    }

    private let state = Mutex(State())
    private let find: @Sendable () -> Subject

    /// - Parameter find: finds the subject, once, when a rule has a condition.
    init(_ find: @escaping @Sendable () -> Subject) { self.find = find }

    var subject: Subject {
        if let known = state.withLock({ $0.subject }) { return known }
        let found = find()
        return state.withLock { state in
            state.subject = state.subject ?? found
            return state.subject ?? found
        }
    }

    /// Names the person, for requests that find out in between.
    func isBy(_ account: DemoAccount) {
        let clientID = subject.clientID
        state.withLock { $0.subject = Subject(clientID: clientID, username: account.username) }
    }

    /// Whether a rule counts this request already.
    func hasUsed(_ rule: Int) -> Bool { state.withLock { $0.used.contains(rule) } }

    func use(_ rule: Int) { state.withLock { _ = $0.used.insert(rule) } }
}
