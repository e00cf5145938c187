import Testing
import WebFormats

@Suite("Packed fields")
struct PackedFieldsTests {
    private static let numbers: [Int64] = [
        0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 8192, 1_800_000_000_000, .max, .min, .max - 1, .min + 1,
    ]

    @Test(arguments: numbers) func `a number is read back, and a cut one is refused`(_ number: Int64) throws {
        var fields = PackedFields()
        fields.append(number)
        #expect(fields.bytes.count <= 10)
        var reader = PackedReader(fields.bytes)
        #expect(try reader.number() == number)
        #expect(throws: PackedReader.Malformed.self) { try reader.number() }
        for count in 0..<fields.bytes.count {
            var cut = PackedReader(fields.bytes.prefix(count))
            #expect(throws: PackedReader.Malformed.self) { try cut.number() }
        }
    }

    @Test(arguments: [(0, [0]), (-1, [1]), (1, [2]), (-64, [127]), (64, [128, 1])] as [(Int64, [UInt8])])
    func `small numbers take few bytes`(_ number: Int64, _ bytes: [UInt8]) {
        var fields = PackedFields()
        fields.append(number)
        #expect(fields.bytes == bytes)
    }

    @Test(
        arguments: [
            [128, 0], [255, 128, 0], [130, 128, 128, 0], Array(repeating: 128, count: 9) + [2],
            Array(repeating: 255, count: 9) + [127], Array(repeating: 128, count: 10) + [1],
        ] as [[UInt8]])
    func `a number of more than 64 bits, or of more bytes than it needs, is refused`(_ bytes: [UInt8]) {
        var number = PackedReader(bytes)
        #expect(throws: PackedReader.Malformed.self) { try number.number() }
        var field = PackedReader(bytes)
        #expect(throws: PackedReader.Malformed.self) { try field.bytes() }
    }

    @Test func `a missing value is not an empty one`() throws {
        var fields = PackedFields()
        fields.append(nil as String?)
        fields.append("")
        fields.append(nil as [UInt8]?)
        fields.append([] as [UInt8])
        #expect(fields.bytes == [0, 1, 0, 1])
        var reader = PackedReader(fields.bytes)
        #expect(try reader.optionalText() == nil)
        #expect(try reader.optionalText() == "")
        #expect(try reader.bytes() == nil)
        #expect(try reader.bytes() == [])
        var text = PackedReader(fields.bytes)
        #expect(throws: PackedReader.Malformed.self) { try text.text() }
        #expect(try text.text() == "")
    }

    @Test func `fields are read back in their order, and reading throws wherever they are cut`() throws {
        func read(_ bytes: some Sequence<UInt8>) throws -> ([UInt8]?, String, Int64, String?) {
            var reader = PackedReader(bytes)
            return (try reader.bytes(), try reader.text(), try reader.number(), try reader.optionalText())
        }
        let long = Array(repeating: UInt8(0), count: 300)
        var fields = PackedFields()
        fields.append(long)
        fields.append("ä€😀\u{0}")
        fields.append(-1_000_000 as Int64)
        fields.append("end")
        let found = try read(fields.bytes)
        #expect(found.0 == long && found.1 == "ä€😀\u{0}" && found.2 == -1_000_000 && found.3 == "end")
        for count in 0..<fields.bytes.count {
            #expect(throws: PackedReader.Malformed.self, "\(count) bytes") { try read(fields.bytes.prefix(count)) }
        }
    }

    @Test(arguments: [[2, 255], [3, 0xC3, 0x28], [3, 0xC0, 0x80], [4, 0xED, 0xA0, 0x80]] as [[UInt8]])
    func `bytes that are not UTF-8 are no text`(_ bytes: [UInt8]) throws {
        var text = PackedReader(bytes)
        #expect(throws: PackedReader.Malformed.self) { try text.text() }
        var field = PackedReader(bytes)
        #expect(try field.bytes() == Array(bytes.dropFirst()))
    }

    @Test(arguments: [[2], [3, 0], Array(repeating: 255, count: 9) + [1]] as [[UInt8]])
    func `a length of more than there is throws`(_ bytes: [UInt8]) {
        var reader = PackedReader(bytes)
        #expect(throws: PackedReader.Malformed.self) { try reader.bytes() }
    }
}
