import Testing

@testable import WebFormats

@Suite("JSON")
struct JSONTests {
    @Test(
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
    func `JSON is read`(_ text: String, _ value: JSONValue) {
        #expect(JSONValue(parsing: Array(text.utf8)) == value)
        #expect(JSONValue(parsing: Array(value.text.utf8)) == value)
    }

    @Test(
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
    func `invalid JSON is refused`(_ text: String) {
        #expect(JSONValue(parsing: Array(text.utf8)) == nil)
    }

    @Test(
        arguments: [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]] as [[UInt8]])
    func `JSON that is not UTF-8 is refused`(_ bytes: [UInt8]) {
        #expect(JSONValue(parsing: bytes) == nil)
    }

    @Test func `every cut of a JSON text is refused, and none traps`() {
        let text = Array(#"{"a":[1,-2.5e+3,"\u00e9\ud83d\ude00",true,null],"b":{"c":"é"}}"#.utf8)
        #expect(JSONValue(parsing: text) != nil)
        for end in text.indices { #expect(JSONValue(parsing: Array(text[..<end])) == nil) }
    }

    @Test func `a value is written compactly, its members by name`() {
        let value: JSONValue = [
            "b": [1, -2, .null, true, false], "a": ["\u{0}\n\u{1F}\"\\/é😀": "\(1)"], "": [], "c": .number(0.5),
            "d": .number(.infinity),
        ]
        let text = #"{"":[],"a":{"\u0000\u000a\u001f\"\\/é😀":"1"},"b":[1,-2,null,true,false],"c":0.5,"d":null}"#
        #expect(value.text == text)
        #expect(value.bytes == Array(text.utf8))
    }

    @Test(
        arguments: [
            ("3", 3, 3), ("3.0", 3, 3), ("3e2", 300, 300), ("3.5", nil, 3.5), ("9223372036854775808", nil, 0x1p63),
            ("\"3\"", nil, nil), ("true", nil, nil), ("null", nil, nil),
        ] as [(String, Int?, Double?)])
    func `a whole number is an integer, however it is written`(_ text: String, _ integer: Int?, _ double: Double?) {
        let value = JSONValue(parsing: text.utf8)
        #expect(value != nil)
        #expect(value?.integer == integer)
        #expect(value?.double == double)
    }

    @Test func `a value has only its own type`() {
        let values: [JSONValue] = [.null, true, 1, .number(1.5), "a", [1], ["a": 1]]
        #expect(values.map { $0.bool != nil } == [false, true, false, false, false, false, false])
        #expect(values.map { $0.string != nil } == [false, false, false, false, true, false, false])
        #expect(values.map { $0.array != nil } == [false, false, false, false, false, true, false])
        #expect(values.map { $0.object != nil } == [false, false, false, false, false, false, true])
        #expect(values.map { $0["a"] != nil } == [false, false, false, false, false, false, true])
        #expect([JSONValue(nil), JSONValue("a")] == [.null, .string("a")])
    }

    @Test func `members come in the order that is asked for, at every depth, and the others by name`() {
        let value: JSONValue = ["b": 1, "a": ["y": 1, "z": [["z": 1, "b": 2]]], "z": 3]
        let bytes = value.bytes(beginningWith: ["z", "y", "z"])
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"z":3,"a":{"z":[{"z":1,"b":2}],"y":1},"b":1}"#)
        #expect(value.text == #"{"a":{"y":1,"z":[{"b":2,"z":1}]},"b":1,"z":3}"#)
    }

    @Test func `objects are merged member by member, and other values are replaced`() {
        let one: JSONValue = ["a": ["b": 1, "c": [1]], "d": 1]
        let other: JSONValue = ["a": ["c": [2], "e": 3], "d": ["f": 4]]
        #expect(one.merging(other) == ["a": ["b": 1, "c": [2], "e": 3], "d": ["f": 4]])
        #expect(one.merging(1) == 1)
    }
}
