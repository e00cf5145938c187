import Foundation
import Testing

@testable import SessionStore

/// With which key a server seals that is not alone.
@Suite struct SealingKeyTests {
    private static func ring(_ numbers: UInt8...) throws -> KeyRing {
        try KeyRing(
            text: numbers.map { Data(repeating: $0, count: 32).base64EncodedString() }.joined(separator: "\n"))
    }

    @Test func `a new key seals when all servers have it`() throws {
        let (old, both) = (try Self.ring(1), try Self.ring(2, 1))
        #expect(both.sealingKey(for: []) == both.currentKeyID)
        #expect(both.sealingKey(for: [Set(both.keyIDs)]) == both.currentKeyID)
        #expect(both.sealingKey(for: [Set(both.keyIDs), Set(old.keyIDs)]) == old.currentKeyID)
        // If no key is common to all, each server continues with its own.
        #expect(both.sealingKey(for: [Set(try Self.ring(3).keyIDs)]) == both.currentKeyID)
    }

    @Test func `sealing with another key only reorders the ring`() throws {
        let both = try Self.ring(2, 1)
        let turned = both.sealing(with: both.keyIDs[1])
        #expect(turned.keyIDs == both.keyIDs.reversed())
        #expect(both.sealing(with: nil).keyIDs == both.keyIDs)
        #expect(both.sealing(with: KeyRing.KeyID(bytes: [])).keyIDs == both.keyIDs)
    }
}
