import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import SessionStore

/// No answer is older than what was answered before.
@Suite(.closesStores) struct CoherenceTests {
    /// Readers and a writer of one session at once: after a write was answered, no read may give what was before it.
    @Test(arguments: TestedBackend.allCases, [16_000_000, 0])
    func `no read after an answered write is stale`(_ backend: TestedBackend, cacheBytes: Int) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open(cacheBytes: cacheBytes)
        let id = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        let written = Shared(0)
        let stale = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                for number in 1...300 {
                    try await store.markNeedsInteraction(
                        AccountKey(session: key, app: "ios", id: "adele.tenant"), reason: "\(number)")
                    written.change { $0 = number }
                }
                return 0
            }
            for _ in 0..<8 {
                group.addTask {
                    var stale = 0
                    while written.value < 300, !Task.isCancelled {
                        let least = written.value
                        let reason = try await store.session(id)?.currentAccount(for: "ios")?.needsInteraction
                        if Int(reason ?? "0") ?? 0 < least { stale += 1 }
                        // A hit does not suspend: the writer needs a thread too.
                        await Task.yield()
                    }
                    return stale
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(stale == 0)
    }

    /// A chain of rotations under fire: an id that was rotated away answers nothing, from the moment of the answer on.
    @Test(arguments: TestedBackend.allCases)
    func `no rotated id is served from the cache`(_ backend: TestedBackend) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let first = try await store.signIn("adele", at: fixture.clock)
        let key = try #require(try await store.session(first)?.key)
        let dead = Shared<[SessionID]>([])
        let isDone = Shared(false)
        let revived = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                var current = first
                for _ in 0..<150 {
                    let next = try await store.removeAccount(
                        AccountKey(session: key, app: "macos", id: "none"), keepAsPrevious: false)
                    dead.change { [current] in $0.append(current) }
                    current = next
                    guard try await store.session(current) != nil else { throw StoreError.noSuchSession }
                }
                isDone.change { $0 = true }
                return 0
            }
            for _ in 0..<4 {
                group.addTask {
                    var revived = 0
                    while !isDone.value, !Task.isCancelled {
                        guard let id = dead.value.randomElement() else {
                            await Task.yield()
                            continue
                        }
                        if store.cachedSession(id).session != nil { revived += 1 }
                        if try await store.session(id) != nil { revived += 1 }
                    }
                    return revived
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(revived == 0)
    }
}
