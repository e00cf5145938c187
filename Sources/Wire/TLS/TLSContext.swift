import COpenSSL

/// A certificate with its private key, and how a server speaks TLS with them: 1.2 and 1.3, with forward secrecy, for
/// HTTP/1.1 alone (ALPN, RFC 7301).
///
/// `@unchecked Sendable`: OpenSSL counts the references to a context, and nothing changes it after its initialiser.
public final class TLSContext: @unchecked Sendable {
    let context: OpaquePointer
    private let tickets: TicketKeys

    /// - Parameters:
    ///   - certificateChain: PEM, the server's certificate first, then those that issued it.
    ///   - privateKey: PEM, without a password.
    ///   - tickets: The keys of session tickets; the same for each context of a server.
    public init(certificateChain: [UInt8], privateKey: [UInt8], tickets: TicketKeys) throws(TLSError) {
        guard let context = ctls_context_new(TicketKeys.answer, Unmanaged.passUnretained(tickets).toOpaque()) else {
            throw .unavailable
        }
        self.context = context
        self.tickets = tickets
        if let reason = Self.use(certificateChain, ctls_context_use_chain, context) {
            throw .invalidCertificate(reason: reason)
        }
        if let reason = Self.use(privateKey, ctls_context_use_key, context) { throw .invalidKey(reason: reason) }
    }

    deinit { ctls_context_free(context) }

    /// - Returns: Why it cannot be used.
    private static func use(
        _ pem: [UInt8], _ function: (OpaquePointer, UnsafePointer<CChar>, Int32) -> UInt, _ context: OpaquePointer
    ) -> String? {
        let code = pem.withUnsafeBytes { bytes -> UInt in
            guard let start = bytes.bindMemory(to: CChar.self).baseAddress else { return 1 }
            return function(context, start, Int32(clamping: bytes.count))
        }
        return code == 0 ? nil : String(cString: ctls_reason(code))
    }
}
