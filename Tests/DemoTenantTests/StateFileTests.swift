import EventLoop
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("The file of the tenant's state")
struct StateFileTests {
    /// The file on which a descriptor is open.
    private static func path(_ descriptor: Int32) -> String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")) ?? ""
    }

    private static func state(
        _ path: String, sync: @escaping StateFile.Sync
    ) throws -> TenantState {
        try TenantState(
            path: path, randomBytes: { .init(repeating: 1, count: $0) }, makeKeys: { [] }, sync: sync,
            logger: Logger(label: "t"))
    }

    /// A file in a folder that is removed after the test.
    private static func inFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let folder = TemporaryFolder.ofProcess.resolvingSymlinksInPath()
            .appendingPathComponent("state-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { TemporaryFolder.remove(folder) }
        return try await body(folder.appendingPathComponent("tenant.json").path)
    }

    @Test func `each change is synced in a new file before that takes the old one's place, and the folder after`()
        async throws
    {
        try await Self.inFolder { path in
            let synced = Mutex<[String]>([])
            let wholes = Mutex<[Bool]>([])
            let state = try Self.state(path) { descriptor in
                let name = Self.path(descriptor)
                synced.withLock { $0.append(name) }
                let file = name == "\(path).new" ? name : path
                let whole = (try? StateFile.load(file)) ?? nil
                wholes.withLock { $0.append(whole != nil) }
                return fsync(descriptor)
            }
            _ = state.keys
            state.change { $0.lastSecondFactorDemand = 7 }
            await state.isWritten()
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            let names = synced.withLock { $0 }
            #expect(names.count >= 4 && names.count.isMultiple(of: 2))
            for (number, name) in names.enumerated() {
                #expect(name == (number.isMultiple(of: 2) ? "\(path).new" : folder))
            }
            #expect(wholes.withLock { !$0.contains(false) }, "whole when it is synced, and what the folder then names")
            #expect(try StateFile.load(path)?.lastSecondFactorDemand == 7)
        }
    }

    @Test func `a file that cannot be synced replaces no other, and is removed`() async throws {
        try await Self.inFolder { path in
            let isBroken = Mutex(false)
            let state = try Self.state(path) { descriptor in
                errno = EIO
                return isBroken.withLock { $0 } ? -1 : fsync(descriptor)
            }
            _ = state.keys
            isBroken.withLock { $0 = true }
            state.change { $0.lastSecondFactorDemand = 7 }
            await state.isWritten()
            #expect(try StateFile.load(path)?.lastSecondFactorDemand == 1)
            #expect(!FileManager.default.fileExists(atPath: "\(path).new"))
            isBroken.withLock { $0 = false }
            await state.save()
            #expect(try StateFile.load(path)?.lastSecondFactorDemand == 7, "it is written as soon as the disk works")
        }
    }

    @Test func `changes do not wait for the disk, and of those that wait for it the last is written`() async throws {
        try await Self.inFolder { path in
            let disk = Disk()
            let state = try Self.state(path) { disk.sync($0) }
            _ = state.keys
            let before = disk.syncs
            disk.stop()
            state.change { $0.lastSecondFactorDemand = 2 }
            #expect(await disk.isReached())
            for number in 3...9 { state.change { $0.lastSecondFactorDemand = number } }
            #expect(state.read { $0.lastSecondFactorDemand } == 9)
            disk.goOn()
            await state.isWritten()
            #expect(try StateFile.load(path)?.lastSecondFactorDemand == 9)
            // Two files, each with its folder.
            #expect(disk.syncs - before == 4)
        }
    }

    @Test func `an answer waits for what it depends on, and the others do not`() async throws {
        let disk = Disk()
        try await TestTenant.run(configured: { $0.sync = { disk.sync($0) } }) { (tenant) async throws in
            let browser = tenant.browser()
            var page = try await browser.authorize(["login_hint": "adele@contoso.example"])
            page = try await browser.submit(page, "password", "demo")
            #expect(page.shownField == "consent")
            // The first keys are on the disk, and no write but the consent's comes.
            #expect(try await tenant.browser().get("/common/discovery/v2.0/keys").status == 200)
            disk.stop()
            // A tenant whose disk waits for ever does not stop.
            defer { disk.goOn() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                let consent = page
                group.addTask {
                    _ = try await browser.submit(consent, "consent", "accept").callback()
                    disk.noteAnswer()
                }
                #expect(await disk.isReached())
                // There is one worker, which the disk does not hold.
                for _ in 0..<3 {
                    #expect(try await tenant.browser().get("/common/discovery/v2.0/keys").status == 200)
                }
                #expect(!disk.wasAnswered)
                disk.goOn()
                try await group.waitForAll()
            }
            #expect(disk.wasAnswered)
        }
    }
}

/// A disk that can be stopped.
private final class Disk: Sendable {
    private struct State {
        var isStopped = false
        var syncs = 0
        var wasAnswered = false
    }

    private let state = Mutex(State())
    private let gate = DispatchSemaphore(value: 0)

    var syncs: Int { state.withLock { $0.syncs } }
    /// Whether the answer has come that waits for it.
    var wasAnswered: Bool { state.withLock { $0.wasAnswered } }

    func noteAnswer() { state.withLock { $0.wasAnswered = true } }

    /// Lets the next sync wait for ``goOn()``.
    func stop() { state.withLock { $0.isStopped = true } }

    func goOn() { gate.signal() }

    /// Waits until a sync waits.
    func isReached() async -> Bool { await eventually { state.withLock { !$0.isStopped } } }

    func sync(_ descriptor: Int32) -> Int32 {
        let waits = state.withLock { state in
            state.syncs += 1
            defer { state.isStopped = false }
            return state.isStopped
        }
        if waits { gate.holdThread("a sync of the state") }
        return fsync(descriptor)
    }
}
