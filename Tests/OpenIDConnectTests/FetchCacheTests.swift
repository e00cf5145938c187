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

        func cache(_ bounds: CacheBounds = CacheBounds()) -> FetchCache<Int, Int> {
            FetchCache(onDemandInterval: 0, bounds: bounds, now: { self.time.withLock { $0 } }) {
                key throws(OpenIDError) in
                self.fetched.withLock { $0.append(key) }
                if self.fails.withLock({ $0 }) { throw OpenIDError(.invalidMetadata, "none") }
                return key
            }
        }
    }

    @Test func `configured values stay, however many there are and however often others are asked for`() async throws {
        let source = Source()
        let cache = source.cache(CacheBounds(requested: 2))
        for _ in 0..<2 {
            for key in 0..<200 { _ = try await cache.value(for: key, from: .configuration) }
            for key in 300..<320 { _ = try await cache.value(for: key, from: .request(requester: "\(key)")) }
        }
        #expect(source.fetched.withLock { $0.count { $0 < 200 } } == 200)
    }

    @Test func `the hundred other values that were used last are kept`() async throws {
        let source = Source()
        let cache = source.cache()
        for key in 0..<100 {
            if key % 50 == 0 { source.advance(60) }
            _ = try await cache.value(for: key, from: .request(requester: "\(key)"))
        }
        source.advance(60)
        _ = try await cache.value(for: 0, from: .request(requester: "0"))
        _ = try await cache.value(for: 100, from: .request(requester: "100"))
        #expect(source.fetched.withLock { $0 } == Array(0...100))
        for key in [0, 2, 99, 100] { _ = try await cache.value(for: key, from: .request(requester: "\(key)")) }
        #expect(source.fetched.withLock { $0.count } == 101, "all four were there")
        _ = try await cache.value(for: 1, from: .request(requester: "1"))
        #expect(source.fetched.withLock { $0.last } == 1, "the one that was used longest ago had gone")
    }

    @Test func `sixty new values are fetched in a minute, and the known ones are served meanwhile`() async throws {
        let source = Source()
        let cache = source.cache()
        for key in 0..<60 { _ = try await cache.value(for: key, from: .request(requester: "\(key / 6)")) }
        source.advance(59)
        let refusal = await openIDError { () async throws(OpenIDError) in
            try await cache.value(for: 60, from: .request(requester: "0"))
        }
        #expect(refusal?.code == .throttled && refusal?.retryAfter == .seconds(60))
        #expect(try await cache.value(for: 0, from: .request(requester: "0")).value == 0)
        #expect(try await cache.value(for: 1_000, from: .configuration).value == 1_000)
        source.advance(1)
        #expect(try await cache.value(for: 60, from: .request(requester: "0")).value == 60)
        #expect(source.fetched.withLock { $0 } == Array(0..<60) + [1_000, 60])
    }

    @Test func `the first name of a requester is fetched while others make up names, up to six hundred`() async throws {
        let source = Source()
        let cache = source.cache()
        func isServed(_ key: Int, _ requester: String) async -> Bool {
            (try? await cache.value(for: key, from: .request(requester: requester))) != nil
        }
        for key in 0..<70 { #expect(await isServed(key, "stranger \(key % 7)") == (key < 60), "\(key)") }
        for key in 1_000..<1_540 { #expect(await isServed(key, "member \(key)"), "\(key)") }
        #expect(await !isServed(2_000, "member 1000"), "a second name")
        #expect(await !isServed(2_001, "another"), "the limit of all together")
    }

    @Test func `a failure is remembered for ten seconds, even of a value that is not configured`() async throws {
        let source = Source()
        let cache = source.cache()
        source.fails.withLock { $0 = true }
        for _ in 0..<3 {
            await #expect(throws: OpenIDError(.invalidMetadata, "none")) {
                _ = try await cache.value(for: 1, from: .request(requester: "1"))
            }
        }
        #expect(source.fetched.withLock { $0 } == [1])
        source.advance(10)
        source.fails.withLock { $0 = false }
        #expect(try await cache.value(for: 1, from: .request(requester: "1")).value == 1)
    }

    @Test func `one requester's unknown names are ten a minute, and others have their own`() async throws {
        let source = Source()
        let cache = source.cache(CacheBounds(newcomers: 16, furtherNewcomers: 15))
        func isServed(_ key: Int, _ requester: String) async -> Bool {
            (try? await cache.value(for: key, from: .request(requester: requester))) != nil
        }
        for key in 0..<10 { #expect(await isServed(key, "stranger")) }
        for key in 10..<40 { #expect(await !isServed(key, "stranger")) }
        #expect(await isServed(0, "stranger"), "a known name")
        for key in 40..<45 { #expect(await isServed(key, "another")) }
        #expect(await !isServed(45, "another"), "the limit of all together")
        #expect(await isServed(45, "a third"), "its first name")
        source.advance(60)
        #expect(await isServed(10, "stranger"))
        #expect(await isServed(46, "another"))
        source.advance(-3600)
        #expect(await isServed(11, "stranger"), "the clock was set back")
    }

    @Test func `names of accounts are neither evicted nor delayed by those of requests`() async throws {
        let source = Source()
        let cache = source.cache(CacheBounds(requested: 5))
        _ = try await cache.value(for: 1, from: .request(requester: "member"))
        // A request has named it first, and then an account does.
        for key in [1, 2, 3] { _ = try await cache.value(for: key, from: .server) }
        for key in 100..<200 { _ = try? await cache.value(for: key, from: .request(requester: "\(key)")) }
        for key in [1, 2, 3] {
            _ = try await cache.value(for: key, from: .server)
            _ = try await cache.value(for: key, from: .request(requester: "100"))
        }
        #expect(source.fetched.withLock { $0.count { $0 < 100 } } == 3)
        _ = try await cache.value(for: 4, from: .server)
    }

    @Test func `a directory knows its configured authorities from others`() async throws {
        let provider = try TestProvider()
        let directory = provider.directory(configured: [provider.authority])
        func code(_ authority: Authority) async -> OpenIDError.Code? {
            await openIDError { () async throws(OpenIDError) in
                try await directory.metadata(for: authority, requester: "somebody")
            }?.code
        }
        for number in 0..<10 {
            #expect(await code(try provider.authority.withTenant("t\(number).example")) == .invalidMetadata)
        }
        #expect(await code(try provider.authority.withTenant("t10.example")) == .throttled)
        #expect(await code(provider.authority) == nil)
    }

    @Test func `a directory's bounds on others are its owner's`() async throws {
        let provider = try TestProvider()
        let directory = ProviderDirectory(
            configured: [], maxNewcomers: 1, transport: { try await provider.answer($0) }, now: provider.now)
        _ = try await directory.metadata(for: provider.authority, requester: "one")
        let second = try provider.authority.withTenant("second.example")
        let error = await openIDError { () async throws(OpenIDError) in
            try await directory.metadata(for: second, requester: "two")
        }
        #expect(error?.code == .throttled)
    }
}
