import Testing
import WebFormats

@Suite("Forms and queries")
struct FormTests {
    struct Form: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let fields: [[String]]
        init(_ title: String, _ text: String, _ fields: [[String]]) {
            (testDescription, self.text, self.fields) = (title, text, fields)
        }
    }

    @Test(
        arguments: [
            Form("nothing", "", []),
            Form("one field", "a=1", [["a", "1"]]),
            Form("the order is kept", "b=2&a=1&b=3", [["b", "2"], ["a", "1"], ["b", "3"]]),
            Form("a plus is a space, in names too", "a+b=c+d", [["a b", "c d"]]),
            Form("an encoded plus is a plus", "a=1%2B1", [["a", "1+1"]]),
            Form("separators can be encoded", "a%3D=%26", [["a=", "&"]]),
            Form("UTF-8", "n=%C3%A9%e2%82%ac", [["n", "é€"]]),
            Form("bare UTF-8", "n=é", [["n", "é"]]),
            Form("equals signs in the value", "a=b=c=", [["a", "b=c="]]),
            Form("a name alone", "a&b=", [["a", ""], ["b", ""]]),
            Form("an empty name", "=1", [["", "1"]]),
            Form("empty members are skipped", "&&a=1&", [["a", "1"]]),
            Form("an encoded NUL is a character", "a=%00", [["a", "\0"]]),
            Form("a semicolon separates nothing", "a=1;b=2", [["a", "1;b=2"]]),
        ])
    func `a form is read into its fields`(_ row: Form) throws {
        let form = try FormFields(query: row.text)
        #expect(form.fields.map { [$0.name, $0.value] } == row.fields)
        #expect(try FormFields(body: Array(row.text.utf8)) == form)
        for field in row.fields { #expect(form.values(for: field[0]).contains(field[1])) }
    }

    @Test(
        arguments: [
            ("a=%", FormError.invalidEscape), ("a=%4", .invalidEscape), ("a=%4g", .invalidEscape),
            ("%zz=1", .invalidEscape), ("a=%+1", .invalidEscape), ("a=%&b=41", .invalidEscape),
            ("a=%ff", .invalidUTF8), ("a=%c3", .invalidUTF8), ("%c0%80=1", .invalidUTF8), ("a=%ed%a0%80", .invalidUTF8),
        ])
    func `a form with an invalid escape or invalid UTF-8 is refused`(_ text: String, _ error: FormError) {
        #expect(throws: error) { try FormFields(query: text) }
    }

    @Test func `a body that is not UTF-8 is refused`() {
        #expect(throws: FormError.invalidUTF8) { try FormFields(body: [0x61, 0x3D, 0xFF]) }
    }

    @Test func `the number of fields is limited`() throws {
        let hundred = Array(repeating: "a=1", count: 100).joined(separator: "&")
        #expect(try FormFields(query: hundred).fields.count == 100)
        #expect(throws: FormError.tooManyFields) { try FormFields(query: hundred + "&b=2") }
        #expect(throws: FormError.tooManyFields) { try FormFields(query: "a=1&b=2", maxFields: 1) }
    }

    @Test func `repeated names are recognised`() throws {
        let form = try FormFields(query: "code=1&state=2&code=3")
        #expect(form["code"] == "1")
        #expect(form["none"] == nil)
        #expect(form.values(for: "code") == ["1", "3"])
        #expect(form.hasRepeatedNames)
        #expect(form.isRepeated("code"))
        #expect(!form.isRepeated("state"))
        #expect(try !FormFields(query: "a=1&b=1").hasRepeatedNames)
    }

    @Test(arguments: ["", "a b+c", "ä&=%?#/", "~-._", "\u{0}\r\n", "😀"])
    func `forms are read as they were written`(_ value: String) throws {
        let encoded = FormEncoding.encode([("n", value), (value, "v")])
        #expect(encoded.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        let fields = try FormFields(query: encoded).fields
        #expect(fields.map(\.name) == ["n", value])
        #expect(fields.map(\.value) == [value, "v"])
    }
}
