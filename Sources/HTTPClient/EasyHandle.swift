import CCurl

/// One of libcurl's easy handles, used for one transfer after the other, or for one connection. Confined to its worker.
///
/// What is the same for every transfer is set once; `prepare` sets all that may differ, so that nothing of one
/// transfer reaches the next.
final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    private(set) var transfer: Transfer?
    /// The connection that the handle makes and holds, if it is used for one.
    weak var connection: DirectConnection?
    private var fields: UnsafeMutablePointer<curl_slist>?
    private let message: UnsafeMutablePointer<CChar>

    /// Nil when libcurl has no memory or does not know an option that safety depends on.
    init?(_ configuration: HTTPClient.Configuration) {
        guard let raw = curl_easy_init() else { return nil }
        self.raw = raw
        message = .allocate(capacity: Int(CURL_ERROR_SIZE))
        message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        let me = Unmanaged.passUnretained(self).toOpaque()
        let codes = [
            ccurl_set_long(raw, CURLOPT_NOSIGNAL, 1),
            ccurl_set_string(raw, CURLOPT_PROTOCOLS_STR, "http,https"),
            ccurl_set_string(raw, CURLOPT_REDIR_PROTOCOLS_STR, "http,https"),
            ccurl_set_long(raw, CURLOPT_FOLLOWLOCATION, 0),
            ccurl_set_long(raw, CURLOPT_SSL_VERIFYPEER, 1),
            ccurl_set_long(raw, CURLOPT_SSL_VERIFYHOST, 2),
            ccurl_set_long(raw, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            ccurl_set_long(raw, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)),
            // The path goes out as it came in: no dot segments taken out.
            ccurl_set_long(raw, CURLOPT_PATH_AS_IS, 1),
            ccurl_set_long(raw, CURLOPT_DISALLOW_USERNAME_IN_URL, 1),
            // Our fields (a bearer token) go to the server, not to the proxy.
            ccurl_set_long(raw, CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE)),
            ccurl_set_long(raw, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
            // All encodings that this libcurl knows; what the write callback gets is decoded.
            ccurl_set_string(raw, CURLOPT_ACCEPT_ENCODING, ""),
            ccurl_set_string(raw, CURLOPT_USERAGENT, configuration.userAgent),
            ccurl_set_long(raw, CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.timeoutMilliseconds),
            ccurl_set_long(raw, CURLOPT_TCP_KEEPALIVE, 1),
            // A second address family is tried soon: a service often listens on one of localhost's two only.
            ccurl_set_long(raw, CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, 50),
            // Ending a transfer whose name is still being resolved must not wait for getaddrinfo, which would hold
            // the worker for as long as a dead name server lets it: the resolver's thread is let go instead.
            ccurl_set_long(raw, CURLOPT_QUICK_EXIT, 1),
            ccurl_set_pointer(raw, CURLOPT_PRIVATE, me),
            ccurl_set_pointer(raw, CURLOPT_ERRORBUFFER, message),
            ccurl_set_pointer(raw, CURLOPT_HEADERDATA, me),
            ccurl_set_pointer(raw, CURLOPT_WRITEDATA, me),
            ccurl_set_write_callback(raw, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
                EasyHandle.receive(bytes, size * count, context) { $0.receiveFieldLine($1) }
            },
            ccurl_set_write_callback(raw, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
                EasyHandle.receive(bytes, size * count, context) { $0.receiveBody($1) }
            },
            configuration.certificateAuthorityFile.map { ccurl_set_string(raw, CURLOPT_CAINFO, $0) } ?? CURLE_OK,
        ]
        guard codes.allSatisfy({ $0 == CURLE_OK }) else { return nil }
    }

    deinit {
        curl_easy_cleanup(raw)
        curl_slist_free_all(fields)
        message.deallocate()
    }

    /// The handle that libcurl's `easy` belongs to.
    static func owning(_ easy: UnsafeMutableRawPointer) -> EasyHandle? {
        var me: UnsafeMutableRawPointer?
        guard ccurl_get_pointer(easy, CURLINFO_PRIVATE, &me) == CURLE_OK, let me else { return nil }
        return Unmanaged<EasyHandle>.fromOpaque(me).takeUnretainedValue()
    }

    /// Sets everything that differs between transfers; answers the first refusal.
    func prepare(_ transfer: Transfer) -> CURLcode {
        let request = transfer.request
        self.transfer = transfer
        message.pointee = 0
        for line in request.fieldLines {
            guard let longer = curl_slist_append(fields, line) else { return CURLE_OUT_OF_MEMORY }
            fields = longer
        }
        var codes = [
            ccurl_set_string(raw, CURLOPT_URL, request.url),
            ccurl_set_headers(raw, fields),
            ccurl_set_long(raw, CURLOPT_TIMEOUT_MS, transfer.timeout.timeoutMilliseconds),
            // Over TLS, wait whether the connection being made can carry this transfer too.
            ccurl_set_long(raw, CURLOPT_PIPEWAIT, request.isSecure ? 1 : 0),
            // Back to GET, from whatever the last transfer was.
            ccurl_set_long(raw, CURLOPT_HTTPGET, 1),
            ccurl_set_string(raw, CURLOPT_CUSTOMREQUEST, request.method.rawValue),
        ]
        if request.hasBody {
            codes.append(ccurl_set_long(raw, CURLOPT_POST, 1))
            codes.append(ccurl_set_off_t(raw, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count)))
            codes.append(
                request.body.withUnsafeBytes { bytes in
                    bytes.baseAddress.map {
                        ccurl_set_pointer(raw, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0))
                    } ?? ccurl_set_string(raw, CURLOPT_COPYPOSTFIELDS, "")
                })
        } else if request.method == .head {
            codes.append(ccurl_set_long(raw, CURLOPT_NOBODY, 1))
        }
        return codes.first { $0 != CURLE_OK } ?? CURLE_OK
    }

    /// Sets what makes a connection and nothing else, within `timeout`; returns the first refusal.
    func prepareConnection(to origin: String, timeout: Duration) -> CURLcode {
        let codes = [
            ccurl_set_string(raw, CURLOPT_URL, origin + "/"),
            ccurl_set_long(raw, CURLOPT_CONNECT_ONLY, 1),
            // ALPN offers nothing else.
            ccurl_set_long(raw, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            // Whatever the environment says by now: a proxy would be sent what is for the server.
            ccurl_set_string(raw, CURLOPT_PROXY, ""),
            ccurl_set_long(raw, CURLOPT_TIMEOUT_MS, timeout.timeoutMilliseconds),
        ]
        return codes.first { $0 != CURLE_OK } ?? CURLE_OK
    }

    /// The descriptor of the connection that was made.
    var socket: Int32? {
        var descriptor = CURL_SOCKET_BAD
        guard ccurl_get_socket(raw, CURLINFO_ACTIVESOCKET, &descriptor) == CURLE_OK else { return nil }
        return descriptor == CURL_SOCKET_BAD ? nil : descriptor
    }

    /// Drops what belongs to the transfer, secrets among it.
    func clear() {
        transfer = nil
        _ = ccurl_set_headers(raw, nil)
        _ = ccurl_set_pointer(raw, CURLOPT_COPYPOSTFIELDS, nil)
        curl_slist_free_all(fields)
        fields = nil
    }

    private static func receive(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ body: (Transfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let context,
            let transfer = Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue().transfer
        else { return 0 }
        // Answering less than there was ends the transfer.
        return body(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : Int(CURL_WRITEFUNC_ERROR)
    }
}

extension EasyHandle {
    func long(_ info: CURLINFO) -> Int {
        var value = 0
        return ccurl_get_long(raw, info, &value) == CURLE_OK ? value : 0
    }

    /// One of libcurl's times, which it counts in microseconds.
    private func time(_ info: CURLINFO) -> Duration {
        var microseconds: curl_off_t = 0
        return ccurl_get_off_t(raw, info, &microseconds) == CURLE_OK ? .microseconds(microseconds) : .zero
    }

    var timings: HTTPClientResponse.Timings {
        HTTPClientResponse.Timings(
            nameResolved: time(CURLINFO_NAMELOOKUP_TIME_T), connected: time(CURLINFO_CONNECT_TIME_T),
            secured: time(CURLINFO_APPCONNECT_TIME_T), firstByte: time(CURLINFO_STARTTRANSFER_TIME_T),
            total: time(CURLINFO_TOTAL_TIME_T), connectionReused: long(CURLINFO_NUM_CONNECTS) == 0)
    }

    /// How far the transfer got, for a time-out's text.
    var stage: String {
        if time(CURLINFO_NAMELOOKUP_TIME_T) == .zero { return "resolving the name" }
        if time(CURLINFO_CONNECT_TIME_T) == .zero { return "connecting" }
        if time(CURLINFO_PRETRANSFER_TIME_T) == .zero { return "the TLS handshake" }
        return time(CURLINFO_STARTTRANSFER_TIME_T) == .zero ? "the answer" : "the rest of the answer"
    }

    /// The status with which a proxy refused CONNECT.
    var proxyRefusal: Int? {
        let status = long(CURLINFO_HTTP_CONNECTCODE)
        return status == 0 || (200..<300).contains(status) ? nil : status
    }

    /// libcurl's own words; used for TLS only, where they name the certificate's fault and hold nothing of a request.
    var errorMessage: String? {
        message.pointee == 0 ? nil : String(cString: message)
    }
}

extension Duration {
    /// Whole milliseconds, at least one: libcurl takes zero for "never".
    fileprivate var timeoutMilliseconds: Int {
        let (seconds, attoseconds) = components
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        guard !milliseconds.overflow else { return seconds < 0 ? 1 : Int(Int32.max) }
        return Int(min(max(milliseconds.partialValue + attoseconds / 1_000_000_000_000_000, 1), Int64(Int32.max)))
    }
}
