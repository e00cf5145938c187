import Foundation

@testable import WebFormats

/// The input is a form's body. Foundation decodes it too.
@Sendable func checkForms(_ input: [UInt8]) throws(Disagreement) {
    let limit = 8
    let form: FormFields
    do {
        form = try FormFields(body: input, maxFields: limit)
    } catch {
        let pairs = input.split(separator: UInt8(ascii: "&"))
        switch error {
        case .tooManyFields: try hold(pairs.count > limit, "Fields are too many beyond the limit")
        case .invalidEscape, .invalidUTF8:
            let isRefused = pairs.prefix(limit).contains { decodedByFoundation($0) == nil }
            try hold(isRefused, "Foundation refuses it too: \(error)")
        }
        return
    }
    let expected = input.split(separator: UInt8(ascii: "&")).map(decodedByFoundation)
    try agree(form.fields.map { Optional([$0.name, $0.value]) }, expected, "Foundation decodes the same")
    if let text = String(validating: input, as: UTF8.self) {
        try agree(try? FormFields(query: text, maxFields: limit), form, "A query is read as a body is")
    }
    try agree(try? FormFields(body: written(form)), form, "A form that is written comes back")
    let encoded = FormEncoding.encode(form.fields.map { ($0.name, $0.value) })
    try agree(try? FormFields(query: encoded), form, "So does one of our own writing")
    for field in form.fields {
        let same = form.fields.filter { $0.name == field.name }.map(\.value)
        try agree(form.values(for: field.name), same, "All values of a name")
        try agree(form[field.name], same.first, "The first of them")
        try agree(form.isRepeated(field.name), same.count > 1, "A name that comes twice is repeated")
    }
    try agree(form.hasRepeatedNames, form.fields.contains { form.isRepeated($0.name) }, "So is one of all")
}

private func decodedByFoundation(_ pair: ArraySlice<UInt8>) -> [String]? {
    let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    let decoded = (parts + [[]]).prefix(2).compactMap { part in
        // A character may be sent half escaped.
        let escaped = part.map { byte in
            byte == UInt8(ascii: "+") ? " " : byte < 0x80 ? "\(Unicode.Scalar(byte))" : percentEncoded(byte)
        }
        return decodedStrictlyByFoundation(escaped.joined())
    }
    return decoded.count == 2 ? decoded : nil
}

private func percentEncoded(_ byte: UInt8) -> String { "%" + String(UInt16(byte) + 0x100, radix: 16).suffix(2) }

/// Every byte escaped: the widest spelling.
private func written(_ form: FormFields) -> [UInt8] {
    let escaped: (String) -> String = { text in
        text.utf8.map(percentEncoded).joined()
    }
    return Array(form.fields.map { "&\(escaped($0.name))=\(escaped($0.value))" }.joined().utf8)
}

/// Foundation's decoding, nil also where it repairs what is not UTF-8.
func decodedStrictlyByFoundation(_ text: String) -> String? {
    guard let decoded = text.removingPercentEncoding else { return nil }
    let repairs = decoded.unicodeScalars.count { $0 == "\u{FFFD}" }
    let sent = text.unicodeScalars.count { $0 == "\u{FFFD}" } + text.lowercased().ranges(of: "%ef%bf%bd").count
    return repairs == sent ? decoded : nil
}
