/// The profile photo of all accounts: a simple figure on a blue background, drawn once.
enum Photo {
    /// The side length in pixels, about as large as on a kiosk.
    private static let side = 240
    /// The number of intermediate colours at an edge, which smooth it.
    private static let steps = 16

    /// A PNG (RFC 2083) with a palette and one byte per pixel, stored without compression.
    static let png: [UInt8] = {
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let size = bigEndian(UInt32(side))
        bytes += chunk("IHDR", size + size + [8, 3, 0, 0, 0])
        bytes += chunk("PLTE", palette)
        bytes += chunk("IDAT", zlibStored(scanLines()))
        bytes += chunk("IEND", [])
        return bytes
    }()

    /// The colours from the background to the face, then from the background to the shoulders.
    private static let palette: [UInt8] = {
        let background: [Int] = [0x2B, 0x57, 0x97]
        return [[0xF3, 0xD9, 0xC4], [0x1C, 0x3A, 0x66]].flatMap { color in
            (0...steps).flatMap { step in
                zip(background, color).map { UInt8($0 + ($1 - $0) * step / steps) }
            }
        }
    }()

    private static func scanLines() -> [UInt8] {
        var lines: [UInt8] = []
        for y in 0..<side {
            lines.append(0)
            for x in 0..<side { lines.append(color(x, y)) }
        }
        return lines
    }

    /// Returns a pixel's index in the palette, which depends on how much of it each of two circles covers.
    private static func color(_ x: Int, _ y: Int) -> UInt8 {
        let face = coverage(x, y, centerX: 120, centerY: 92, radius: 48)
        if face > 0 { return UInt8(face) }
        let shoulders = coverage(x, y, centerX: 120, centerY: 248, radius: 92)
        return shoulders > 0 ? UInt8(steps + 1 + shoulders) : 0
    }

    /// Returns the number of a pixel's 16 sample points inside the circle.
    private static func coverage(_ x: Int, _ y: Int, centerX: Int, centerY: Int, radius: Int) -> Int {
        var count = 0
        for row in 0..<4 {
            for column in 0..<4 {
                // The coordinates are in eighths of a pixel, at the centres of the points.
                let (dx, dy) = (8 * (x - centerX) + 2 * column + 1, 8 * (y - centerY) + 2 * row + 1)
                if dx * dx + dy * dy <= 64 * radius * radius { count += 1 }
            }
        }
        return count
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let content = Array(type.utf8) + data
        return bigEndian(UInt32(data.count)) + content + bigEndian(crc(content))
    }

    /// Wraps stored blocks (RFC 1951 §3.2.4) in the format of RFC 1950.
    private static func zlibStored(_ data: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [0x78, 0x01]
        var rest = data[...]
        while !rest.isEmpty {
            let block = rest.prefix(0xFFFF)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            bytes.append(rest.isEmpty ? 1 : 0)
            for value in [length, ~length] { bytes += [UInt8(value & 0xFF), UInt8(value >> 8)] }
            bytes += block
        }
        return bytes + bigEndian(adler(data))
    }

    private static func adler(_ data: [UInt8]) -> UInt32 {
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in data {
            a = (a + UInt32(byte)) % 65521
            b = (b + a) % 65521
        }
        return b << 16 | a
    }

    private static func crc(_ data: [UInt8]) -> UInt32 {
        var value = UInt32.max
        for byte in data {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
        }
        return ~value
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }
}
