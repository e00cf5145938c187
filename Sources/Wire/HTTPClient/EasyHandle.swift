import CCurl
import Foundation

/// One of libcurl's easy handles, which opens one connection and owns it. Confined to its worker.
final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    weak var connection: OutgoingConnection?
    private let message: UnsafeMutablePointer<CChar>
    private let sessions: TLSSessions
    /// libcurl does not copy the list.
    private let connectsTo: UnsafeMutablePointer<curl_slist>?

    /// Creates a handle; nil when libcurl has no memory or does not support an option that is needed for safety.
    init?(_ configuration: HTTPClient.Configuration, sharing sessions: TLSSessions) {
        guard let raw = curl_easy_init() else { return nil }
        self.raw = raw
        self.sessions = sessions
        message = .allocate(capacity: Int(CURL_ERROR_SIZE))
        message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        // For every host and every port.
        connectsTo = configuration.connectsTo.flatMap { curl_slist_append(nil, "::\($0)") }
        let codes = [
            ccurl_set_long(raw, CURLOPT_NOSIGNAL, 1),
            ccurl_set_long(raw, CURLOPT_CONNECT_ONLY, 1),
            ccurl_set_string(raw, CURLOPT_PROTOCOLS_STR, "http,https"),
            ccurl_set_long(raw, CURLOPT_SSL_VERIFYPEER, 1),
            ccurl_set_long(raw, CURLOPT_SSL_VERIFYHOST, 2),
            ccurl_set_long(raw, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            // ALPN only offers HTTP/1.1.
            ccurl_set_long(raw, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            ccurl_set_long(raw, CURLOPT_DISALLOW_USERNAME_IN_URL, 1),
            // A proxy must tunnel, for http too: bytes on the connection are for the server only.
            ccurl_set_long(raw, CURLOPT_HTTPPROXYTUNNEL, 1),
            ccurl_set_long(raw, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
            ccurl_set_string(raw, CURLOPT_USERAGENT, configuration.userAgent),
            ccurl_set_long(raw, CURLOPT_TCP_KEEPALIVE, 1),
            // The second address family is tried soon: a service often listens on only one of localhost's two
            // addresses.
            ccurl_set_long(raw, CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, 50),
            // Ending a transfer whose name is still being resolved must not wait for getaddrinfo, which would block the
            // worker for as long as a dead name server does: the resolver's thread is abandoned instead.
            ccurl_set_long(raw, CURLOPT_QUICK_EXIT, 1),
            ccurl_set_pointer(raw, CURLOPT_SHARE, sessions.raw),
            ccurl_set_pointer(raw, CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque()),
            ccurl_set_pointer(raw, CURLOPT_ERRORBUFFER, message),
            // It takes the place of the system's file; the system's folder, which has the same certificates, stays.
            configuration.certificateAuthorityFile.map { ccurl_set_string(raw, CURLOPT_CAINFO, $0) } ?? CURLE_OK,
            connectsTo.map { ccurl_set_pointer(raw, CURLOPT_CONNECT_TO, $0) } ?? CURLE_OK,
        ]
        guard codes.allSatisfy({ $0 == CURLE_OK }) else { return nil }
    }

    deinit {
        curl_easy_cleanup(raw)
        curl_slist_free_all(connectsTo)
        message.deallocate()
    }

    /// Returns the handle for libcurl's `easy`.
    static func owning(_ easy: UnsafeMutableRawPointer) -> EasyHandle? {
        var me: UnsafeMutableRawPointer?
        guard ccurl_get_pointer(easy, CURLINFO_PRIVATE, &me) == CURLE_OK, let me else { return nil }
        return Unmanaged<EasyHandle>.fromOpaque(me).takeUnretainedValue()
    }

    /// Sets the origin to connect to and the time limit. Returns the first error.
    func prepare(for origin: String, within time: Duration) -> CURLcode {
        let code = ccurl_set_string(raw, CURLOPT_URL, origin + "/")
        return code == CURLE_OK ? ccurl_set_long(raw, CURLOPT_CONNECTTIMEOUT_MS, time.timeoutMilliseconds) : code
    }

    /// Whether libcurl would use a proxy, or check `no_proxy`. It reads the same variables.
    static var environmentNamesProxy: Bool {
        ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains {
            getenv($0 as String).map { $0.pointee != 0 } ?? false
        }
    }

    /// The descriptor of the open connection.
    var socket: Int32? {
        var descriptor = CURL_SOCKET_BAD
        guard ccurl_get_socket(raw, CURLINFO_ACTIVESOCKET, &descriptor) == CURLE_OK else { return nil }
        return descriptor == CURL_SOCKET_BAD ? nil : descriptor
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        return ccurl_get_long(raw, info, &value) == CURLE_OK ? value : 0
    }

    /// The stage that the connection reached, for the text of a timeout.
    var stage: String {
        func isAhead(_ info: CURLINFO) -> Bool {
            var microseconds: curl_off_t = 0
            return ccurl_get_off_t(raw, info, &microseconds) != CURLE_OK || microseconds == 0
        }
        if isAhead(CURLINFO_NAMELOOKUP_TIME_T) { return "resolving the name" }
        return isAhead(CURLINFO_CONNECT_TIME_T) ? "connecting" : "the TLS handshake"
    }

    /// The status with which a proxy refused CONNECT, if it did.
    var proxyRefusal: Int? {
        let status = long(CURLINFO_HTTP_CONNECTCODE)
        return status == 0 || (200..<300).contains(status) ? nil : status
    }

    /// libcurl's error message. It is used for TLS only, where it names the certificate's fault and contains nothing of
    /// a request.
    var errorMessage: String? {
        message.pointee == 0 ? nil : String(cString: message)
    }
}

extension Duration {
    /// The duration in whole milliseconds, at least one: libcurl takes zero for "never".
    fileprivate var timeoutMilliseconds: Int {
        let (seconds, attoseconds) = components
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        guard !milliseconds.overflow else { return seconds < 0 ? 1 : Int(Int32.max) }
        return Int(min(max(milliseconds.partialValue + attoseconds / 1_000_000_000_000_000, 1), Int64(Int32.max)))
    }
}
