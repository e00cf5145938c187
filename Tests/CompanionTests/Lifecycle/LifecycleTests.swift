import Foundation
import OpenIDConnect
import StoreTesting
import TestSupport
import Testing

@testable import Companion

/// Random schedules of all that happens to sign-ins and refreshes, against ``LifecycleModel``'s laws: at one companion, and at
/// two with the same sessions, each request at the other one.
///
/// `LIFECYCLE_SCHEDULES` says how many (300; 100 with the store in memory, 60 in PostgreSQL, 40 at two), `LIFECYCLE_SEED`
/// with which seed to begin (1): a schedule that failed names its own.
@Suite(.serialized) struct LifecycleTests {
    /// A site's past (its log, the tenant's codes) should not slow down later schedules.
    private static let schedulesPerSite: UInt64 = 250

    /// The time that callers wait for a token, in seconds: a provider that answers late must not take a schedule's time,
    /// and a machine that is slow must not be late.
    static let patience = TestSupport.patience / 15

    private static let backends: [(TestedBackend, UInt64)] =
        [(.sqlite, 300), (.memory, 100)] + (PostgresServer.isInstalled ? [(.postgres, 60)] : [])

    private static let clusteredBackends: [(TestedBackend, UInt64)] =
        [(.memory, 40)] + (PostgresServer.isInstalled ? [(.postgres, 40)] : [])

    @Test(arguments: backends)
    func `the laws of sign-in and refresh hold in every order of events`(
        _ backend: TestedBackend, schedules: UInt64
    ) async throws {
        try await run(schedules, in: backend) { site, test in try await test(Visitor(site)) }
    }

    @Test(arguments: clusteredBackends)
    func `the laws hold at two companions at once`(_ backend: TestedBackend, schedules: UInt64) async throws {
        try await run(schedules, in: backend, atTwo: true) { site, test in
            try await site.beside { second in try await test(Visitor(site, and: second)) }
        }
    }

    private func run(
        _ schedules: UInt64, in backend: TestedBackend, atTwo: Bool = false,
        _ browse: (Site, (Visitor) async throws -> Void) async throws -> Void
    ) async throws {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["LIFECYCLE_SEED"].flatMap(UInt64.init) ?? 1
        let end = first + (environment["LIFECYCLE_SCHEDULES"].flatMap(UInt64.init) ?? schedules)
        for start in stride(from: first, to: end, by: Int(Self.schedulesPerSite)) {
            let place = try StoreFixture(backend)
            let contents = backend == .memory ? (atTwo ? MemoryContents(trust: .zero) : place.contents) : nil
            try await Site.run(
                keeping: contents,
                configured: {
                    if var settings = place.postgres {
                        if atTwo { settings.staleness = .zero }
                        $0.database = .postgres(settings)
                    }
                    $0.refreshTimes.caller = .seconds(Self.patience)
                    // A slow machine needs a part of a second for a check that succeeds.
                    $0.refreshTimes.checks = .seconds(1)
                    $0.refreshTimes.whileValid = .seconds(Self.patience)
                    $0.refreshTimes.recheck = .milliseconds(20)
                    // Without cp1, Graph takes a token from before a revocation until it expires.
                    for index in $0.applications.indices {
                        let own = $0.applications[index].registration
                        $0.applications[index].registration = ClientRegistration(
                            clientID: own.clientID, redirectURI: own.redirectURI, scopes: own.scopes,
                            clientCapabilities: [])
                    }
                }
            ) { site in
                let lock = try backend == .sqlite ? StoreLock(site.database) : nil
                defer { lock?.close() }
                try await browse(site) { visitor in
                    var browser = visitor
                    let ids = try await LifecycleDriver.people(in: browser)
                    for seed in start..<min(start + Self.schedulesPerSite, end) {
                        let driver = LifecycleDriver(
                            LifecycleSchedule(seed: seed, isLocking: !atTwo), site, isAtTwo: atTwo, browser: browser,
                            ids: ids
                        ) { isRefused in
                            try place.refuseWrites(isRefused)
                            try isRefused ? lock?.take() : lock?.release()
                        }
                        try await driver.run()
                        browser = driver.visitor
                    }
                }
            }
        }
    }
}
