import HTTPTypes
import WebFormats

@testable import OpenIDConnect

/// The input is a key set's document.
@Sendable func checkKeySet(_ input: [UInt8]) throws(Disagreement) {
    let set: SigningKeySet
    do {
        set = try SigningKeySet(parsing: SampleProvider.answer(input), now: SampleProvider.now)
    } catch {
        try agree(error.code, .invalidMetadata, "A key set is refused as one", unless: .providerUnavailable)
        return
    }
    let listed = JSONValue(parsing: input)?["keys"]?.array ?? []
    try hold(set.keys.count <= listed.count && !set.keys.isEmpty, "Keys come from the document")
    var rest = listed[...]
    for key in set.keys {
        try hold(!key.algorithms.isEmpty, "A key is good for an algorithm")
        // In the document's order.
        rest = rest.drop { $0["kid"]?.string != key.id || $0["issuer"]?.string != key.issuer }
        try hold(!rest.isEmpty, "A key is one of the document's")
        if set.keys.count == listed.count { try checkStrength(rest.first, key) }
        rest = rest.dropFirst()
        for algorithm in SigningAlgorithm.allCases {
            for signature in [[], Array(repeating: UInt8(0), count: 64), Array(repeating: 0, count: 255) + [1]] {
                try hold(
                    !key.isValidSignature(signature, of: Array("a.b".utf8), algorithm: algorithm),
                    "Nothing is signed by \(signature.count) zeros")
            }
        }
        let found = try? set.key(id: key.id, algorithm: key.algorithms.first ?? .rs256)
        try hold(found != nil || key.id == nil && set.keys.count > 1, "A key is found by its ID")
    }
}

private func checkStrength(_ jwk: JSONValue?, _ key: SigningKey) throws(Disagreement) {
    guard let jwk, jwk["kty"]?.string == "RSA" else {
        try agree(key.algorithms, [.es256], "Keys that are not RSA's are P-256's")
        return
    }
    let modulus = (jwk["n"]?.string?.utf8).flatMap(Base64URL.decode)?.drop { $0 == 0 } ?? []
    try hold(modulus.count >= 256, "An RSA key has 2048 bits at least")
    let exponent = (jwk["e"]?.string?.utf8).flatMap(Base64URL.decode) ?? []
    try hold(exponent.drop { $0 == 0 } != [1] && (exponent.last ?? 0) & 1 == 1, "Its exponent is odd and not 1")
}

private func agree(
    _ code: OpenIDError.Code, _ expected: OpenIDError.Code, _ law: String, unless other: OpenIDError.Code
) throws(Disagreement) {
    if code != other { try agree(code, expected, law) }
}
