import CCurl
import Foundation

/// The reason for which there is no response. A response with an error status is not an error here.
public struct HTTPClientError: Error, Equatable, Sendable {
    /// The kind of a failure.
    public enum Kind: String, Sendable, CaseIterable {
        /// The host's (or the proxy's) name does not resolve.
        case nameResolution
        /// No server listens at the address.
        case connectionRefused
        /// The address cannot be reached, or the proxy refused to connect to it.
        case connectionFailed
        /// The connect or total deadline passed.
        case timedOut
        /// The TLS handshake failed or the certificate is not trusted.
        case tls
        /// The response's head or body is larger than its limit.
        case responseTooLarge
        /// The connection ended before the response was complete.
        case connectionClosed
        /// The request cannot be sent, and nothing was sent.
        case invalidRequest
        /// The task was cancelled or the client shut down.
        case cancelled
        /// Something else, for example a response that is not HTTP.
        case other
    }

    /// The kind of the failure.
    public let kind: Kind
    /// One line for a log: the authority and the failure, never a path, a query, a field or a body.
    public let reason: String

    /// Creates a failure, for example to test the code that handles it.
    public init(kind: Kind, reason: String) {
        self.kind = kind
        self.reason = reason
    }

    /// Whether the same request is likely to succeed a little later.
    public var isTransient: Bool {
        switch kind {
        case .nameResolution, .connectionRefused, .connectionFailed, .timedOut, .connectionClosed: true
        case .tls, .responseTooLarge, .invalidRequest, .cancelled, .other: false
        }
    }
}

extension HTTPClientError: CustomStringConvertible {
    /// The kind and the reason.
    public var description: String { "\(kind.rawValue): \(reason)" }
}

extension HTTPClientError {
    /// Creates the error for the failure `code` of a connection of `handle`.
    init(_ code: CURLcode, _ authority: String, _ handle: EasyHandle) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            self.init(kind: .nameResolution, reason: "\(authority): the name does not resolve")
        case CURLE_COULDNT_RESOLVE_PROXY:
            self.init(kind: .nameResolution, reason: "\(authority): the proxy's name does not resolve")
        case CURLE_COULDNT_CONNECT:
            let errno = Int32(truncatingIfNeeded: handle.long(CURLINFO_OS_ERRNO))
            let text = errno == 0 ? "cannot connect" : String(cString: strerror(errno))
            self.init(
                kind: errno == ECONNREFUSED ? .connectionRefused : .connectionFailed,
                reason: "\(authority): \(text)")
        case CURLE_OPERATION_TIMEDOUT:
            self = .timedOut(handle.stage, authority)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
            CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
            self.init(kind: .tls, reason: "\(authority): \(handle.errorMessage ?? Self.text(code))")
        case CURLE_RECV_ERROR where handle.proxyRefusal != nil, CURLE_PROXY:
            let status = handle.proxyRefusal.map { " (status \($0))" } ?? ""
            self.init(kind: .connectionFailed, reason: "\(authority): the proxy refused the connection\(status)")
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR: self = .connectionEnded(authority)
        case CURLE_URL_MALFORMAT:
            self.init(kind: .invalidRequest, reason: "\(authority): the URL is malformed")
        default:
            self.init(kind: .other, reason: "\(authority): \(Self.text(code)) (curl \(code.rawValue))")
        }
    }

    /// Returns the error for a response whose `part`, "head" or "body", is too large.
    static func tooLarge(_ part: String, _ authority: String) -> HTTPClientError {
        HTTPClientError(
            kind: .responseTooLarge, reason: "\(authority): the response's \(part) is larger than its limit")
    }

    static func connectionEnded(_ authority: String) -> HTTPClientError {
        HTTPClientError(
            kind: .connectionClosed, reason: "\(authority): the connection ended before the response was complete")
    }

    static func notHTTP(_ authority: String) -> HTTPClientError {
        HTTPClientError(kind: .other, reason: "\(authority): the answer is not HTTP")
    }

    static func timedOut(_ stage: String, _ authority: String) -> HTTPClientError {
        HTTPClientError(kind: .timedOut, reason: "\(authority): \(stage) took too long")
    }

    static let cancelled = HTTPClientError(kind: .cancelled, reason: "the task was cancelled")
    static let shutDown = HTTPClientError(kind: .cancelled, reason: "the client has been shut down")

    private static func text(_ code: CURLcode) -> String {
        curl_easy_strerror(code).map { String(cString: $0) } ?? "unknown"
    }
}
