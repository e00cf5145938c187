import EventLoop
import Testing

@Suite struct WorkerTests {
    @Test("What one thread submits runs in its order, on the worker") func submissionOrder() async throws {
        let group = try WorkerGroup(count: 1)
        let worker = group.workers[0]
        let seen: [Int] = await withCheckedContinuation { continuation in
            let order = Order()
            for number in 0..<1000 { worker.submit { order.append(number) } }
            worker.submit { continuation.resume(returning: order.numbers) }
        }
        #expect(seen == Array(0..<1000))
        await group.shutdown()
    }
}

/// Confined to the worker: only its submitted closures touch it.
private final class Order: @unchecked Sendable {
    var numbers: [Int] = []
    func append(_ number: Int) {
        precondition(Worker.current != nil)
        numbers.append(number)
    }
}
