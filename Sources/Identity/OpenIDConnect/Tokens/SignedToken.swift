import WebFormats

/// A JWS in compact form (RFC 7515 section 7.1), parsed strictly. Its signature is not checked yet.
struct SignedToken {
    /// `alg`, from the allow-list.
    let algorithm: SigningAlgorithm
    /// `kid`
    let keyID: String?
    /// The claims. Before the signature is checked, they may only be compared.
    let payload: JSONValue
    let payloadText: String
    /// The signed bytes: the first two parts, unchanged.
    let signingInput: [UInt8]
    let signature: [UInt8]

    /// The size of the largest token that is read.
    static let maxBytes = 65536

    /// The kind of token in `typ`, which is optional (RFC 8725 section 3.11: one kind must not pass as another).
    enum Kind {
        case identity, logout

        func admits(_ type: String) -> Bool {
            switch self {
            case .identity: type == "jwt"
            case .logout: type == "logout+jwt" || type == "jwt"
            }
        }
    }

    init(parsing token: String, type kind: Kind = .identity) throws(OpenIDError) {
        let bytes = Array(token.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard bytes.count <= Self.maxBytes, parts.count == 3, let headerBytes = Base64URL.decode(parts[0]),
            let payloadBytes = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2]),
            let header = JSONValue(parsing: headerBytes), header.object != nil,
            let payload = JSONValue(parsing: payloadBytes), payload.object != nil,
            let payloadText = String(validating: payloadBytes, as: UTF8.self),
            let algorithmName = header["alg"]?.string
        else { throw OpenIDError(.malformed) }
        // RFC 7515 section 4.1.11: a token with an unknown extension must be refused.
        guard header["crit"] == nil, header["typ"].map({ kind.admits($0.string?.lowercased() ?? "") }) ?? true else {
            throw OpenIDError(.malformed)
        }
        switch header["kid"] {
        case nil: keyID = nil
        case .string(let id): keyID = id
        default: throw OpenIDError(.malformed)
        }
        guard let algorithm = SigningAlgorithm(rawValue: algorithmName) else { throw OpenIDError(.algorithm) }
        self.algorithm = algorithm
        self.payload = payload
        self.payloadText = payloadText
        self.signature = signature
        signingInput = Array(bytes[..<parts[1].endIndex])
    }
}
