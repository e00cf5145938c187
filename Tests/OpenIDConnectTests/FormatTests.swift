import Foundation
import Testing

@testable import OpenIDConnect

@Suite("Formats")
struct FormatTests {
    @Test(
        "JSON is read",
        arguments: [
            ("null", JSONValue.null), (" [ ] ", .array([])), ("{}", .object([:])), ("-0", .integer(0)),
            ("1e2", .number(100)),
            ("9223372036854775807", .integer(.max)), ("9223372036854775808", .number(9_223_372_036_854_775_808)),
            (#""\u00e9\n\/\ud83d\ude00é""#, .string("é\n/😀é")),
            (#"{"a":{"a":[true,false]}}"#, .object(["a": .object(["a": .array([.bool(true), .bool(false)])])])),
            (
                String(repeating: "[", count: 32) + String(repeating: "]", count: 32),
                (0..<31).reduce(JSONValue.array([])) { value, _ in .array([value]) }
            ),
        ])
    func readsJSON(_ text: String, _ value: JSONValue) {
        #expect(JSONValue(parsing: Array(text.utf8)) == value)
        #expect(JSONValue(parsing: Array(value.text.utf8)) == value)
    }

    @Test(
        "JSON is refused",
        arguments: [
            "", " ", "nul", "nullx", "[1,]", "[1 2]", "{,}", #"{"a"}"#, #"{"a":1,}"#, "{a:1}", "{'a':1}",
            #"{"a":1,"a":1}"#,
            #"{"a":1,"\u0061":1}"#, "01", "+1", "1.", ".5", "1e", "-", "0x10", "NaN", "Infinity", "1e999", "\"\u{1}\"",
            "\"\n\"",
            #""\x""#, #""\u12""#, #""\ud800""#, #""\ud800\u0041""#, #""\udc00""#, #"""#, "[] []", "\u{FEFF}[]",
            "// \n1",
            String(repeating: "[", count: 33) + String(repeating: "]", count: 33),
            String(repeating: "[", count: 100_000),
        ])
    func refusesJSON(_ text: String) {
        #expect(JSONValue(parsing: Array(text.utf8)) == nil)
    }

    @Test(
        "JSON that is not UTF-8 is refused",
        arguments: [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]] as [[UInt8]])
    func refusesNotUTF8(_ bytes: [UInt8]) {
        #expect(JSONValue(parsing: bytes) == nil)
    }

    @Test("every cut of a JSON text is refused, and none traps")
    func cutJSON() {
        let text = Array(#"{"a":[1,-2.5e+3,"\u00e9\ud83d\ude00",true,null],"b":{"c":"é"}}"#.utf8)
        #expect(JSONValue(parsing: text) != nil)
        for end in text.indices { #expect(JSONValue(parsing: Array(text[..<end])) == nil) }
    }

    @Test("base64url agrees with Foundation for every length")
    func base64URL() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ count) }
            let expected = Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
            #expect(Base64URL.encode(bytes) == expected)
            #expect(Base64URL.decode(expected.utf8) == bytes)
        }
    }

    @Test("base64url has one spelling", arguments: ["A", "AAAAA", "AB", "AAB", "AA==", "A A", "AA\n", "+/8", "ÄÄ"])
    func refusesBase64URL(_ text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test("forms are read as they were written", arguments: ["", "a b+c", "ä&=%?#/", "~-._", "\u{0}\r\n", "😀"])
    func forms(_ value: String) throws {
        let encoded = FormEncoding.encode([("n", value), (value, "v")])
        #expect(encoded.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        let fields = try #require(FormEncoding.decode(encoded.utf8))
        #expect(fields.map(\.name) == ["n", value])
        #expect(fields.map(\.value) == [value, "v"])
    }
}
