import Foundation
import WebFormats

/// The organiser's colour on a kiosk's pages. It has enough contrast with white, both as a background and as text.
package struct KioskColor: Sendable, Equatable {
    /// The minimum contrast between text and background (WCAG 2.2, success criterion 1.4.3).
    static let leastContrast = 4.5

    /// Red, green and blue in sRGB, each from 0 to 1.
    private struct RGB: Equatable {
        var red, green, blue: Double

        /// The “relative luminance” of WCAG 2.2.
        private var luminance: Double {
            func linear(_ part: Double) -> Double {
                part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
        }

        /// Returns the “contrast ratio” of WCAG 2.2.
        func contrast(with other: RGB) -> Double {
            let (lighter, darker) = (max(luminance, other.luminance), min(luminance, other.luminance))
            return (lighter + 0.05) / (darker + 0.05)
        }

        /// - Parameter share: the proportion of the other colour, from 0 to 1.
        func mixed(with other: RGB, _ share: Double) -> RGB {
            func mix(_ own: Double, _ others: Double) -> Double { own * (1 - share) + others * share }
            return RGB(
                red: mix(red, other.red), green: mix(green, other.green), blue: mix(blue, other.blue))
        }

        var text: String {
            "#" + Hex.encode([red, green, blue].map { UInt8(($0 * 255).rounded()) })
        }
    }

    private static let white = RGB(red: 1, green: 1, blue: 1)
    /// The dark surface of `companion.css`, `#1c1c1f`.
    private static let dark = RGB(red: 28.0 / 255, green: 28.0 / 255, blue: 31.0 / 255)

    private let color: RGB

    /// - Parameter text: `#` and six hexadecimal digits; the result is nil for anything else.
    init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "#"), text.utf8.count == 7,
            text.utf8.dropFirst().allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let number = Int(text.dropFirst(), radix: 16)
        else { return nil }
        func part(_ shift: Int) -> Double { Double(number >> shift & 0xFF) / 255 }
        color = RGB(red: part(16), green: part(8), blue: part(0))
    }

    /// The contrast with white, from 1 to 21.
    var contrast: Double { color.contrast(with: KioskColor.white) }

    /// The form in the configuration.
    package var text: String { color.text }

    /// The colours of `companion.css` that depend on this one. In dark mode it is lightened until text is readable.
    package var styleSheet: String {
        let (white, dark) = (KioskColor.white, KioskColor.dark)
        var light = color
        for share in stride(from: 0, through: 1, by: 0.05) {
            light = color.mixed(with: white, share)
            if light.contrast(with: dark) >= 5.5 { break }
        }
        func rule(_ accent: RGB, soft: RGB, walls: [RGB]) -> String {
            let walls = walls.enumerated().map { "--wall-\($0 + 1):\($1.text);" }.joined()
            return ":root{--accent:\(accent.text);--accent-soft:\(soft.text);\(walls)}"
        }
        let day = rule(
            color, soft: color.mixed(with: white, 0.88),
            walls: [0.86, 0.74, 0.9].map { color.mixed(with: white, $0) })
        let night = rule(
            light, soft: dark.mixed(with: color, 0.3), walls: [0.16, 0.06, 0.22].map { dark.mixed(with: color, $0) })
        return "\(day)\n@media screen and (prefers-color-scheme: dark){\(night)}\n"
    }
}
