import Expiring
import FoundationEssentials
import Synchronization

/// Values that are fetched from the provider. All callers that wait share one fetch, and a value is kept for a day.
/// Requests are limited, both after a failure and on demand. While the provider is out of order, the last value is
/// still served.
///
/// Configured keys are kept. Keys that a request named are limited, both in the number kept and in the number of new
/// ones fetched per minute, because anyone can make up names.
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
        var fetchedOnDemandAt: Date?
        var failure: (error: OpenIDError, at: Date)?
        var fetch: Fetch?
    }

    private enum Step {
        case use(Fetched)
        case wait(Fetch, stale: Fetched?)
        case paused(OpenIDError, stale: Fetched?)
    }

    private struct State {
        var configured: [Key: Entry] = [:]
        var others: ExpiringMap<Key, Entry>
        /// New unconfigured keys, and the time since when they are counted.
        var newcomers = 0
        var newcomersSince = Date.distantPast
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
        state = Mutex(State(others: ExpiringMap(maxCount: bounds.others)))
        self.now = now
        self.fetch = fetch
    }

    /// Returns the value, and fetches it when there is none or when it is a day old.
    ///
    /// - Parameter isConfigured: whether an operator configured the key.
    func value(for key: Key, isConfigured: Bool) async throws(OpenIDError) -> Fetched {
        guard isConfigured || mayEnter(key) else {
            throw OpenIDError(.throttled, "Too many unknown tenants were asked for: try again in a minute.")
        }
        let step = withEntry(key, isConfigured) { entry in
            if let fetched = entry.fetched, isWithin(CacheTimes.fresh, of: entry.fetchedAt) { return Step.use(fetched) }
            let stale = isWithin(CacheTimes.stale, of: entry.fetchedAt) ? entry.fetched : nil
            if let fetch = entry.fetch { return .wait(fetch, stale: stale) }
            if let error = pause(after: entry.failure) { return .paused(error, stale: stale) }
            return .wait(start(key, isConfigured, &entry, onDemand: false), stale: stale)
        }
        return try await finish(step)
    }

    /// Returns a value fetched after `generation`; nil when the last attempt was too recent to try again.
    func value(for key: Key, isConfigured: Bool, after generation: Int) async throws(OpenIDError) -> Fetched? {
        let step: Step? = withEntry(key, isConfigured) { entry in
            if let fetched = entry.fetched, fetched.generation > generation { return .use(fetched) }
            if let fetch = entry.fetch { return .wait(fetch, stale: nil) }
            if let error = pause(after: entry.failure) { return .paused(error, stale: nil) }
            if isWithin(onDemandInterval, of: entry.fetchedOnDemandAt) { return nil }
            return .wait(start(key, isConfigured, &entry, onDemand: true), stale: nil)
        }
        guard let step else { return nil }
        return try await finish(step)
    }

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
    private func start(_ key: Key, _ isConfigured: Bool, _ entry: inout Entry, onDemand: Bool) -> Fetch {
        let generation = (entry.fetched?.generation ?? 0) + 1
        let task = Fetch { [self] in
            let result: Result<Fetched, OpenIDError>
            do throws(OpenIDError) {
                result = .success(Fetched(value: try await fetch(key), generation: generation))
            } catch {
                result = .failure(error)
            }
            let time = now()
            withEntry(key, isConfigured) { entry in
                entry.fetch = nil
                switch result {
                case .success(let fetched):
                    entry.fetched = fetched
                    entry.fetchedAt = time
                    entry.failure = nil
                    if onDemand { entry.fetchedOnDemandAt = time }
                case .failure(let error):
                    entry.failure = (error, time)
                }
            }
            return result
        }
        entry.fetch = task
        return task
    }

    private func pause(after failure: (error: OpenIDError, at: Date)?) -> OpenIDError? {
        guard let failure else { return nil }
        let asked = failure.error.retryAfter.map { TimeInterval($0.components.seconds) } ?? 0
        let pause = min(max(asked, CacheTimes.afterFailure), CacheTimes.afterFailureAtMost)
        return isWithin(pause, of: failure.at) ? failure.error : nil
    }

    /// Whether a time is recent. A time in the future is never recent: a clock that was set back makes old times look
    /// new.
    private func isWithin(_ age: TimeInterval, of time: Date?) -> Bool {
        guard let time else { return false }
        return (0..<age).contains(now().timeIntervalSince(time))
    }

    /// Whether an entry for an unconfigured key may be added, if there is none.
    private func mayEnter(_ key: Key) -> Bool {
        let now = now()
        return state.withLock { state in
            if state.others.value(for: key, now: now) != nil { return true }
            if !(0..<CacheTimes.newcomers).contains(now.timeIntervalSince(state.newcomersSince)) {
                state.newcomersSince = now
                state.newcomers = 0
            }
            state.newcomers += 1
            return state.newcomers <= bounds.newcomers
        }
    }

    private func withEntry<Result: Sendable>(
        _ key: Key, _ isConfigured: Bool, _ body: (inout Entry) -> sending Result
    ) -> Result {
        let now = now()
        return state.withLock { state in
            guard !isConfigured else { return body(&state.configured[key, default: Entry()]) }
            var entry = state.others.value(for: key, now: now) ?? Entry()
            let result = body(&entry)
            // The entry that was used last is the last to be removed.
            state.others.set(entry, for: key, until: now.addingTimeInterval(CacheTimes.stale), now: now)
            return result
        }
    }
}

/// The limits for keys that no operator configured.
struct CacheBounds {
    let others: Int
    /// The number of new keys per minute.
    let newcomers: Int
}

/// The times for which values are used, in seconds: the platform recommends caching metadata and keys for 24 hours.
private enum CacheTimes {
    static let fresh: TimeInterval = 24 * 3600
    static let stale: TimeInterval = 7 * 24 * 3600
    static let newcomers: TimeInterval = 60
    /// The pause after a failure, unless `Retry-After` asks for a longer one, within limits.
    static let afterFailure: TimeInterval = 10
    static let afterFailureAtMost: TimeInterval = 300
}
