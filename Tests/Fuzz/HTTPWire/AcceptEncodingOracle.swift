import Foundation

@testable import HTTPWire

/// The input is an Accept-Encoding field.
@Sendable func checkAcceptEncoding(_ input: [UInt8]) throws(Disagreement) {
    let field = String(decoding: input, as: UTF8.self)
    let codings = AcceptEncoding(field)
    let offers: [[ContentCoding]] = [[.brotli, .gzip], [.gzip, .brotli], [.brotli], [.gzip], []]
    for offered in offers {
        let best = codings.best(of: offered)
        try hold(best.map(offered.contains) ?? true, "A coding is one of those offered")
        guard input.allSatisfy({ $0 < 0x80 }) else { continue }
        try agree(best, bestAgain(of: offered, weightsAgain(field)), "A reader with regular expressions, of \(offered)")
    }
    guard input.allSatisfy({ $0 < 0x80 }) else { return }
    try agree(AcceptEncoding("," + field + " ,"), codings, "Empty members count for nothing")
    try agree(AcceptEncoding(field.uppercased()), codings, "Names ignore case")
}

/// RFC 9110 §12.5.3 and §12.4.2: the first 16 members that are not empty; of a name twice, the last.
private func weightsAgain(_ field: String) -> [String: Double] {
    var weights: [String: Double] = [:]
    for member in field.split(separator: ",").prefix(16) {
        let parts = member.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        let weight = parts.dropFirst().first.map {
            $0.wholeMatch(of: /[ \t]*q=(0(\.\d{0,3})?|1(\.0{0,3})?)[ \t]*/.ignoresCase())
        }
        if case .some(nil) = weight { continue }
        let name = parts[0].trimmingCharacters(in: CharacterSet(charactersIn: " \t")).lowercased()
        weights[name == "x-gzip" ? "gzip" : name] = weight?.flatMap { Double($0.1) } ?? 1
    }
    return weights
}

private func bestAgain(of offered: [ContentCoding], _ weights: [String: Double]) -> ContentCoding? {
    func weight(_ coding: ContentCoding) -> Double { weights[coding.rawValue] ?? weights["*"] ?? 0 }
    let wanted = offered.filter { weight($0) > 0 && weight($0) >= weights["identity"] ?? 0 }
    return wanted.max { weight($0) < weight($1) }
}
