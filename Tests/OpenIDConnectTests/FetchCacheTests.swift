import Foundation
import Synchronization
import Testing

@testable import OpenIDConnect

/// Values that are fetched by name, where anyone can invent names.
@Suite struct FetchCacheTests {
    private final class Source: Sendable {
        let fetched = Mutex<[Int]>([])
        let time = Mutex(testTime)
        let fails = Mutex(false)

        func advance(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }

        func cache(others: Int = 100) -> FetchCache<Int, Int> {
            let bounds = CacheBounds(others: others, newcomers: 60)
            return FetchCache(onDemandInterval: 0, bounds: bounds, now: { self.time.withLock { $0 } }) {
                key throws(OpenIDError) in
                self.fetched.withLock { $0.append(key) }
                if self.fails.withLock({ $0 }) { throw OpenIDError(.invalidMetadata, "none") }
                return key
            }
        }
    }

    @Test func `configured values stay, however many there are and however often others are asked for`() async throws {
        let source = Source()
        let cache = source.cache(others: 2)
        for _ in 0..<2 {
            for key in 0..<200 { _ = try await cache.value(for: key, isConfigured: true) }
            for key in 300..<320 { _ = try await cache.value(for: key, isConfigured: false) }
        }
        #expect(source.fetched.withLock { $0.count { $0 < 200 } } == 200)
    }

    @Test func `the hundred other values that were used last are kept`() async throws {
        let source = Source()
        let cache = source.cache()
        for key in 0..<100 {
            if key % 50 == 0 { source.advance(60) }
            _ = try await cache.value(for: key, isConfigured: false)
        }
        source.advance(60)
        _ = try await cache.value(for: 0, isConfigured: false)
        _ = try await cache.value(for: 100, isConfigured: false)
        #expect(source.fetched.withLock { $0 } == Array(0...100))
        for key in [0, 2, 99, 100] { _ = try await cache.value(for: key, isConfigured: false) }
        #expect(source.fetched.withLock { $0.count } == 101, "all four were there")
        _ = try await cache.value(for: 1, isConfigured: false)
        #expect(source.fetched.withLock { $0.last } == 1, "the one that was used longest ago had gone")
    }

    @Test func `sixty new values are fetched in a minute, and the known ones are served meanwhile`() async throws {
        let source = Source()
        let cache = source.cache()
        for key in 0..<60 { _ = try await cache.value(for: key, isConfigured: false) }
        source.advance(59)
        await #expect(
            throws: OpenIDError(.throttled, "Too many unknown tenants were asked for: try again in a minute.")
        ) {
            _ = try await cache.value(for: 60, isConfigured: false)
        }
        #expect(try await cache.value(for: 0, isConfigured: false).value == 0)
        #expect(try await cache.value(for: 1_000, isConfigured: true).value == 1_000)
        source.advance(1)
        #expect(try await cache.value(for: 60, isConfigured: false).value == 60)
        #expect(source.fetched.withLock { $0 } == Array(0..<60) + [1_000, 60])
    }

    @Test func `a failure is remembered for ten seconds, even of a value that is not configured`() async throws {
        let source = Source()
        let cache = source.cache()
        source.fails.withLock { $0 = true }
        for _ in 0..<3 {
            await #expect(throws: OpenIDError(.invalidMetadata, "none")) {
                _ = try await cache.value(for: 1, isConfigured: false)
            }
        }
        #expect(source.fetched.withLock { $0 } == [1])
        source.advance(10)
        source.fails.withLock { $0 = false }
        #expect(try await cache.value(for: 1, isConfigured: false).value == 1)
    }

    @Test func `a directory knows its configured authorities from others`() async throws {
        let provider = try TestProvider()
        let directory = provider.directory(configured: [provider.authority])
        func code(_ authority: Authority) async -> OpenIDError.Code? {
            await openIDError { () async throws(OpenIDError) in try await directory.metadata(for: authority) }?.code
        }
        for number in 0..<60 {
            #expect(await code(try provider.authority.withTenant("t\(number).example")) == .invalidMetadata)
        }
        #expect(await code(try provider.authority.withTenant("t60.example")) == .throttled)
        #expect(await code(provider.authority) == nil)
    }

    @Test func `a directory's bounds on others are its owner's`() async throws {
        let provider = try TestProvider()
        let directory = ProviderDirectory(
            configured: [], maxNewcomers: 1, transport: { try await provider.answer($0) }, now: provider.now)
        _ = try await directory.metadata(for: provider.authority)
        let second = try provider.authority.withTenant("second.example")
        let error = await openIDError { () async throws(OpenIDError) in try await directory.metadata(for: second) }
        #expect(error?.code == .throttled)
    }
}
