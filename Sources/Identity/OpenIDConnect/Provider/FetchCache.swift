import Expiring
import FoundationEssentials
import Synchronization

/// Values that are fetched from the provider. All callers that wait share one fetch, and a value is kept for a day.
/// Requests are limited, both after a failure and on demand. While the provider is out of order, the last value is
/// still served.
///
/// Keys that a request named are limited, both in the number kept and in the number of new ones fetched per minute, for
/// each requester and for all together, because anyone can make up names. They neither evict nor delay the keys that the
/// operator configured, or that an account or a sealed sign-in names. Most of what all may name together is reserved for
/// requesters that have named no other in the minute, so that those who make up names do not keep them out.
final class FetchCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// A value, and the fetch that it came from.
    struct Fetched: Sendable {
        let value: Value
        let generation: Int
    }

    private typealias Fetch = Task<Result<Fetched, OpenIDError>, Never>

    private struct Entry {
        var fetched: Fetched?
        var fetchedAt: Date?
        /// The first fetch on demand of a request in the latest interval, and whether there was another one.
        var fetchedOnDemandAt: Date?
        var isFetchedAgain = false
        var failure: (error: OpenIDError, at: Date)?
        /// The latest fetch for a response of the provider's own, and how many there were in a row.
        var lookedAt: Date?
        var looksInRow = 0
        var fetch: Fetch?
    }

    /// The reason for which a value is wanted. It decides how soon it may be fetched again, and neither uses up what the other
    /// may fetch.
    enum Need {
        /// A request, which anyone can send.
        case request
        /// A response that the provider has just sent to this server, and that cannot be checked without the value.
        case ownResponse
    }

    private enum Step {
        case use(Fetched)
        case wait(Fetch, stale: Fetched?)
        case paused(OpenIDError, stale: Fetched?)
    }

    /// The source of a key.
    enum Source {
        /// The operator's configuration. The entry stays.
        case configuration
        /// An account or a sealed sign-in, which have passed the checks of a request.
        case server
        /// A request.
        ///
        /// - Parameter requester: the address or session that it counts against.
        case request(requester: String)
    }

    private struct State {
        var configured: [Key: Entry] = [:]
        var named: ExpiringMap<Key, Entry>
        var requested: ExpiringMap<Key, Entry>
        /// The new keys of all requests, and of each requester.
        var newcomers = Window()
        var newcomersOfOne: ExpiringMap<String, Window>
    }

    /// The new keys of a minute. A clock that was set back begins another one.
    private struct Window {
        private var begin = Date.distantPast
        private var count = 0

        /// Counts one more key.
        ///
        /// - Returns: the number of keys before it; nil if there may be no more.
        mutating func add(most: Int, now: Date) -> Int? {
            if !(0..<CacheTimes.newcomers).contains(now.timeIntervalSince(begin)) { (begin, count) = (now, 0) }
            guard count < most else { return nil }
            count += 1
            return count - 1
        }
    }

    private let state: Mutex<State>
    private let onDemandInterval: TimeInterval
    private let bounds: CacheBounds
    private let now: ProviderClock
    private let fetch: @Sendable (Key) async throws(OpenIDError) -> Value

    init(
        onDemandInterval: TimeInterval, bounds: CacheBounds, now: @escaping ProviderClock,
        fetch: @escaping @Sendable (Key) async throws(OpenIDError) -> Value
    ) {
        self.onDemandInterval = onDemandInterval
        self.bounds = bounds
        state = Mutex(
            State(
                named: ExpiringMap(maxCount: bounds.named), requested: ExpiringMap(maxCount: bounds.requested),
                newcomersOfOne: ExpiringMap(maxCount: bounds.requesters)))
        self.now = now
        self.fetch = fetch
    }

    /// Returns the value, and fetches it when there is none or when it is a day old.
    ///
    /// - Throws: `throttled` if the requester may name no more unknown keys now.
    func value(for key: Key, from source: Source, need: Need = .request) async throws(OpenIDError) -> Fetched {
        guard mayEnter(key, from: source) else {
            var error = OpenIDError(.throttled, "Too many unknown tenants were asked for: try again in a minute.")
            error.retryAfter = .seconds(CacheTimes.newcomers)
            throw error
        }
        let step = withEntry(key, source) { entry in
            if let fetched = entry.fetched, isWithin(CacheTimes.fresh, of: entry.fetchedAt) { return Step.use(fetched) }
            let stale = isWithin(CacheTimes.stale, of: entry.fetchedAt) ? entry.fetched : nil
            if let fetch = entry.fetch { return .wait(fetch, stale: stale) }
            if let error = pause(entry, need) { return .paused(error, stale: stale) }
            return .wait(start(key, source, &entry, need, onDemand: false), stale: stale)
        }
        return try await finish(step)
    }

    /// Returns a value fetched after `generation`; nil when the last attempt was too recent to try again.
    func value(for key: Key, from source: Source, after generation: Int, need: Need)
        async throws(OpenIDError) -> Fetched?
    {
        let step: Step? = withEntry(key, source) { entry in
            if let fetched = entry.fetched, fetched.generation > generation { return .use(fetched) }
            if let fetch = entry.fetch { return .wait(fetch, stale: nil) }
            if let error = pause(entry, need) { return .paused(error, stale: nil) }
            switch need {
            case .request: if !mayFetchOnDemand(entry) { return nil }
            case .ownResponse: if !mayLook(entry) { return nil }
            }
            return .wait(start(key, source, &entry, need, onDemand: true), stale: nil)
        }
        guard let step else { return nil }
        return try await finish(step)
    }

    /// Returns the value of a configured key if it has been fetched.
    func known(_ key: Key) -> Value? { state.withLock { $0.configured[key]?.fetched?.value } }

    private func finish(_ step: Step) async throws(OpenIDError) -> Fetched {
        let failure: OpenIDError
        let stale: Fetched?
        switch step {
        case .use(let fetched): return fetched
        case .paused(let error, let old): (failure, stale) = (error, old)
        case .wait(let fetch, let old):
            switch await fetch.value {
            case .success(let fetched): return fetched
            case .failure(let error): (failure, stale) = (error, old)
            }
        }
        // An old value may stand in for a missing response, but not for a wrong one.
        guard let stale, failure.isTransient else { throw failure }
        return stale
    }

    /// Starts an unstructured task, so that a cancelled caller does not cancel the fetch for the others.
    private func start(_ key: Key, _ source: Source, _ entry: inout Entry, _ need: Need, onDemand: Bool) -> Fetch {
        let generation = (entry.fetched?.generation ?? 0) + 1
        if need == .ownResponse {
            entry.looksInRow = isWithin(CacheTimes.minute, of: entry.lookedAt) ? entry.looksInRow + 1 : 1
            entry.lookedAt = now()
        }
        let task = Fetch { [self] in
            let result: Result<Fetched, OpenIDError>
            do throws(OpenIDError) {
                result = .success(Fetched(value: try await fetch(key), generation: generation))
            } catch {
                result = .failure(error)
            }
            let time = now()
            withEntry(key, source) { entry in
                entry.fetch = nil
                switch result {
                case .success(let fetched):
                    entry.fetched = fetched
                    entry.fetchedAt = time
                    entry.failure = nil
                    if onDemand, need == .request {
                        entry.isFetchedAgain = isWithin(onDemandInterval, of: entry.fetchedOnDemandAt)
                        if !entry.isFetchedAgain { entry.fetchedOnDemandAt = time }
                    }
                case .failure(let error):
                    entry.failure = (error, time)
                }
            }
            return result
        }
        entry.fetch = task
        return task
    }

    /// Returns the error of the last fetch while it is too recent to try again.
    private func pause(_ entry: Entry, _ need: Need) -> OpenIDError? {
        guard let failure = entry.failure else { return nil }
        let asked = failure.error.retryAfter.map { TimeInterval($0.components.seconds) } ?? 0
        let usual = need == .request ? CacheTimes.afterFailure : 0
        let isPaused = isWithin(min(max(asked, usual), CacheTimes.afterFailureAtMost), of: failure.at)
        return isPaused || need == .ownResponse && !mayLook(entry) ? failure.error : nil
    }

    /// Whether a value may be fetched on demand of a request: once per interval, and once more soon after that, because a key
    /// that signs already may be published a little later.
    private func mayFetchOnDemand(_ entry: Entry) -> Bool {
        let pause = entry.isFetchedAgain ? onDemandInterval : min(onDemandInterval, CacheTimes.again)
        return !isWithin(pause, of: entry.fetchedOnDemandAt)
    }

    /// Whether a value may be fetched for a response of the provider's own.
    private func mayLook(_ entry: Entry) -> Bool {
        !isWithin(CacheTimes.pause(afterLooks: entry.looksInRow), of: entry.lookedAt)
    }

    /// Whether a time is recent. A time in the future is never recent: a clock that was set back makes old times look
    /// new.
    private func isWithin(_ age: TimeInterval, of time: Date?) -> Bool {
        guard let time else { return false }
        return (0..<age).contains(now().timeIntervalSince(time))
    }

    /// Whether an entry for the key may be added, if there is none.
    private func mayEnter(_ key: Key, from source: Source) -> Bool {
        guard case .request(let requester) = source else { return true }
        let now = now()
        return state.withLock { state in
            if state.named.value(for: key, now: now) != nil || state.requested.value(for: key, now: now) != nil {
                return true
            }
            // The narrower limit comes first: a name that it refuses does not count against other requesters.
            var own = state.newcomersOfOne.value(for: requester, now: now) ?? Window()
            let earlier = own.add(most: bounds.newcomersOfOne, now: now)
            state.newcomersOfOne.set(own, for: requester, until: now.addingTimeInterval(CacheTimes.newcomers), now: now)
            guard let earlier else { return false }
            let most = earlier == 0 ? bounds.newcomers : min(bounds.newcomers, bounds.furtherNewcomers)
            return state.newcomers.add(most: most, now: now) != nil
        }
    }

    private func withEntry<Result: Sendable>(
        _ key: Key, _ source: Source, _ body: (inout Entry) -> sending Result
    ) -> Result {
        let now = now()
        let end = now.addingTimeInterval(CacheTimes.stale)
        return state.withLock { state in
            // A key has one entry, whoever names it: of two, one would keep what the provider has withdrawn.
            if case .configuration = source, state.configured[key] == nil {
                let named = state.named.remove(key)
                state.configured[key] = named ?? Entry()
            }
            if state.configured[key] != nil { return body(&state.configured[key, default: Entry()]) }
            let isNamed = state.named.value(for: key, now: now) != nil
            var entry = (isNamed ? state.named.remove(key) : state.requested.remove(key)) ?? Entry()
            let result = body(&entry)
            // The entry that was used last is the last to be removed.
            if !isNamed, case .request = source {
                state.requested.set(entry, for: key, until: end, now: now)
            } else {
                state.named.set(entry, for: key, until: end, now: now)
            }
            return result
        }
    }
}

