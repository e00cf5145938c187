import Foundation
import Testing
import WebFormats

@Suite struct RandomUUIDTests {
    @Test(
        arguments: [
            (Array(0..<16), "00010203-0405-4607-8809-0a0b0c0d0e0f"),
            ([UInt8](repeating: 0xFF, count: 16), "ffffffff-ffff-4fff-bfff-ffffffffffff"),
            ([], "00000000-0000-4000-8000-000000000000"),
        ] as [([UInt8], String)])
    func `sixteen bytes become a UUID of version 4`(_ bytes: [UInt8], _ text: String) {
        #expect(RandomUUID.text(bytes) == text)
        #expect(UUID(uuidString: text)?.uuidString.lowercased() == text)
    }
}
