import COpenSSL

/// The content of a server's certificate chain, for people who put it into use. The server itself needs none of it.
public struct CertificateFacts: Sendable, Equatable {
    /// The time in which it is valid, in seconds since 1970.
    public let validity: ClosedRange<Int64>
    /// The names and addresses that it is for, with commas; cut where there are very many.
    public let names: String
    /// Whether it is for the host.
    public let isForHost: Bool
    /// OpenSSL's reason why the chain leads to no authority that this machine trusts; nil if it does. The time does not matter.
    public let distrust: String?

    /// - Parameters:
    ///   - chain: PEM, the server's certificate first, then those that issued it.
    ///   - host: A name, or an address; of IPv6 with or without brackets.
    /// - Throws: where it cannot be read.
    public init(chain: [UInt8], host: String) throws(TLSError) {
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        var facts = ctls_certificate_facts()
        let code = chain.withUnsafeBytes { bytes -> UInt in
            guard let start = bytes.bindMemory(to: CChar.self).baseAddress else { return 1 }
            return ctls_read_facts(start, Int32(clamping: bytes.count), name, &facts)
        }
        guard code == 0 else { throw .invalidCertificate(reason: String(cString: ctls_reason(code))) }
        validity = facts.not_before...max(facts.not_before, facts.not_after)
        names = withUnsafeBytes(of: facts.names) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        isForHost = facts.is_for_host != 0
        distrust = facts.distrust.map { String(cString: $0) }
    }
}
