import Foundation
import Synchronization
import TestSupport
import Testing

@testable import EventLoop

@Suite(.timeLimit(.minutes(5))) struct ShutdownTests {
    @Test func `shutdown ends with timers pending and descriptors ready, releases them, and can be repeated`()
        async throws
    {
        let group = try WorkerGroup(count: 2)
        let pair = try SocketPair()
        let fired = Mutex(0)
        let token = Token()
        await group.workers[0].perform { [token] worker in
            _ = worker.addTimer(after: .seconds(60)) { _ = token }
            _ = try? worker.watch(pair.near, for: .write, Handler { _, _ in fired.withLock { $0 += 1 } })
        }
        let hasFired = await eventually { fired.withLock({ $0 }) > 0 }
        try #require(hasFired)
        try #require(await comesToAnEnd { await group.shutdown() }, "shutdown")
        try #require(await comesToAnEnd { await group.shutdown() }, "shutdown once more")
        let last = fired.withLock { $0 }
        await group.workers[0].perform { worker in
            #expect(worker.watches.count == 0)
            #expect(worker.timers.count == 0)
        }
        #expect(fired.withLock { $0 } == last)
        pair.close()
    }

    @Test func `after shutdown work and tasks still run, watching is an error, and timers are dropped`() async throws {
        let group = try WorkerGroup(count: 1)
        let worker = group.workers[0]
        try #require(await comesToAnEnd { await group.shutdown() })
        let current = Record<Bool>()
        let ran = await comesToAnEnd {
            current.append(await worker.perform { $0.isCurrent })
            current.append(await Task(executorPreference: worker) { worker.isCurrent }.value)
        }
        try #require(ran, "work and tasks run")
        #expect(current.entries == [true, true])
        let failure = await worker.perform { worker -> EventLoopError? in
            _ = worker.addTimer(after: .zero) {}
            #expect(worker.timers.count == 0)
            do throws(EventLoopError) {
                _ = try worker.watch(0, for: .read, Handler { _, _ in })
                return nil
            } catch {
                return error
            }
        }
        #expect(failure == .shutDown)
    }

    @Test func `a task that never stops yielding does not keep the worker from ending`() async throws {
        let group = try WorkerGroup(count: 1)
        let task = Task(executorPreference: group.workers[0]) {
            while !Task.isCancelled { await Task.yield() }
        }
        let hasEnded = await comesToAnEnd { await group.shutdown() }
        task.cancel()
        try #require(hasEnded)
        #expect(await comesToAnEnd { await task.value })
    }

    @Test func `a task on the worker may shut its group down`() async throws {
        let group = try WorkerGroup(count: 2)
        let there = Record<Bool>()
        let hasEnded = await comesToAnEnd {
            await Task(executorPreference: group.workers[1]) {
                await group.shutdown()
                there.append(group.workers[1].isCurrent)
            }.value
        }
        #expect(hasEnded)
        #expect(there.entries == [true])
    }

    @Test func `everything that threads submit while the worker ends runs`() async throws {
        for _ in 0..<20 {
            let group = try WorkerGroup(count: 1)
            let worker = group.workers[0]
            let ran = Record<Void>()
            let hasEnded = await comesToAnEnd {
                await withTaskGroup(of: Void.self) { tasks in
                    for _ in 0..<4 {
                        tasks.addTask { for _ in 0..<500 { worker.submit { ran.append(()) } } }
                    }
                    tasks.addTask { await group.shutdown() }
                }
                await worker.perform { _ in }
            }
            try #require(hasEnded)
            #expect(await eventually { ran.entries.count >= 2000 })
            #expect(ran.entries.count == 2000)
        }
    }

    @Test func `200 groups leave no descriptor and no worker behind`() async {
        await #expect(processExitsWith: .success) {
            // After the first round, when Dispatch has its own.
            var first = 0
            for round in 0..<200 {
                weak var remaining: Worker?
                do {
                    let group = try WorkerGroup(count: 2)
                    remaining = group.workers[1]
                    await group.workers[0].perform { _ in }
                    await group.shutdown()
                }
                // The last reference goes when Dispatch has let go of the cancelled source.
                let end = ContinuousClock.now + .seconds(10)
                while remaining != nil, ContinuousClock.now < end { await Task.yield() }
                #expect(remaining == nil)
                if round == 0 { first = openDescriptors() }
            }
            #expect(openDescriptors() <= first + 3)
        }
    }
}

private final class Token: Sendable {}
