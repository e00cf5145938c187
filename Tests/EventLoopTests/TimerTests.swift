import Foundation
import Synchronization
import TestSupport
import Testing

@testable import EventLoop

@Suite(.timeLimit(.minutes(5))) struct TimerTests {
    @Test(
        arguments: [Duration.zero, .microseconds(100), .milliseconds(1), .milliseconds(30)])
    func `a timer does not fire before its time, whether the worker lingers or is parked in Dispatch`(delay: Duration)
        async throws
    {
        try await withWorkers { group in
            let waited: Duration = await group.workers[0].run { worker, finish in
                let start = worker.now
                _ = worker.addTimer(after: delay) { finish(worker.now - start) }
            }
            #expect(waited >= delay && waited < delay + .seconds(5))
        }
    }

    @Test func `timers fire by deadline, then in the order they were added, and cancelled ones never fire`()
        async throws
    {
        try await withWorkers { group in
            let fired: [String] = await group.workers[0].run { worker, finish in
                let record = Record<String>()
                func add(_ name: String, _ milliseconds: Int) -> TimerID {
                    worker.addTimer(after: .milliseconds(milliseconds)) { record.append(name) }
                }
                _ = add("third", 3)
                _ = add("first", 1)
                _ = add("second", 2)
                _ = add("second too", 2)
                let cancelled = add("cancelled", 1)
                let latest = add("fourth", 4)
                #expect(worker.cancelTimer(cancelled))
                #expect(!worker.cancelTimer(cancelled))
                _ = worker.addTimer(after: .milliseconds(6)) {
                    #expect(!worker.cancelTimer(latest))
                    #expect(worker.timers.count == 0)
                    finish(record.entries)
                }
            }
            #expect(fired == ["first", "second", "second too", "third", "fourth"])
        }
    }

    @Test func `a timer may cancel another that is due at the same moment`() async throws {
        try await withWorkers { group in
            let fired: [String] = await group.workers[0].run { worker, finish in
                let record = Record<String>()
                var second: TimerID?
                _ = worker.addTimer(after: .zero) {
                    record.append("first")
                    second.map { _ = worker.cancelTimer($0) }
                }
                second = worker.addTimer(after: .zero) { record.append("second") }
                _ = worker.addTimer(after: .zero) { finish(record.entries) }
            }
            #expect(fired == ["first"])
        }
    }

    @Test func `a timer of zero that adds itself again does not keep other work out`() async throws {
        try await withWorkers { group in
            let worker = group.workers[0]
            let ticks = Record<Void>()
            let goOn = Mutex(true)
            await worker.perform { worker in
                func tick() {
                    ticks.append(())
                    if goOn.withLock({ $0 }) { _ = worker.addTimer(after: .zero) { tick() } }
                }
                tick()
            }
            let start = ticks.entries.count
            let hasRun = await comesToAnEnd { for _ in 0..<50 { await worker.perform { _ in } } }
            goOn.withLock { $0 = false }
            #expect(hasRun)
            #expect(ticks.entries.count > start)
        }
    }

    @Test func `a cancelled timer's closure is released at once`() async throws {
        try await withWorkers { group in
            let released = await group.workers[0].perform { worker -> Bool in
                var object: Handler? = Handler { _, _ in }
                weak let seen = object
                let id = worker.addTimer(after: .seconds(60)) { [object] in _ = object }
                object = nil
                let before = seen != nil
                worker.cancelTimer(id)
                return before && seen == nil
            }
            #expect(released)
        }
    }

    @Test func `20,000 timers fire, except for the half that is cancelled`() async throws {
        try await withWorkers { group in
            let fired: Int = await group.workers[0].run { worker, finish in
                var fired = 0
                var random = SeededGenerator(seed: 5)
                let ids = (0..<20_000).map { _ in
                    worker.addTimer(after: .microseconds(.random(in: 0...90_000, using: &random))) { fired += 1 }
                }
                for (place, id) in ids.enumerated() where place % 2 == 0 { worker.cancelTimer(id) }
                // Due after all of them.
                _ = worker.addTimer(after: .microseconds(90_001)) { finish(fired) }
            }
            #expect(fired == 10_000)
        }
    }

    @Test(
        arguments: 1...20)
    func `the heap agrees with a sorted list over seeded additions, cancellations and passing time`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var heap = TimerHeap()
        var model: [(id: TimerID, deadline: UInt64, name: Int)] = []
        var gone: [TimerID] = []
        var now: UInt64 = 0
        var fired: [Int] = []
        for name in 0..<2000 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<5:
                let deadline = now + .random(in: 0..<500, using: &random)
                let id = heap.add(at: MonotonicTime(nanoseconds: deadline)) { fired.append(name) }
                model.append((id, deadline, name))
            case 5..<7:
                guard let place = model.indices.randomElement(using: &random) else { continue }
                let cancelled = heap.cancel(model[place].id)
                #expect(cancelled)
                gone.append(model.remove(at: place).id)
            default:
                now += .random(in: 0..<100, using: &random)
                fired = []
                while let fire = heap.popDue(at: MonotonicTime(nanoseconds: now), addedBefore: .max) { fire() }
                let due = model.filter { $0.deadline <= now }
                #expect(fired.sorted() == due.map(\.name).sorted())
                let deadlines = fired.compactMap { name in due.first { $0.name == name }?.deadline }
                #expect(deadlines == deadlines.sorted())
                gone += due.map(\.id)
                model.removeAll { $0.deadline <= now }
            }
            #expect(heap.count == model.count)
            #expect(heap.earliest?.nanoseconds == model.map(\.deadline).min())
            for id in gone.suffix(3) {
                let cancelled = heap.cancel(id)
                #expect(!cancelled)
            }
        }
    }

    @Test(
        arguments: [
            (MonotonicTime(nanoseconds: .max), Duration.seconds(1), UInt64.max),
            (MonotonicTime(nanoseconds: 5), .seconds(-1), 0),
            (MonotonicTime(nanoseconds: 5), .seconds(Int64.max), UInt64(Int64.max) + 5),
            (MonotonicTime(nanoseconds: 5), .nanoseconds(7), 12),
        ])
    func `times saturate instead of overflowing`(time: MonotonicTime, delay: Duration, sum: UInt64) {
        #expect((time + delay).nanoseconds == sum)
    }
}
