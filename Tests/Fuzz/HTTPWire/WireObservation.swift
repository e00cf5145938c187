import TestSupport

@testable import HTTPWire

/// A parser's report, in a form that does not depend on how the bytes were cut.
enum WireObservation: Equatable {
    case head(bytes: [UInt8], fields: [FieldSlices], layout: HeadLayout)
    case body([UInt8])
    case end
    case failure(WireError)
    /// The bytes end within a message, or some are left behind it.
    case waiting
    /// The head of a response.
    case response(ResponseHead.Observation)
    /// The bytes end with a response that the connection's end completes.
    case completeWhenClosed
    /// A law that does not hold.
    case unexpected(String)
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

/// The last event of a parser, with the observation of a head.
enum WireEvent {
    case needMoreBytes, head(WireObservation), body(Range<Int>), end, failure(WireError)
}

/// The parsers of requests and of responses, which promise the same about offsets.
protocol ObservedParser {
    mutating func nextEvent(_ bytes: Span<UInt8>, at offset: inout Int) -> WireEvent
    /// The last observation, when the bytes have ended.
    var atEnd: WireObservation? { get }
}

/// Feeds `bytes` as a connection does, cut at these places, and holds the parser to what it promises about offsets.
func observe(
    _ bytes: [UInt8], cutAt places: [Int], with parser: any ObservedParser
) throws(Disagreement) -> [WireObservation] {
    var parser = parser
    var observations: [WireObservation] = []
    var consumed = 0
    for end in places + [bytes.count] {
        let window = bytes.span.extracting(consumed..<end)
        var offset = 0
        var needsMore = false
        while !needsMore {
            let before = offset
            let event = parser.nextEvent(window, at: &offset)
            try hold(before <= offset && offset <= window.count, "The offset stays within what was given")
            switch event {
            case .needMoreBytes: needsMore = true
            case .head(.unexpected(let law)): throw Disagreement(description: law)
            case .head(let head): observations.append(head)
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
                guard case .failure(error) = parser.nextEvent(window, at: &again) else {
                    throw Disagreement(description: "A failure is for ever")
                }
                return observations + [.failure(error)]
            }
        }
        var again = offset
        guard case .needMoreBytes = parser.nextEvent(window, at: &again), again == offset else {
            throw Disagreement(description: "Without more bytes nothing more is said")
        }
        consumed += offset
    }
    if let last = parser.atEnd {
        observations.append(last)
    } else if consumed < bytes.count {
        observations.append(.waiting)
    }
    return observations
}

/// Whole = byte by byte = random cuts; returns what all of them say.
func observeInEveryCut(_ bytes: [UInt8], with parser: any ObservedParser) throws(Disagreement) -> [WireObservation] {
    let whole = try observe(bytes, cutAt: [], with: parser)
    try agree(try observe(bytes, cutAt: Array(bytes.indices), with: parser), whole, "Byte by byte = whole")
    var choices = SeededGenerator(bytes)
    for _ in 0..<2 {
        let places = (0..<4).map { _ in Int.random(in: 0...bytes.count, using: &choices) }.sorted()
        try agree(try observe(bytes, cutAt: places, with: parser), whole, "Cut at \(places) = whole")
    }
    return whole
}

// MARK: Requests

private struct ObservedRequests: ObservedParser {
    var parser: RequestParser

    init(_ settings: WireSettings) {
        parser = RequestParser(limits: settings.limits, maxBodyBytes: settings.maxBodyBytes)
    }

    mutating func nextEvent(_ bytes: Span<UInt8>, at offset: inout Int) -> WireEvent {
        switch parser.next(bytes, at: &offset) {
        case .needMoreBytes: .needMoreBytes
        case .head(let head, let framing):
            framing == head.framing ? .head(head.observation) : .head(.unexpected("A head's framing is the event's"))
        case .body(let range): .body(range)
        case .end: .end
        case .failure(let error): .failure(error)
        }
    }

    var atEnd: WireObservation? { parser.isMidRequest ? .waiting : nil }
}

/// The observation of the request parser for `bytes`, cut at these places.
func observe(
    _ bytes: [UInt8], cutAt places: [Int], _ settings: WireSettings
) throws(Disagreement) -> [WireObservation] {
    try observe(bytes, cutAt: places, with: ObservedRequests(settings))
}

/// The same for every cut; `heads` gets those of the whole.
func observeInEveryCut(
    _ bytes: [UInt8], _ settings: WireSettings, heads: (RequestHead) -> Void = { _ in }
) throws(Disagreement) -> [WireObservation] {
    let said = try observeInEveryCut(bytes, with: ObservedRequests(settings))
    for case .head(let bytes, let fields, let layout) in said {
        heads(RequestHead(bytes: bytes, fields: fields, layout: layout))
    }
    return said
}
