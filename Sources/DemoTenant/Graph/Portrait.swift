import Foundation

/// A person's profile photo: a portrait that is drawn from a few choices, so that each person looks different.
struct Portrait: Sendable, Hashable {
    enum Hair: Sendable { case bob, long, short, curly }

    /// Colours as 0xRRGGBB.
    var background: UInt32
    var skin: UInt32
    var hairColor: UInt32
    var shirt: UInt32
    var hair: Hair
    var hasGlasses = false
    var hasBeard = false

    /// The side in units of 8 pixels: about as large as on a kiosk.
    private static let blocks = 30
    /// The side in pixels.
    static let side = blocks * 8

    static let adele = Portrait(background: 0xF6C66D, skin: 0xF1C3A2, hairColor: 0x7A3B22, shirt: 0x2B6F77, hair: .bob)
    static let alex = Portrait(
        background: 0x9CC9E8, skin: 0xE3AB82, hairColor: 0x3A2A20, shirt: 0x39508C, hair: .short, hasBeard: true)
    static let nevena = Portrait(
        background: 0xF2B8B0, skin: 0xF6D3B8, hairColor: 0xC9954B, shirt: 0x7B4B94, hair: .long)
    static let mira = Portrait(
        background: 0xA9D6B4, skin: 0xA8704C, hairColor: 0x231A18, shirt: 0xC4573B, hair: .curly, hasGlasses: true)

    /// The picture as JPEG.
    var jpeg: [UInt8] {
        let layers = layers
        return JPEG.encode(blocks: Self.blocks) { x, y in
            let point = SIMD2(Double(x) + 0.5, Double(y) + 0.5)
            let light = Self.color(background) * (1.08 - 0.2 * point.y / 240)
            return layers.reduce(light) { color, layer in
                color + (layer.color - color) * (min(max(0.5 - layer.shape(point), 0), 1) * layer.opacity)
            }
        }
    }

    // MARK: Layers

    /// Returns the distance of a point from the edge in pixels, negative inside.
    private typealias Shape = @Sendable (SIMD2<Double>) -> Double

    private struct Layer {
        var shape: Shape
        var color: SIMD3<Double>
        var opacity = 1.0
    }

    private static func color(_ hex: UInt32) -> SIMD3<Double> {
        SIMD3(Double(hex >> 16 & 0xFF), Double(hex >> 8 & 0xFF), Double(hex & 0xFF))
    }

    /// The layers from back to front, in a square of 240 pixels.
    private var layers: [Layer] {
        let (skin, hairColor, shirt) = (Self.color(skin), Self.color(hairColor), Self.color(shirt))
        let (shade, dark) = (skin * 0.86, Self.color(0x2B2320))
        let head = Self.ellipse(120, 106, 42, 52)
        var layers = hairBehind.map { Layer(shape: $0, color: hairColor * 0.86) }
        layers += [
            Layer(shape: Self.ellipse(120, 262, 92, 84), color: shirt),
            Layer(shape: Self.line(120, 140, 120, 182, 19), color: shade),
            Layer(shape: Self.ellipse(120, 182, 30, 18), color: shade),
            Layer(shape: Self.ellipse(78, 110, 8, 12), color: shade),
            Layer(shape: Self.ellipse(162, 110, 8, 12), color: shade),
            Layer(shape: head, color: skin),
        ]
        if hasBeard {
            let lower = Self.both(head, Self.outside(Self.ellipse(120, 96, 41, 42)))
            layers += [
                Layer(shape: lower, color: hairColor),
                Layer(shape: Self.line(109, 126, 131, 126, 3), color: hairColor),
            ]
        }
        for side in [-1.0, 1.0] {
            layers += [
                Layer(shape: Self.ellipse(120 + side * 25, 122, 10, 7), color: Self.color(0xE8705F), opacity: 0.22),
                Layer(shape: Self.ellipse(120 + side * 17, 104, 4.2, 5.2), color: dark),
                Layer(shape: Self.ellipse(121.5 + side * 17, 102.4, 1.4, 1.6), color: Self.color(0xFFFFFF)),
                Layer(
                    shape: Self.line(120 + side * 11, 89.5, 120 + side * 24, 91, 1.9), color: hairColor * 0.8),
            ]
        }
        layers += [
            Layer(shape: Self.line(120, 112, 117.5, 120, 1.4), color: shade * 0.9),
            // The lower part of a ring.
            Layer(
                shape: Self.both(Self.ring(120, 119, 17, 2), { 131 - $0.y }), color: Self.color(0xA8473F)),
        ]
        layers += hairInFront(of: head).map { Layer(shape: $0, color: hairColor) }
        if hasGlasses {
            layers += [-1.0, 1.0].map { Layer(shape: Self.ring(120 + $0 * 18, 104, 14, 1.7), color: dark) }
            layers.append(Layer(shape: Self.line(116, 101, 124, 101, 1.5), color: dark))
        }
        return layers
    }

    private var hairBehind: [Shape] {
        switch hair {
        case .bob: [Self.ellipse(120, 104, 57, 64), Self.line(78, 112, 78, 150, 16), Self.line(162, 112, 162, 150, 16)]
        case .long:
            [Self.ellipse(120, 100, 55, 60), Self.line(80, 110, 74, 200, 21), Self.line(160, 110, 166, 200, 21)]
        case .short: []
        case .curly:
            (0..<9).map { index in
                let angle = Double.pi * (0.94 + Double(index) * 0.14)
                return Self.ellipse(120 + 46 * cos(angle), 94 + 46 * sin(angle), 19, 19)
            }
        }
    }

    private func hairInFront(of head: @escaping Shape) -> [Shape] {
        let crown: Shape = { head($0) - 5 }
        return switch hair {
        case .bob: [Self.both(crown, Self.outside(Self.ellipse(140, 132, 62, 58)))]
        case .long: [Self.both(crown, Self.outside(Self.ellipse(104, 128, 64, 54)))]
        case .short: [Self.both({ head($0) - 4 }, Self.outside(Self.ellipse(122, 128, 50, 48)))]
        case .curly: [Self.both(crown, Self.outside(Self.ellipse(120, 126, 48, 48)))]
        }
    }

    // MARK: Shapes

    private static func ellipse(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> Shape {
        { point in
            let scaled = SIMD2((point.x - x) / width, (point.y - y) / height)
            let slope = SIMD2(scaled.x / width, scaled.y / height)
            let (length, steepness) = ((scaled * scaled).sum().squareRoot(), (slope * slope).sum().squareRoot())
            return steepness > 0 ? length * (length - 1) / steepness : -min(width, height)
        }
    }

    private static func ring(_ x: Double, _ y: Double, _ radius: Double, _ width: Double) -> Shape {
        let circle = ellipse(x, y, radius, radius)
        return { abs(circle($0)) - width }
    }

    /// A line with round ends.
    private static func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ radius: Double) -> Shape {
        let (start, way) = (SIMD2(x1, y1), SIMD2(x2 - x1, y2 - y1))
        return { point in
            let part = min(max(((point - start) * way).sum() / (way * way).sum(), 0), 1)
            let rest = point - start - way * part
            return (rest * rest).sum().squareRoot() - radius
        }
    }

    private static func both(_ one: @escaping Shape, _ other: @escaping Shape) -> Shape { { max(one($0), other($0)) } }

    private static func outside(_ shape: @escaping Shape) -> Shape { { -shape($0) } }
}
