import Foundation
import Synchronization
import Testing

@testable import EventLoop

@Suite(.timeLimit(.minutes(5))) struct WorkerTests {
    @Test func `work that one thread submits runs in its order, on the worker`() async throws {
        try await withWorkers { group in
            let worker = group.workers[0]
            let record = Record<Int>()
            for number in 0..<1000 { worker.submit { record.append(worker.isCurrent ? number : -1) } }
            await worker.perform { _ in }
            #expect(record.entries == Array(0..<1000))
        }
    }

    @Test func `a batch serves descriptors, then timers, then local work, then what was put off to its end`()
        async throws
    {
        try await withWorkers { group in
            let order: [String] = await group.workers[0].run { worker, finish in
                let record = Record<String>()
                do {
                    let pair = try SocketPair()
                    send(1, bytesTo: pair.far)
                    let watch = Mutex<Watch?>(nil)
                    let handler = Handler { _, worker in
                        worker.atBatchEnd {
                            record.append("end")
                            pair.close()
                            finish(record.entries)
                        }
                        worker.submit { record.append("local") }
                        _ = worker.addTimer(after: .zero) { record.append("timer") }
                        record.append("ready")
                        watch.withLock { $0.map { worker.unwatch($0) } }
                    }
                    let made = try worker.watch(pair.near, for: .read, handler)
                    watch.withLock { $0 = made }
                } catch {
                    finish(["\(error)"])
                }
            }
            #expect(order == ["ready", "timer", "local", "end"])
        }
    }

    @Test func `submissions of many threads all arrive in order, with fewer wake-ups than submissions`() async throws {
        try await withWorkers { group in
            let worker = group.workers[0]
            let threads = 8
            let each = 5_000
            let record = Record<(thread: Int, number: Int)>()
            await withTaskGroup(of: Void.self) { tasks in
                for thread in 0..<threads {
                    tasks.addTask {
                        await withCheckedContinuation { continuation in
                            Thread.detachNewThread {
                                for number in 0..<each { worker.submit { record.append((thread, number)) } }
                                continuation.resume()
                            }
                        }
                    }
                }
            }
            await worker.perform { _ in }
            let arrived = record.entries
            #expect(arrived.count == threads * each)
            var next = Array(repeating: 0, count: threads)
            for (thread, number) in arrived where next[thread] == number { next[thread] += 1 }
            #expect(next == Array(repeating: each, count: threads))
            #expect(worker.wakeups > 0 && worker.wakeups < UInt64(threads * each))
        }
    }

    @Test func `a worker that submits to itself wakes no thread`() async throws {
        try await withWorkers { group in
            let worker = group.workers[0]
            let (before, after): (UInt64, UInt64) = await worker.run { worker, finish in
                let before = worker.wakeups
                for _ in 0..<1000 { worker.submit {} }
                worker.submit { finish((before, worker.wakeups)) }
            }
            #expect(before == after)
        }
    }

    @Test func `work that submits itself again keeps neither others' work nor timers out`() async throws {
        try await withWorkers { group in
            let worker = group.workers[0]
            let goOn = Mutex(true)
            @Sendable func again() {
                if goOn.withLock({ $0 }) { worker.submit { again() } }
            }
            worker.submit { again() }
            let othersRun = await comesToAnEnd {
                for _ in 0..<20 { await worker.perform { _ in } }
                let fired: Bool = await worker.run { worker, finish in
                    _ = worker.addTimer(after: .milliseconds(10)) { finish(true) }
                }
                #expect(fired)
            }
            goOn.withLock { $0 = false }
            #expect(othersRun)
        }
    }

    @Test func `Worker.current is the worker within its turn and nil elsewhere`() async throws {
        try await withWorkers(2) { group in
            for worker in group.workers {
                let seen = await worker.perform { _ in Worker.current?.index }
                #expect(seen == worker.index)
            }
            #expect(Worker.current == nil)
        }
    }

    @Test func `next() hands the workers out in turn`() async throws {
        try await withWorkers(3) { group in
            #expect((0..<7).map { _ in group.next().index } == [0, 1, 2, 0, 1, 2, 0])
        }
    }

    @Test(
        arguments: [
            (
                EventLoopError.system(operation: "eventfd", code: EMFILE),
                "eventfd failed: Too many open files (errno 24); raise the limit of open files (ulimit -n, LimitNOFILE=)"
            ),
            (
                .system(operation: "epoll_ctl", code: ENOSPC),
                "epoll_ctl failed: No space left on device (errno 28); raise fs.epoll.max_user_watches"
            ),
            (.system(operation: "epoll_ctl", code: EBADF), "epoll_ctl failed: Bad file descriptor (errno 9)"),
            (.shutDown, "the event loop has been shut down"),
        ])
    func `an error says what failed and what to do`(error: EventLoopError, text: String) {
        #expect(error.description == text)
    }
}
