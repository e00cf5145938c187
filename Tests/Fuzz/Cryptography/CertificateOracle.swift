import Cryptography

extension FuzzTarget {
    static let ofCryptography = [FuzzTarget(name: "certificates", check: checkCertificate)]
}

/// The input as DER, and as a PEM text: what is read comes back from what is written.
@Sendable private func checkCertificate(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    if let certificate = try? Certificate(der: input) {
        try agree(certificate.der, input, "a certificate has one DER")
        try check(certificate)
    }
    if let certificate = try? Certificate(pem: text) { try check(certificate) }
    for key in [PrivateKey(der: input), PrivateKey(pem: text)].compactMap(\.self) {
        try agree(PrivateKey(pem: key.pem)?.publicKey, key.publicKey, "PKCS #8 comes back")
        try agree(PrivateKey(der: key.traditionalDER)?.publicKey, key.publicKey, "PKCS #1 and SEC 1 come back")
        try check(key.publicKey)
    }
    if let key = PublicKey(pem: text) { try check(key) }
}

private func check(_ certificate: Certificate) throws {
    try hold((try? Certificate(pem: certificate.pem)) == certificate, "a certificate comes back from PEM")
    _ = (certificate.subject, certificate.issuer, certificate.start, certificate.end)
    if let key = certificate.publicKey {
        try check(key)
        _ = certificate.isSigned(by: key)
    }
}

private func check(_ key: PublicKey) throws {
    try agree(PublicKey(pem: key.pem), key, "SPKI comes back")
    switch key.kind {
    case .rsa:
        try hold(key.modulus.count >= 256 && key.x.isEmpty, "an RSA key has 2048 bits")
        try agree(PublicKey(modulus: key.modulus, exponent: key.exponent), key, "the numbers of an RSA key are the key")
    case .p256: try agree(PublicKey(x: key.x, y: key.y), key, "the coordinates of a point are the key")
    }
}
