import Foundation
import Testing
import WebFormats

@Suite("base64url")
struct Base64URLTests {
    @Test func `base64url agrees with Foundation for every length`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ count) }
            let expected = Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
            #expect(Base64URL.encode(bytes) == expected)
            #expect(Base64URL.decode(expected.utf8) == bytes)
        }
    }

    @Test(arguments: ["A", "AAAAA", "AB", "AAB", "AA==", "A A", "AA\n", "+/8", "ÄÄ"])
    func `base64url has only one spelling`(_ text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test func `bytes that are not in one piece are decoded as well`() {
        #expect(Base64URL.decode("QUJD=".utf8.lazy.filter { $0 != UInt8(ascii: "=") }) == Array("ABC".utf8))
    }
}
