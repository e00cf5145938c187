import COpenSSL
import Synchronization

/// The keys that seal session tickets (RFC 5077, RFC 8446 section 4.6.1), so that a client which comes back saves most of the
/// handshake. They are random, never leave the process, and serve all contexts and workers of a server. So a ticket stays good
/// when the certificate is replaced.
///
/// A key seals for one period and opens for one more. After that nothing is left that could open a ticket of its time.
public final class TicketKeys: Sendable {
    private struct Key {
        let name: [UInt8]
        let aes: [UInt8]
        let hmac: [UInt8]
        let since: ContinuousClock.Instant

        init(since: ContinuousClock.Instant) {
            var random = SystemRandomNumberGenerator()
            func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in random.next() } }
            (name, aes, hmac, self.since) = (bytes(16), bytes(32), bytes(32), since)
        }
    }

    private let period: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    /// The one that seals, and the one before it.
    private let keys: Mutex<(current: Key, previous: Key?)>

    /// - Parameters:
    ///   - period: How long a key seals. A ticket is good for that long at least, and for twice that at most.
    ///   - now: The time.
    public init(period: Duration = .seconds(7200), now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.period = period
        self.now = now
        keys = Mutex((Key(since: now()), nil))
    }

    private func rotated<Result>(_ body: (Key, Key?) -> Result) -> Result {
        let now = now()
        return keys.withLock { keys in
            let age = keys.current.since.duration(to: now)
            if age >= period { keys = (Key(since: now), age < period * 2 ? keys.current : nil) }
            return body(keys.current, keys.previous)
        }
    }

    /// Answers OpenSSL. See `ctls_ticket_keys`.
    fileprivate func answer(
        isSealing: Bool, _ name: UnsafeMutablePointer<UInt8>, _ aes: UnsafeMutablePointer<UInt8>,
        _ hmac: UnsafeMutablePointer<UInt8>
    ) -> Int32 {
        rotated { current, previous in
            let isNamed = { (key: Key) in key.name.elementsEqual(UnsafeBufferPointer(start: name, count: 16)) }
            let key: Key
            if isSealing || isNamed(current) {
                key = current
            } else if let previous, isNamed(previous) {
                key = previous
            } else {
                return 0
            }
            name.update(from: key.name, count: 16)
            aes.update(from: key.aes, count: 32)
            hmac.update(from: key.hmac, count: 32)
            return isSealing || isNamed(current) ? 1 : 2
        }
    }

    static let answer: ctls_ticket_keys = { keys, sealing, name, aes, hmac in
        guard let keys else { return 0 }
        return Unmanaged<TicketKeys>.fromOpaque(keys).takeUnretainedValue()
            .answer(isSealing: sealing != 0, name, aes, hmac)
    }
}
