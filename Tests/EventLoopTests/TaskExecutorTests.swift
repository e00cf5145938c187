import Foundation
import Synchronization
import Testing

@testable import EventLoop

@Suite(.timeLimit(.minutes(5))) struct TaskExecutorTests {
    @Test func `a task that prefers a worker is on it after every suspension, and so are its child tasks`() async throws
    {
        try await withWorkers(2) { group in
            let worker = group.workers[0]
            let other = group.workers[1]
            let places = Record<Bool>()
            await Task(executorPreference: worker) {
                places.append(worker.isCurrent)
                await Task.yield()
                places.append(worker.isCurrent)
                await other.perform { _ in places.append(other.isCurrent) }
                places.append(worker.isCurrent)
                await withCheckedContinuation { continuation in
                    Thread.detachNewThread { continuation.resume() }
                }
                places.append(worker.isCurrent)
                async let child: Void = places.append(worker.isCurrent)
                await child
                await withTaskGroup(of: Void.self) { tasks in
                    for _ in 0..<10 { tasks.addTask { places.append(worker.isCurrent) } }
                }
                places.append(worker.isCurrent)
            }.value
            #expect(places.entries == Array(repeating: true, count: 17))
        }
    }

    @Test func `a task started on the worker resumes within its batch, and no other thread wakes it`() async throws {
        try await withWorkers { group in
            let worker = group.workers[0]
            let (before, after): (UInt64, UInt64) = await worker.run { worker, finish in
                let before = worker.wakeups
                Task(executorPreference: worker) {
                    for _ in 0..<1000 { await Task.yield() }
                    finish((before, worker.wakeups))
                }
            }
            #expect(before == after)
        }
    }

    @Test func `10,000 tasks on two workers that wait for each other's worker all end`() async throws {
        try await withWorkers(2) { group in
            let sum = await withTaskGroup(of: Int.self) { tasks in
                for number in 0..<10_000 {
                    let (mine, other) = (group.workers[number % 2], group.workers[(number + 1) % 2])
                    tasks.addTask(executorPreference: mine) { await other.perform { _ in number } }
                }
                return await tasks.reduce(0, +)
            }
            #expect(sum == 10_000 * 9_999 / 2)
        }
    }
}
