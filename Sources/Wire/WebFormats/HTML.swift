/// A piece of HTML. Only literals are used unchanged. Interpolated values are escaped, unless they are HTML themselves.
package struct HTML: Sendable, Hashable, ExpressibleByStringInterpolation {
    package var text: String

    package init(stringLiteral value: String) { text = value }

    package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// Escapes text for use as content or in a quoted attribute. Braces are escaped too, because pages have
    /// placeholders in double braces. The loop works on bytes, because comparing characters with many combining marks
    /// takes quadratic time.
    package init(escaping text: String) {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): result += "&amp;".utf8
            case UInt8(ascii: "<"): result += "&lt;".utf8
            case UInt8(ascii: ">"): result += "&gt;".utf8
            case UInt8(ascii: "\""): result += "&quot;".utf8
            case UInt8(ascii: "'"): result += "&#39;".utf8
            case UInt8(ascii: "{"): result += "&#123;".utf8
            default: result.append(byte)
            }
        }
        self.text = String(decoding: result, as: UTF8.self)
    }

    package static func + (left: HTML, right: HTML) -> HTML { HTML(stringLiteral: left.text + right.text) }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: String) { text += literal }

        package mutating func appendInterpolation(_ value: String) { text += HTML(escaping: value).text }

        package mutating func appendInterpolation(_ value: Int) { text += String(value) }

        package mutating func appendInterpolation(_ value: HTML) { text += value.text }

        package mutating func appendInterpolation(_ values: [HTML]) { for value in values { text += value.text } }
    }
}
