import TestSupport

@testable import HTTPWire

/// What a parser reports, in a form that does not depend on how the bytes were cut.
enum WireObservation: Equatable {
    case head(bytes: [UInt8], fields: [FieldSlices], layout: HeadLayout)
    case body([UInt8])
    case end
    case failure(WireError)
    /// The bytes end within a request.
    case waiting
}

extension RequestHead {
    var observation: WireObservation { .head(bytes: bytes, fields: fields, layout: layout) }
}

/// A parser's settings in a test: the product's, and others that short inputs can reach.
struct WireSettings {
    var limits = WireLimits()
    var maxBodyBytes = 64 * 1024

    static let product = WireSettings()
    static let narrow: WireSettings = {
        var limits = WireLimits()
        limits.maxHeadBytes = 96
        limits.maxFields = 3
        limits.maxTrailerBytes = 24
        limits.maxChunkLineBytes = 12
        limits.maxChunkExtensionBytes = 10
        return WireSettings(limits: limits, maxBodyBytes: 16)
    }()
}

/// Feeds `bytes` as a connection does, cut at these places, and holds the parser to what it promises about offsets.
func observe(
    _ bytes: [UInt8], cutAt places: [Int], _ settings: WireSettings, heads: (RequestHead) -> Void = { _ in }
) throws(Disagreement) -> [WireObservation] {
    var parser = RequestParser(limits: settings.limits, maxBodyBytes: settings.maxBodyBytes)
    var observations: [WireObservation] = []
    var consumed = 0
    for end in places + [bytes.count] {
        let window = bytes.span.extracting(consumed..<end)
        var offset = 0
        var needsMore = false
        while !needsMore {
            let before = offset
            let event = parser.next(window, at: &offset)
            try hold(before <= offset && offset <= window.count, "The offset stays within what was given")
            switch event {
            case .needMoreBytes: needsMore = true
            case .head(let head, let framing):
                try agree(framing, head.framing, "A head's framing is the event's")
                heads(head)
                observations.append(head.observation)
            case .body(let range):
                try hold(
                    range.lowerBound >= before && range.upperBound == offset && !range.isEmpty,
                    "A body's range is what was consumed last")
                let part = Array(bytes[(consumed + range.lowerBound)..<(consumed + range.upperBound)])
                if case .body(let before) = observations.last {
                    observations[observations.count - 1] = .body(before + part)
                } else {
                    observations.append(.body(part))
                }
            case .end: observations.append(.end)
            case .failure(let error):
                var again = offset
                guard case .failure(error) = parser.next(window, at: &again) else {
                    throw Disagreement(description: "A failure is for ever")
                }
                return observations + [.failure(error)]
            }
        }
        var again = offset
        guard case .needMoreBytes = parser.next(window, at: &again), again == offset else {
            throw Disagreement(description: "Without more bytes nothing more is said")
        }
        consumed += offset
    }
    if parser.isMidRequest || consumed < bytes.count { observations.append(.waiting) }
    return observations
}

/// Whole = byte by byte = random cuts; returns what all of them say.
func observeInEveryCut(
    _ bytes: [UInt8], _ settings: WireSettings, heads: (RequestHead) -> Void = { _ in }
) throws(Disagreement) -> [WireObservation] {
    let whole = try observe(bytes, cutAt: [], settings, heads: heads)
    try agree(try observe(bytes, cutAt: Array(bytes.indices), settings), whole, "Byte by byte = whole")
    var choices = SeededGenerator(bytes)
    for _ in 0..<2 {
        let places = (0..<4).map { _ in Int.random(in: 0...bytes.count, using: &choices) }.sorted()
        try agree(try observe(bytes, cutAt: places, settings), whole, "Cut at \(places) = whole")
    }
    return whole
}
