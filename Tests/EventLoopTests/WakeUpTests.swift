import Dispatch
import Foundation
import TestSupport
import Testing

@testable import EventLoop

/// A wake-up that is lost shows as silence. Workers are left alone for random moments, shorter and longer than they
/// linger, so that they are met in epoll, on their way back to Dispatch, and asleep.
@Suite(.timeLimit(.minutes(5))) struct WakeUpTests {
    private static let patience = DispatchTimeInterval.seconds(20)

    @Test func `workers that stay lose no submission and no timer of three threads at random moments`() async throws {
        let group = try WorkerGroup(count: 2)
        let lost = await onThreads(3) { thread in
            var random = SeededGenerator(seed: thread)
            var lost = 0
            for _ in 0..<6_000 {
                usleep(UInt32.random(in: 0...600, using: &random))
                let worker = group.workers[Int.random(in: 0...1, using: &random)]
                if !wakes(worker, timer: Bool.random(using: &random)) { lost += 1 }
            }
            return lost
        }
        #expect(lost == 0)
        await group.shutdown()
    }

    @Test func `workers that come and go beside others lose no submission and no timer`() async throws {
        for round in 0..<400 {
            let group = try WorkerGroup(count: 2)
            let lost = await onThreads(2) { thread in
                var random = SeededGenerator(seed: thread + 2 * UInt64(round))
                usleep(UInt32.random(in: 0...900, using: &random))
                return wakes(group.workers[Int(thread)], timer: Bool.random(using: &random)) ? 0 : 1
            }
            #expect(lost == 0, "round \(round)")
            await group.shutdown()
        }
    }

    private func wakes(_ worker: Worker, timer: Bool) -> Bool {
        let done = DispatchSemaphore(value: 0)
        worker.submit {
            if timer {
                _ = worker.addTimer(after: .microseconds(700)) { done.signal() }
            } else {
                done.signal()
            }
        }
        return done.wait(timeout: .now() + Self.patience) == .success
    }

    private func onThreads(_ count: UInt64, _ body: @escaping @Sendable (UInt64) -> Int) async -> Int {
        await withTaskGroup(of: Int.self) { tasks in
            for thread in 0..<count {
                tasks.addTask {
                    await withCheckedContinuation { continuation in
                        DispatchQueue(label: "thread \(thread)").async { continuation.resume(returning: body(thread)) }
                    }
                }
            }
            return await tasks.reduce(0, +)
        }
    }
}
