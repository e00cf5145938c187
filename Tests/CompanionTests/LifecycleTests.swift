import Foundation
import StoreTesting
import Testing

/// Random schedules of all that happens to sign-ins and refreshes, against ``LifecycleModel``'s laws.
///
/// `LIFECYCLE_SCHEDULES` says how many (300; 100 with the store in memory, 60 in PostgreSQL), `LIFECYCLE_SEED` with which seed to begin (1): a
/// schedule that failed names its own.
@Suite(.serialized) struct LifecycleTests {
    /// What a site keeps of its past (its log, the tenant's codes) should not slow down the schedules after it.
    private static let schedulesPerSite: UInt64 = 250

    private static let backends: [(TestedBackend, UInt64)] =
        [(.sqlite, 300), (.memory, 100)] + (PostgresServer.isInstalled ? [(.postgres, 60)] : [])

    @Test(arguments: backends)
    func `whatever happens in whatever order, the laws of sign-in and refresh hold`(
        _ backend: TestedBackend, schedules: UInt64
    ) async throws {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["LIFECYCLE_SEED"].flatMap(UInt64.init) ?? 1
        let end = first + (environment["LIFECYCLE_SCHEDULES"].flatMap(UInt64.init) ?? schedules)
        for start in stride(from: first, to: end, by: Int(Self.schedulesPerSite)) {
            let place = try StoreFixture(backend)
            let contents = backend == .memory ? place.contents : nil
            try await Site.run(keeping: contents, configured: { $0.postgres = place.postgres }) { site in
                var browser = Visitor(site)
                let ids = try await LifecycleDriver.people(in: browser)
                let lock = try backend == .sqlite ? StoreLock(site.database) : nil
                for seed in start..<min(start + Self.schedulesPerSite, end) {
                    let driver = LifecycleDriver(
                        LifecycleSchedule(seed: seed), site, browser: browser, ids: ids
                    ) { isRefused in
                        try place.refuseWrites(isRefused)
                        try isRefused ? lock?.take() : lock?.release()
                    }
                    try await driver.run()
                    browser = driver.visitor
                }
                try lock?.close()
            }
        }
    }
}