/// The limits for keys that no operator configured.
struct CacheBounds {
    /// The number of keys that are kept of those that accounts and sealed sign-ins name.
    var named = 1000
    /// The number of keys that are kept of those that requests name.
    var requested = 100
    /// The number of new keys of all requests per minute.
    var newcomers = 600
    /// The number of those up to which a requester may name more than one.
    var furtherNewcomers = 60
    /// The number of new keys of one requester per minute.
    var newcomersOfOne = 10
    /// The number of requesters that are counted.
    var requesters = 10_000
}

/// The times for which values are used, in seconds: the platform recommends caching metadata and keys for 24 hours.
private enum CacheTimes {
    static let fresh: TimeInterval = 24 * 3600
    static let stale: TimeInterval = 7 * 24 * 3600
    static let newcomers: TimeInterval = 60
    static let minute: TimeInterval = 60
    /// The pause after a failure, unless `Retry-After` asks for a longer one, within limits.
    static let afterFailure: TimeInterval = 10
    static let afterFailureAtMost: TimeInterval = 300
    /// The time after which a value that a request has demanded is fetched once more.
    static let again: TimeInterval = 10

    /// The pause after a number of fetches in a row for responses of the provider's own, whoever has them: 1, 2, 4, 8, 16, and
    /// then 30 seconds. A key that signs already is published soon, and people wait for it. After a minute without a fetch,
    /// the pauses begin anew, so that there are never more than six a minute.
    static func pause(afterLooks looks: Int) -> TimeInterval {
        switch looks {
        case ..<2: 1
        case 2...5: TimeInterval(1 << (looks - 1))
        default: 30
        }
    }
}
