import FoundationEssentials
import Synchronization

/// Values that are fetched from the provider: one fetch for all who wait, kept for a day, and no hammering: neither
/// after a failure nor on demand. While the provider is out of order, the last value is served on.
final class FetchCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// A value and which fetch it came from.
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

    private let entries = Mutex<[Key: Entry]>([:])
    private let onDemandInterval: TimeInterval
    private let now: ProviderClock
    private let fetch: @Sendable (Key) async throws(OpenIDError) -> Value

    init(
        onDemandInterval: TimeInterval, now: @escaping ProviderClock,
        fetch: @escaping @Sendable (Key) async throws(OpenIDError) -> Value
    ) {
        self.onDemandInterval = onDemandInterval
        self.now = now
        self.fetch = fetch
    }

    /// The value, fetched when there is none or when it is a day old.
    func value(for key: Key) async throws(OpenIDError) -> Fetched {
        let step = withEntry(key) { entry in
            if let fetched = entry.fetched, isWithin(CacheTimes.fresh, of: entry.fetchedAt) { return Step.use(fetched) }
            let stale = isWithin(CacheTimes.stale, of: entry.fetchedAt) ? entry.fetched : nil
            if let fetch = entry.fetch { return .wait(fetch, stale: stale) }
            if let error = pause(after: entry.failure) { return .paused(error, stale: stale) }
            return .wait(start(key, &entry, onDemand: false), stale: stale)
        }
        return try await finish(step)
    }

    /// A value fetched after `generation`; nil when that was tried too recently to try again.
    func value(for key: Key, after generation: Int) async throws(OpenIDError) -> Fetched? {
        let step: Step? = withEntry(key) { entry in
            if let fetched = entry.fetched, fetched.generation > generation { return .use(fetched) }
            if let fetch = entry.fetch { return .wait(fetch, stale: nil) }
            if let error = pause(after: entry.failure) { return .paused(error, stale: nil) }
            if isWithin(onDemandInterval, of: entry.fetchedOnDemandAt) { return nil }
            return .wait(start(key, &entry, onDemand: true), stale: nil)
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
        // A wrong answer is no reason to go on with an old one; no answer is.
        guard let stale, failure.isTransient else { throw failure }
        return stale
    }

    /// An unstructured task, so that a waiter who is cancelled does not take the fetch away from the others.
    private func start(_ key: Key, _ entry: inout Entry, onDemand: Bool) -> Fetch {
        let generation = (entry.fetched?.generation ?? 0) + 1
        let task = Fetch { [self] in
            let result: Result<Fetched, OpenIDError>
            do throws(OpenIDError) {
                result = .success(Fetched(value: try await fetch(key), generation: generation))
            } catch {
                result = .failure(error)
            }
            let time = now()
            withEntry(key) { entry in
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

    /// A clock that was set back makes old things look new: a time in the future is never recent.
    private func isWithin(_ age: TimeInterval, of time: Date?) -> Bool {
        guard let time else { return false }
        return (0..<age).contains(now().timeIntervalSince(time))
    }

    private func withEntry<Result: Sendable>(_ key: Key, _ body: (inout Entry) -> sending Result) -> Result {
        entries.withLock { entries in body(&entries[key, default: Entry()]) }
    }
}

/// How long what is known is used, in seconds (facts: metadata and keys are cached for 24 hours).
private enum CacheTimes {
    static let fresh: TimeInterval = 24 * 3600
    static let stale: TimeInterval = 7 * 24 * 3600
    /// Nothing is fetched for so long after a failure, or for as long as `Retry-After` asks, within reason.
    static let afterFailure: TimeInterval = 10
    static let afterFailureAtMost: TimeInterval = 300
}
