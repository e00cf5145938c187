import Foundation

@testable import WebFormats

/// Foundation reads the same JSON. It is more lenient in what `strictness` lists, and in nothing else.
@Sendable func checkJSON(_ input: [UInt8]) throws(Disagreement) {
    let theirs = try? JSONSerialization.jsonObject(with: Data(input), options: .fragmentsAllowed)
    guard let ours = JSONValue(parsing: input) else {
        try hold(theirs == nil || strictness(of: input, theirs) != nil, "Foundation reads what we refuse")
        return
    }
    guard let theirs else { throw Disagreement(description: "Foundation refuses what we read as \(ours.text)") }
    try agree(ours, JSONValue(foundation: theirs, like: ours), "Foundation reads the same value")
    try agree(JSONValue(parsing: Array(ours.text.utf8)), ours, "JSON that is written comes back")
    try agree(ours.merging(ours), ours, "A value merged with itself is itself")
}

/// The reason why we may refuse what Foundation takes: the first of these that is so.
private func strictness(of input: [UInt8], _ theirs: Any?) -> String? {
    guard let text = String(validating: input, as: UTF8.self) else { return "UTF-16, UTF-32 or broken UTF-8" }
    if input.contains(0) { return "UTF-16 or UTF-32" }
    if input.starts(with: [0xEF, 0xBB, 0xBF]) { return "a byte order mark" }
    let shape = Shape(text)
    if shape.depth >= JSONValue.maxDepth { return "too deep" }
    // Foundation keeps one member for a name that comes twice.
    if shape.colons > members(of: theirs) { return "a name twice" }
    if shape.hasEscapedSurrogate { return "half of a surrogate pair" }
    if shape.hasCommaBeforeEnd { return "a comma before the end of an array or object" }
    if shape.hasHugeNumber { return "a number that Double cannot hold" }
    return nil
}

/// The text outside of strings.
private struct Shape {
    var depth = 0
    var colons = 0
    var hasEscapedSurrogate = false
    var hasHugeNumber = false
    var hasCommaBeforeEnd = false

    init(_ text: String) {
        var isInString = false
        var level = 0
        var rest = text.utf8[...]
        var number = ""
        var last: UInt8?
        while let byte = rest.popFirst() {
            if isInString {
                if byte == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u") {
                    let isSurrogate = rest.first.map { $0 | 0x20 == UInt8(ascii: "d") } ?? false
                    hasEscapedSurrogate = hasEscapedSurrogate || isSurrogate
                }
                if byte == UInt8(ascii: "\"") { isInString = false }
                continue
            }
            if "0123456789.eE+-".utf8.contains(byte) {
                number.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                hasHugeNumber = hasHugeNumber || Double(number)?.isInfinite ?? false
                number = ""
            }
            let isEnd = byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}")
            hasCommaBeforeEnd = hasCommaBeforeEnd || isEnd && last == UInt8(ascii: ",")
            if byte > 0x20 { last = byte }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"): level += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): level -= 1
            case UInt8(ascii: ":"): colons += 1
            default: break
            }
            depth = max(depth, level)
        }
        hasHugeNumber = hasHugeNumber || Double(number)?.isInfinite ?? false
    }
}

private func members(of value: Any?) -> Int {
    switch value {
    case let object as [String: Any]: object.count + object.values.reduce(0) { $0 + members(of: $1) }
    case let array as [Any]: array.reduce(0) { $0 + members(of: $1) }
    default: 0
    }
}

extension JSONValue {
    /// Foundation's value. Its numbers do not say whether they were written with a fraction: that, and the Double nearest
    /// to a long integer, is taken from ours.
    fileprivate init(foundation value: Any, like ours: JSONValue?) {
        switch value {
        case let text as String: self = .string(JSONValue.marked(text, like: ours?.string))
        case let object as [String: Any]:
            let members = object.map { key, value in
                let name = ours?.object?.keys.first { JSONValue.unmarked($0) == JSONValue.unmarked(key) } ?? key
                return (name, JSONValue(foundation: value, like: ours?[name]))
            }
            self = .object(Dictionary(members) { $1 })
        case let array as [Any]:
            let like = ours?.array ?? []
            self = .array(
                array.enumerated().map { JSONValue(foundation: $1, like: like.count > $0 ? like[$0] : nil) })
        case let number as NSNumber:
            switch ours {
            case .integer: self = .integer(number.intValue)
            case .number(let value):
                // A long integer is a Decimal on the way, and loses its last digits.
                let isSame = abs(number.doubleValue - value) <= abs(value) * 1e-14
                self = .number(isSame ? value : number.doubleValue)
            default: self = .bool(number.boolValue)
            }
        default: self = .null
        }
    }

    /// Foundation loses byte order marks at the beginning of a text and behind an escape.
    private static func marked(_ text: String, like ours: String?) -> String {
        guard let ours, unmarked(ours) == unmarked(text) else { return text }
        return ours
    }

    private static func unmarked(_ text: String) -> [Unicode.Scalar] { text.unicodeScalars.filter { $0 != "\u{FEFF}" } }
}
