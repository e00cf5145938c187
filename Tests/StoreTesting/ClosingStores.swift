import SessionStore
import Synchronization
package import Testing

/// Closes the stores that a test opens with ``StoreFixture``, whether it passes or throws, and waits for that: one that
/// stays open keeps its tasks and its files.
package struct ClosingStores: SuiteTrait, TestTrait, TestScoping {
    /// The stores that this test has opened, each with its place, which must outlive it.
    final class Opened: Sendable {
        private let stores = Mutex<[(store: SessionStore, place: StoreFixture)]>([])
        func add(_ store: SessionStore, in place: StoreFixture) { stores.withLock { $0.append((store, place)) } }
        func close() async { for (store, _) in stores.withLock({ $0 }) { await store.close() } }
    }

    @TaskLocal static var opened: Opened?

    package let isRecursive = true

    package init() {}

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let opened = Opened()
        let result: Result<Void, any Error>
        do {
            result = .success(try await Self.$opened.withValue(opened) { try await function() })
        } catch {
            result = .failure(error)
        }
        await opened.close()
        try result.get()
    }
}

extension Trait where Self == ClosingStores {
    package static var closesStores: Self { ClosingStores() }
}
