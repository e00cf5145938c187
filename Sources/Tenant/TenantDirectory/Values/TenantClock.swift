package import Foundation
import WebFormats

/// The clock of a tenant, and the identifiers that it gives.
package struct TenantClock: Sendable {
    package let now: @Sendable () -> Date
    /// Returns unpredictable bytes.
    package let randomBytes: @Sendable (Int) -> [UInt8]
    /// The time when the tenant was started.
    package let start: Date

    package init(now: @escaping @Sendable () -> Date, randomBytes: @escaping @Sendable (Int) -> [UInt8]) {
        self.now = now
        self.randomBytes = randomBytes
        start = now()
    }

    /// Returns this clock, ahead by the seconds that it is told whenever it is read.
    package func ahead(by seconds: @escaping @Sendable () -> Int) -> TenantClock {
        TenantClock(now: { [now] in now().addingTimeInterval(TimeInterval(seconds())) }, randomBytes: randomBytes)
    }

    /// Returns a random GUID (RFC 9562 version 4), in lower case.
    package func newID() -> String { RandomUUID.text(randomBytes(16)) }

    /// Returns a random text that means nothing to anybody.
    ///
    /// - Parameter count: The number of random bytes, which are written as base64url.
    package func opaqueText(_ count: Int) -> String { Base64URL.encode(randomBytes(count)) }
}
