import Foundation
import Synchronization
import TestSupport
import Testing

@testable import EventLoop

@Suite(.timeLimit(.minutes(5))) struct WatchTests {
    @Test func `a level-triggered watch is called as long as something is left, across many turns`() async throws {
        try await withWorkers { group in
            let pair = try SocketPair()
            let bytes = 20_000
            send(bytes, bytesTo: pair.far)
            let read: Int = await group.workers[0].run { worker, finish in
                var total = 0
                let handler = Handler { _, _ in
                    var byte: UInt8 = 0
                    total += Foundation.read(pair.near, &byte, 1)
                    if total == bytes { finish(total) }
                }
                if (try? worker.watch(pair.near, for: .read, handler)) == nil { finish(-1) }
            }
            #expect(read == bytes)
            pair.close()
        }
    }

    @Test func `an edge-triggered watch is called once for each arrival`() async throws {
        try await withWorkers { group in
            let worker = group.workers[0]
            let pair = try SocketPair()
            let calls = Record<Readiness>()
            await worker.perform { worker in
                _ = try? worker.watch(pair.near, for: [.read, .edgeTriggered], Handler { how, _ in calls.append(how) })
            }
            for arrivals in 1...3 {
                send(1, bytesTo: pair.far)
                #expect(await eventually { calls.entries.count >= arrivals })
            }
            for _ in 0..<100 { await worker.perform { _ in } }
            #expect(calls.entries == [.read, .read, .read])
            pair.close()
        }
    }

    @Test func `update changes what a watch is for, and a hang-up is delivered as readable and writable too`()
        async throws
    {
        try await withWorkers { group in
            let pair = try SocketPair()
            let seen: [Readiness] = await group.workers[0].run { worker, finish in
                var seen: [Readiness] = []
                var watch: Watch?
                let handler = Handler { how, worker in
                    seen.append(how)
                    if how.contains(.hangUp) {
                        watch.map { worker.unwatchAndClose($0) }
                        finish(seen)
                    } else {
                        watch.map { _ = worker.update($0, for: .read) }
                        _ = close(pair.far)
                    }
                }
                watch = try? worker.watch(pair.near, for: .write, handler)
            }
            #expect(seen == [.write, [.read, .write, .hangUp]])
        }
    }

    @Test func `an event queued for a watch that ended does not reach the watch that got its descriptor`() async throws
    {
        try await withWorkers { group in
            let worker = group.workers[0]
            let pairs = [try SocketPair(), try SocketPair()]
            let fresh = try SocketPair()
            for pair in pairs { send(1, bytesTo: pair.far) }
            let record = Record<String>()
            // Both descriptors are ready in one batch. Whichever comes first ends the other's watch, closes its
            // descriptor, and puts a new connection with nothing to read under the same number.
            _ = await worker.run { (worker, finish: @escaping @Sendable (Int32) -> Void) in
                var watches: [Watch] = []
                for (place, pair) in pairs.enumerated() {
                    let handler = Handler { _, worker in
                        record.append("old")
                        let other = pairs[1 - place].near
                        worker.unwatch(watches[1 - place])
                        worker.unwatch(watches[place])
                        dup2(fresh.near, other)
                        let made = try? worker.watch(other, for: .read, Handler { _, _ in record.append("new") })
                        if made == nil { record.append("no watch") }
                        worker.unwatch(watches[1 - place])
                        finish(other)
                    }
                    if let made = try? worker.watch(pair.near, for: .read, handler) { watches.append(made) }
                }
            }
            for _ in 0..<100 { await worker.perform { _ in } }
            #expect(record.entries == ["old"])
            send(1, bytesTo: fresh.far)
            #expect(await eventually { record.entries.count >= 2 })
            #expect(record.entries.prefix(2) == ["old", "new"])
            await worker.perform { worker in #expect(worker.watches.count == 1) }
            pairs.forEach { $0.close() }
            fresh.close()
        }
    }

    @Test func `a descriptor that epoll refuses is a typed error and leaves nothing behind`() async throws {
        try await withWorkers { group in
            let outcome = await group.workers[0].perform { worker -> (EventLoopError?, Int) in
                do throws(EventLoopError) {
                    _ = try worker.watch(-1, for: .read, Handler { _, _ in })
                    return (nil, worker.watches.count)
                } catch {
                    return (error, worker.watches.count)
                }
            }
            #expect(outcome.0 == .system(operation: "epoll_ctl", code: EBADF))
            #expect(outcome.1 == 0)
        }
    }

    @Test func `a handler and its descriptor go at the end of the batch in which unwatchAndClose was called`()
        async throws
    {
        try await withWorkers { group in
            let worker = group.workers[0]
            let pair = try SocketPair()
            let (during, freedDuring) = await worker.perform { worker -> (Int32, Bool) in
                var handler: Handler? = Handler { _, _ in }
                let watch = handler.flatMap { try? worker.watch(pair.near, for: .read, $0) }
                weak let seen = handler
                handler = nil
                watch.map { worker.unwatchAndClose($0) }
                return (fcntl(pair.near, F_GETFD), seen == nil)
            }
            #expect(during >= 0 && !freedDuring)
            // The peer sees the end: nothing else holds the descriptor.
            var byte: UInt8 = 0
            await worker.perform { _ in }
            #expect(recv(pair.far, &byte, 1, 0) == 0)
            _ = close(pair.far)
        }
    }
}
