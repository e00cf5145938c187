import HTTPTypes

/// The field lines of a head: its bytes, and the position of each name and trimmed value. Strings are made when they
/// are requested. A field is found by its length and then its letters, regardless of case.
struct FieldSection: Sendable {
    let bytes: [UInt8]
    let fields: [FieldSlices]

    /// The value of the field, or nil. If there are several lines, all values are joined by `, ` (`; ` for Cookie).
    /// Each byte beyond ASCII becomes U+FFFD.
    subscript(name: HTTPField.Name) -> String? {
        guard let first = firstIndex(of: name) else { return nil }
        var value = ASCII.text(bytes[fields[first].value.range])
        var last = first
        while let next = firstIndex(of: name, from: last + 1) {
            value += name == .cookie ? "; " : ", "
            value += ASCII.text(bytes[fields[next].value.range])
            last = next
        }
        return value
    }

    func values(for name: HTTPField.Name) -> [String] { slices(for: name).map { ASCII.text(bytes[$0]) } }

    func contains(_ name: HTTPField.Name) -> Bool { firstIndex(of: name) != nil }

    var headerFields: HTTPFields {
        var all = HTTPFields()
        for field in fields {
            if let name = HTTPField.Name(text(field.name)) {
                all.append(HTTPField(name: name, value: bytes[field.value.range]))
            }
        }
        return all
    }

    func without(_ names: [HTTPField.Name]) -> FieldSection {
        let unwanted = names.map(\.canonicalName)
        return FieldSection(bytes: bytes, fields: fields.filter { !unwanted.contains(text($0.name).lowercased()) })
    }

    /// Returns the ranges of the field's lines in `bytes`, without making strings.
    func slices(for name: HTTPField.Name) -> [Range<Int>] {
        var slices: [Range<Int>] = []
        var start = 0
        while let index = firstIndex(of: name, from: start) {
            slices.append(fields[index].value.range)
            start = index + 1
        }
        return slices
    }

    /// Returns the position in `bytes` of the value of a field with one line; nil if there is no line, or several.
    func onlySlice(for name: HTTPField.Name) -> Range<Int>? {
        guard let index = firstIndex(of: name), firstIndex(of: name, from: index + 1) == nil else { return nil }
        return fields[index].value.range
    }

    func text(_ slice: Slice16) -> String { String(decoding: bytes[slice.range], as: UTF8.self) }

    private func firstIndex(of name: HTTPField.Name, from start: Int = 0) -> Int? {
        let wanted = name.canonicalName.utf8.span
        let bytes = bytes.span
        for index in start..<max(start, fields.count) {
            let slice = fields[index].name
            if slice.count == wanted.count, ASCII.matches(bytes, slice.range, wanted) { return index }
        }
        return nil
    }
}
