import COpenSSL
import Foundation
import Synchronization
import Testing

@testable import TLS

/// Which key seals a ticket, and which tickets a key opens.
@Suite struct TicketKeysTests {
    private final class Clock: Sendable {
        private let start = ContinuousClock.now
        private let passed = Mutex(Duration.zero)
        var now: ContinuousClock.Instant { start.advanced(by: passed.withLock { $0 }) }
        func pass(_ seconds: Int) { passed.withLock { $0 += .seconds(seconds) } }
    }

    private let clock = Clock()
    private let keys: TicketKeys

    init() {
        keys = TicketKeys(period: .seconds(100)) { [clock] in clock.now }
    }

    private struct Answer: Equatable {
        var code: Int32
        var name: [UInt8]
        var secrets: [UInt8]
    }

    private func answer(_ named: [UInt8]? = nil) -> Answer {
        var (name, aes, hmac) = (
            named ?? .init(repeating: 0, count: 16), [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32)
        )
        let code = TicketKeys.answer(
            Unmanaged.passUnretained(keys).toOpaque(), named == nil ? 1 : 0, &name, &aes, &hmac)
        return Answer(code: code, name: name, secrets: aes + hmac)
    }

    @Test(arguments: [(0, 1), (99, 1), (100, 2), (199, 2), (200, 0), (10_000, 0)])
    func `a ticket is opened for one period, renewed for another, and refused then`(seconds: Int, code: Int32) {
        let sealed = answer()
        clock.pass(seconds)
        let opened = answer(sealed.name)
        #expect(sealed.code == 1)
        #expect(opened.code == code)
        #expect((opened.secrets == sealed.secrets) == (code > 0))
    }

    @Test func `each period seals with keys of its own`() {
        let first = answer()
        clock.pass(100)
        let second = answer()
        #expect(first.name != second.name)
        #expect(Set(first.secrets).count > 20)
        #expect(!first.secrets.elementsEqual(second.secrets))
        #expect(answer(first.name).code == 2)
        #expect(answer(second.name).code == 1)
    }

    @Test func `a key of another process is unknown`() {
        #expect(answer(Array(repeating: 7, count: 16)).code == 0)
    }
}
