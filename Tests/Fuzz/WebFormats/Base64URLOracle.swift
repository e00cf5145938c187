import Foundation

@testable import WebFormats

/// The input is a text in base64url. Foundation reads it in the other alphabet.
@Sendable func checkBase64URL(_ input: [UInt8]) throws(Disagreement) {
    try agree(Base64URL.decode(Base64URL.encode(input).utf8), input, "Bytes that are written come back")
    var base64 = input.map { byte in
        switch byte {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): UInt8(ascii: "!")
        default: byte
        }
    }
    base64 += Array(repeating: UInt8(ascii: "="), count: (4 - base64.count % 4) % 4)
    let theirs = Data(base64Encoded: Data(base64)).map { [UInt8]($0) }
    guard let ours = Base64URL.decode(input) else {
        // Foundation forgives bits left over.
        try hold(theirs.map { Array(Base64URL.encode($0).utf8) != input } ?? true, "Foundation reads what we refuse")
        return
    }
    try agree(Array(Base64URL.encode(ours).utf8), input, "A value has one spelling")
    try agree(theirs, ours, "Foundation reads the same")
}
