import COpenSSL

/// One client's connection: between a socket, which stays its owner's, and the plain bytes.
///
/// Its calls never block, and a worker may make them from any thread, one after another.
public struct TLSSession: ~Copyable {
    /// The end of a call.
    public enum Outcome: Sendable, Equatable {
        /// The buffer is full, or everything is sent.
        case done
        /// The socket has nothing to read.
        case wantsInput
        /// The socket has no room.
        case wantsRoom
        /// The client has ended its half.
        case ended
        /// The connection is of no use any more.
        case failed
        /// The client speaks plain HTTP. Nothing was sent.
        case isPlainHTTP
    }

    private let session: OpaquePointer
    /// OpenSSL asks it for the keys of tickets.
    private let context: TLSContext

    /// - Parameter descriptor: A connected socket that does not block.
    /// - Returns: nil without memory.
    public init?(_ context: TLSContext, descriptor: Int32) {
        guard let session = ctls_session_new(context.context, descriptor) else { return nil }
        self.session = session
        self.context = context
    }

    deinit { ctls_session_free(session) }

    /// Reads until the buffer is full or the socket is empty, and shakes hands first where that is due.
    ///
    /// - Parameter isLast: Whether the client's end is known to follow. Otherwise a short read has emptied the socket.
    /// - Returns: How many bytes were read, which count whatever the outcome.
    public func read(into buffer: UnsafeMutableRawBufferPointer, isLast: Bool) -> (count: Int, outcome: Outcome) {
        var outcome = ctls_done
        let count = ctls_session_read(session, buffer.baseAddress, buffer.count, isLast ? 1 : 0, &outcome)
        return (count, Outcome(outcome))
    }

    /// Writes until everything is sent or the socket is full. After that, the next call has to begin with the rest.
    ///
    /// - Returns: How many bytes were taken; nil when the connection is gone.
    public func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var outcome = ctls_done
        let count = ctls_session_write(session, bytes.baseAddress, bytes.count, &outcome)
        return outcome == ctls_done || outcome == ctls_wants_write ? count : nil
    }

    /// Tells the client that nothing more comes (close_notify), once. Not to be called while a write waits.
    public func shutdown() { ctls_session_shutdown(session) }
}

extension TLSSession.Outcome {
    fileprivate init(_ outcome: ctls_outcome) {
        switch outcome {
        case ctls_done: self = .done
        case ctls_wants_read: self = .wantsInput
        case ctls_wants_write: self = .wantsRoom
        case ctls_ended: self = .ended
        case ctls_is_plain_http: self = .isPlainHTTP
        default: self = .failed
        }
    }
}
