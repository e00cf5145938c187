import Foundation

/// Encodes small drawings as baseline JPEG (ITU-T T.81), the type of Graph's photos.
///
/// The Huffman codes have a fixed length, so that no table of code lengths is needed. Drawings with few edges stay small all
/// the same.
struct JPEG {
    private static let blockSide = 8
    /// The quantization step of each coefficient, in zigzag order: fine for low frequencies, coarse for high ones.
    private static let steps: [UInt8] = zigzag.map { UInt8(3 + 2 * ($0.row + $0.column)) }
    /// The values of the AC codes: the number of zeros before a coefficient, and the coefficient's size in bits.
    private static let alternatingValues: [UInt8] =
        [0x00, 0xF0] + (0..<160).map { (index: Int) -> UInt8 in UInt8((index / 10) << 4 | (index % 10 + 1)) }
    /// The values of the DC codes: the size of the difference in bits.
    private static let directValues = (0..<12).map(UInt8.init)
    /// The waves of the discrete cosine transform, by frequency.
    private static let waves: [[Double]] = (0..<blockSide).map { (frequency: Int) -> [Double] in
        let height: Double = frequency == 0 ? 0.125.squareRoot() : 0.5
        return (0..<blockSide).map { (position: Int) -> Double in
            height * cos(Double((2 * position + 1) * frequency) * Double.pi / 16)
        }
    }

    /// The positions of a block's coefficients, from low to high frequencies.
    private static let zigzag: [(row: Int, column: Int)] = (0..<15).flatMap { sum in
        let rows = Array(max(0, sum - 7)...min(sum, 7))
        return (sum.isMultiple(of: 2) ? rows.reversed() : rows).map { (row: $0, column: sum - $0) }
    }

    private var bytes: [UInt8] = []
    private var bits: UInt32 = 0
    private var bitCount = 0

    /// Returns a square picture.
    ///
    /// - Parameters:
    ///   - blocks: the length of a side, in units of 8 pixels; at most 255.
    ///   - color: returns red, green and blue at a column and a row, from 0 to 255.
    static func encode(blocks: Int, color: (Int, Int) -> SIMD3<Double>) -> [UInt8] {
        var encoder = JPEG()
        encoder.writeHead(side: UInt16(clamping: blocks * blockSide))
        var previous = SIMD3<Int>.zero
        for row in 0..<blocks {
            for column in 0..<blocks {
                let samples = (0..<64).map { index in
                    components(of: color(column * blockSide + index % 8, row * blockSide + index / 8))
                }
                for component in 0..<3 {
                    let coefficients = transformed(samples.map { $0[component] })
                    encoder.write(coefficients, after: previous[component])
                    previous[component] = coefficients.first ?? 0
                }
            }
        }
        encoder.write(0x7F, count: 7)
        return encoder.bytes + [0xFF, 0xD9]
    }

    /// Returns luminance and the two chrominances (JFIF), around 0.
    private static func components(of color: SIMD3<Double>) -> SIMD3<Double> {
        let luminance = 0.299 * color.x + 0.587 * color.y + 0.114 * color.z
        return SIMD3(luminance - 128, (color.z - luminance) / 1.772, (color.x - luminance) / 1.402)
    }

    /// Returns the quantized coefficients of a block, in zigzag order.
    private static func transformed(_ samples: [Double]) -> [Int] {
        func strength(of wave: [Double], in line: [Double]) -> Double { zip(wave, line).reduce(0) { $0 + $1.0 * $1.1 } }
        let lines = (0..<8).map { row in Array(samples.dropFirst(row * 8).prefix(8)) }
        // By horizontal frequency, one value for each line.
        let horizontal = waves.map { wave in lines.map { strength(of: wave, in: $0) } }
        return zip(zigzag, steps).map { place, step in
            Int((strength(of: waves[place.row], in: horizontal[place.column]) / Double(step)).rounded())
        }
    }

    private mutating func writeHead(side: UInt16) {
        let length = [UInt8(side >> 8), UInt8(side & 0xFF)]
        bytes += [0xFF, 0xD8]
        segment(0xE0, Array("JFIF".utf8) + [0, 1, 1, 0, 0, 1, 0, 1, 0, 0])
        segment(0xDB, [0] + Self.steps)
        // Three components, none of them at a lower resolution.
        segment(0xC0, [8] + length + length + [3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0])
        segment(0xC4, [0x00] + Self.counts(Self.directValues, bits: 4) + Self.directValues)
        segment(0xC4, [0x10] + Self.counts(Self.alternatingValues, bits: 8) + Self.alternatingValues)
        segment(0xDA, [3, 1, 0, 2, 0, 3, 0, 0, 63, 0])
    }

    /// Returns the number of codes of each length, from 1 to 16 bits.
    private static func counts(_ values: [UInt8], bits: Int) -> [UInt8] {
        (1...16).map { $0 == bits ? UInt8(values.count) : 0 }
    }

    private mutating func segment(_ marker: UInt8, _ content: [UInt8]) {
        let length = UInt16(content.count + 2)
        bytes += [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + content
    }

    private mutating func write(_ coefficients: [Int], after previous: Int) {
        let (size, extra) = Self.coded((coefficients.first ?? 0) - previous)
        write(UInt32(size), count: 4)
        write(extra, count: size)
        var zeros = 0
        for coefficient in coefficients.dropFirst() {
            guard coefficient != 0 else {
                zeros += 1
                continue
            }
            while zeros > 15 {
                write(1, count: 8)
                zeros -= 16
            }
            let (size, extra) = Self.coded(coefficient)
            // The place of the value in `alternatingValues`.
            write(UInt32(1 + zeros * 10 + size), count: 8)
            write(extra, count: size)
            zeros = 0
        }
        if zeros > 0 { write(0, count: 8) }
    }

    /// Returns the number of bits of a value, and these bits (section F.1.2.1).
    private static func coded(_ value: Int) -> (size: Int, bits: UInt32) {
        let size = Int.bitWidth - value.magnitude.leadingZeroBitCount
        return (size, UInt32(value < 0 ? value + (1 << size) - 1 : value))
    }

    private mutating func write(_ value: UInt32, count: Int) {
        bits = bits << UInt32(count) | value
        bitCount += count
        while bitCount >= 8 {
            bitCount -= 8
            let byte = UInt8(bits >> UInt32(bitCount) & 0xFF)
            bytes.append(byte)
            // A byte that could begin a marker is followed by a zero.
            if byte == 0xFF { bytes.append(0) }
        }
    }
}
