import Synchronization

/// The certificate that a server uses now. Another one can take its place while the server runs: connections that are open
/// keep theirs.
public final class ServerCertificate: Sendable {
    private let tickets = TicketKeys()
    private let current: Mutex<TLSContext>

    /// - Parameters:
    ///   - chain: PEM, the server's certificate first, then those that issued it.
    ///   - privateKey: PEM, without a password.
    public init(chain: [UInt8], privateKey: [UInt8]) throws(TLSError) {
        current = Mutex(try TLSContext(certificateChain: chain, privateKey: privateKey, tickets: tickets))
    }

    /// Uses another one for connections from now on. Where it throws, the one before stays.
    public func replace(chain: [UInt8], privateKey: [UInt8]) throws(TLSError) {
        let next = try TLSContext(certificateChain: chain, privateKey: privateKey, tickets: tickets)
        current.withLock { $0 = next }
    }

    /// For the next connection.
    public var context: TLSContext { current.withLock { $0 } }
}
