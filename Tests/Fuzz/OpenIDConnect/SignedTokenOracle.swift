import FoundationEssentials
import HTTPTypes
import WebFormats

@testable import OpenIDConnect

/// The input is a token; or, on three lines, header and payload before they are encoded, and a signature.
@Sendable func checkSignedToken(_ input: [UInt8]) throws(Disagreement) {
    let parts = lines(input)
    let text =
        parts.count == 3
        ? parts.map { Base64URL.encode($0) }.joined(separator: ".") : String(decoding: input, as: UTF8.self)
    for kind in [SignedToken.Kind.identity, .logout] {
        guard let token = try? SignedToken(parsing: text, type: kind) else { continue }
        let written =
            String(decoding: token.signingInput, as: UTF8.self) + "." + Base64URL.encode(token.signature)
        try agree(Array(written.utf8), Array(text.utf8), "A token has one spelling")
        let pieces = text.utf8.split(separator: UInt8(ascii: "."))
        try agree(
            Base64URL.encode(token.payloadText.utf8), String(decoding: pieces[1], as: UTF8.self), "So has its payload")
        try agree(JSONValue(parsing: Array(token.payloadText.utf8)), token.payload, "The payload is its text")
        let header = Base64URL.decode(pieces[0]).flatMap { JSONValue(parsing: $0) }
        try agree(header?["alg"]?.string, token.algorithm.rawValue, "The algorithm is the header's")
        try agree(header?["kid"]?.string, token.keyID, "The key is the header's")
        try checkClaims(token)
        try checkSignature(token, text)
    }
}

private func checkClaims(_ token: SignedToken) throws(Disagreement) {
    guard let claims = try? IDTokenClaims(token) else { return }
    try agree(claims.issuer, token.payload["iss"]?.string, "The issuer")
    try agree(claims.json, token.payloadText, "The claims are the payload")
    try hold(!claims.fallbackAccountID.isEmpty, "Every account has a key")
    for date in [claims.expiresOn, claims.issuedAt, claims.notBefore].compactMap({ $0 }) {
        try hold(date.addingTimeInterval(IDTokenChecks.leeway) > date, "A date can be added to")
    }
    for rule in IssuerRule.samples where rule.fault(of: claims) == nil {
        try hold(rule.mayBe(claims.issuer), "A token's issuer may be a callback's: \(claims.issuer)")
    }
}

/// No token is signed but those that were: the corpus has one, and its mutations are none.
private func checkSignature(_ token: SignedToken, _ text: String) throws(Disagreement) {
    for key in SigningKey.samples {
        let isValid = key.isValidSignature(token.signature, of: token.signingInput, algorithm: token.algorithm)
        try hold(!isValid || SampleProvider.signedTokens.contains(text), "A token that nobody signed: \(text)")
    }
}
