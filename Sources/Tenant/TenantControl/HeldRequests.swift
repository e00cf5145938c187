extension Controls {
    /// The requests that wait, each because of a rule. No thread waits.
    struct HeldRequests {
        /// A test holds no more at once.
        static let most = 100

        private struct Waiting {
            let endpoint: Endpoint
            let rule: Int
            let request: CheckedContinuation<Void, Never>
        }

        private var waiting: [Int: Waiting] = [:]
        private var lastID = 0

        mutating func nextID() -> Int {
            lastID += 1
            return lastID
        }

        mutating func add(_ request: CheckedContinuation<Void, Never>, _ id: Int, at endpoint: Endpoint, _ rule: Int) {
            waiting[id] = Waiting(endpoint: endpoint, rule: rule, request: request)
        }

        mutating func take(_ id: Int) -> CheckedContinuation<Void, Never>? {
            waiting.removeValue(forKey: id)?.request
        }

        mutating func takeAll(where isOver: (_ rule: Int) -> Bool) -> [CheckedContinuation<Void, Never>] {
            let free = waiting.filter { isOver($0.value.rule) }
            for id in free.keys { waiting[id] = nil }
            return free.values.map(\.request)
        }

        func isHeld(by rule: Int) -> Bool { waiting.values.contains { $0.rule == rule } }

        /// The number of requests of an endpoint, or of all.
        func count(at endpoint: Endpoint? = nil) -> Int {
            waiting.values.count { $0.endpoint == endpoint ?? $0.endpoint }
        }
    }
}
