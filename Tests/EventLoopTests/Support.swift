import CLinux
import EventLoop
import Foundation
import Synchronization
import TestSupport

/// A record of events, in order, from any thread.
final class Record<Entry: Sendable>: Sendable {
    private let entriesSoFar = Mutex<[Entry]>([])
    var entries: [Entry] { entriesSoFar.withLock { $0 } }
    func append(_ entry: Entry) { entriesSoFar.withLock { $0.append(entry) } }
}

/// A handler made of a closure; worker-confined like every handler.
final class Handler: ReadinessHandler {
    private let body: (Readiness, Worker) -> Void
    init(_ body: @escaping (Readiness, Worker) -> Void) { self.body = body }
    func ready(_ readiness: Readiness, on worker: Worker) { body(readiness, worker) }
}

/// Two connected stream sockets, not blocking.
struct SocketPair {
    let near: Int32
    let far: Int32

    init() throws {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let answer = socketpair(AF_UNIX, kind, 0, &pair)
        _ = try Descriptor(answer == 0 ? dup(pair[0]) : -1, from: "socketpair")
        (near, far) = (pair[0], pair[1])
    }

    func close() {
        _ = Foundation.close(near)
        _ = Foundation.close(far)
    }
}

func send(_ count: Int, bytesTo fd: Int32) {
    let bytes = [UInt8](repeating: 7, count: count)
    _ = write(fd, bytes, count)
}

/// Runs `body` with a group of workers and ends them.
func withWorkers<Answer>(
    _ count: Int = 1, _ body: (WorkerGroup) async throws -> Answer
) async throws -> Answer {
    let group = try WorkerGroup(count: count)
    do {
        let answer = try await body(group)
        await group.shutdown()
        return answer
    } catch {
        await group.shutdown()
        throw error
    }
}

/// Whether work ends. What does not is left behind.
func comesToAnEnd(_ work: @escaping @Sendable () async -> Void) async -> Bool {
    let ended = Record<Void>()
    Task.detached {
        await work()
        ended.append(())
    }
    return await eventually { !ended.entries.isEmpty }
}

extension Worker {
    /// Runs `start` on the worker and waits until it, or something it started, calls `finish`.
    func run<Answer: Sendable>(
        _ start: @escaping @Sendable (Worker, _ finish: @escaping @Sendable (Answer) -> Void) -> Void
    ) async -> Answer {
        await withCheckedContinuation { continuation in
            submit { start(self) { continuation.resume(returning: $0) } }
        }
    }
}
