/// The reason why a certificate cannot be used.
public enum TLSError: Error, Equatable, CustomStringConvertible {
    /// OpenSSL cannot be set up. This is a mistake of the installation.
    case unavailable
    /// The chain has a part that is no certificate, or its first one is not strong enough.
    case invalidCertificate(reason: String)
    /// The private key cannot be read, has a password, or belongs to another certificate.
    case invalidKey(reason: String)

    /// A sentence for a log.
    public var description: String {
        switch self {
        case .unavailable: "OpenSSL could not be set up"
        case .invalidCertificate(let reason): "the certificate cannot be used: \(reason)"
        case .invalidKey(let reason): "the private key cannot be used with this certificate: \(reason)"
        }
    }
}
