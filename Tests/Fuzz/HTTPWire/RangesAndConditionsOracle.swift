import Foundation
import HTTPTypes
import WebFormats

@testable import HTTPWire

/// The lines of the input: Range, If-Range, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, the
/// resource's entity tag, its length. An empty line is a field that is not sent.
@Sendable func checkRangesAndConditions(_ input: [UInt8]) throws(Disagreement) {
    let lines = lines(input).map { String(decoding: $0, as: UTF8.self) }
    let names: [HTTPField.Name] = [.range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince]
    var fields = HTTPFields()
    for (name, value) in zip(names, lines) where !value.isEmpty { fields[name] = value }
    let tag = lines.dropFirst(6).first.flatMap { EntityTag($0) }
    let length = lines.dropFirst(7).first.flatMap { UInt16($0) }.map(Int.init) ?? 100
    let validators = Validators(entityTag: tag, lastModified: HTTPDate(secondsSince1970: 784_111_777))
    guard let head = try? RequestHead(target: "/", headerFields: fields) else { return }

    try checkRange(head, validators, length)
    try checkConditions(head, validators)
    for value in lines {
        try checkTags(value)
    }
}

private let now = HTTPDate(secondsSince1970: 1_800_000_000)

private func checkRange(_ head: RequestHead, _ validators: Validators, _ length: Int) throws(Disagreement) {
    let outcome = head.byteRange(length: length, validators: validators, now: now)
    var isFresh = true
    if let condition = head[.ifRange] {
        let isTag = validators.entityTag.map { !$0.isWeak && Array($0.text.utf8) == Array(condition.utf8) } ?? false
        isFresh = isTag || EntityTag(condition) == nil && head.date(.ifRange, now: now) == validators.lastModified
    }
    let expected = isFresh ? head[.range].map { rangeAgain($0, length) } ?? .whole : .whole
    try agree(outcome, expected, "The range is RFC 9110's §14.1.2")
    guard case .part(let range) = outcome else { return }
    try hold(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= length, "A part lies within the resource")
    let written = "\(range.lowerBound)-\(range.upperBound - 1)"
    for text in ["bytes=\(written)", "BYTES= \(written) "] {
        let again = try? RequestHead(target: "/", headerFields: [.range: text])
        let outcomeAgain = again?.byteRange(length: length, validators: validators, now: now)
        try agree(outcomeAgain, outcome, "A range that is written comes back")
    }
}

/// One range, by splitting.
private func rangeAgain(_ text: String, _ length: Int) -> ByteRangeOutcome {
    let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard halves.count == 2, halves[0].lowercased() == "bytes", text.utf8.allSatisfy({ $0 < 0x80 }) else {
        return .whole
    }
    let range = halves[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
    let ends = range.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, ends.allSatisfy({ $0.allSatisfy { "0123456789".contains($0) } }) else { return .whole }
    // A position that is too large for a number lies beyond any resource.
    let numbers = ends.map { $0.isEmpty ? nil : Int($0) ?? .max }
    switch (numbers[0], numbers[1]) {
    case (nil, nil): return .whole
    case (nil, let suffix?):
        return suffix == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - suffix)..<length)
    case (let first?, let last):
        if let last, last < first { return .whole }
        guard first < length else { return .unsatisfiable }
        return .part(first..<(min(last ?? length, length - 1) + 1))
    }
}

/// The order of RFC 9110 §13.2.2.
private func checkConditions(_ head: RequestHead, _ validators: Validators) throws(Disagreement) {
    let outcome = head.evaluatePreconditions(validators, now: now)
    let modified = validators.lastModified ?? now
    let expected: PreconditionOutcome
    let matches = head[.ifMatch].map { names($0, validators.entityTag, weakly: false) }
    let matchesNone = head[.ifNoneMatch].map { !names($0, validators.entityTag, weakly: true) }
    let isUnmodified = head.date(.ifUnmodifiedSince, now: now).map { modified <= $0 }
    let isModified = head.date(.ifModifiedSince, now: now).map { modified > $0 }
    if !(matches ?? isUnmodified ?? true) {
        expected = .preconditionFailed
    } else if !(matchesNone ?? isModified ?? true) {
        expected = .notModified
    } else {
        expected = .proceed
    }
    try agree(outcome, expected, "The conditions are evaluated in the RFC's order")
}

private func names(_ list: String, _ tag: EntityTag?, weakly: Bool) -> Bool {
    switch EntityTagList(list) {
    case .any: return true
    case nil: return false
    case .tags(let tags):
        guard let tag else { return false }
        return tags.contains { other in
            Array(other.opaque.utf8) == Array(tag.opaque.utf8) && (weakly || !other.isWeak && !tag.isWeak)
        }
    }
}

private func checkTags(_ text: String) throws(Disagreement) {
    if let tag = EntityTag(text) {
        try agree(Array(tag.text.utf8), Array(text.utf8), "A tag is its text")
        if !tag.isWeak { try agree(EntityTag(strong: tag.opaque), tag, "A strong tag can be made of what it holds") }
        try hold(tag.weaklyMatches(tag) && tag.stronglyMatches(tag) == !tag.isWeak, "A tag matches itself")
    }
    guard case .tags(let tags) = EntityTagList(text) else { return }
    let written = ", ," + tags.map(\.text).joined(separator: "\t,") + " "
    guard case .tags(let again) = EntityTagList(written) else {
        throw Disagreement(description: "A list of tags that is written is one: \(written)")
    }
    try agree(again.map(\.text), tags.map(\.text), "A list of tags that is written comes back")
}
