#if DEBUG
    import HTTPTypes
    import WebFormats
    @testable import HTTPWire

    /// A parser that reads more than 16 KiB, since the frame comes on top of the pattern.
    private func parser() -> RequestParser {
        var limits = WireLimits()
        limits.maxHeadBytes = 60_000
        return RequestParser(limits: limits, maxBodyBytes: 60_000)
    }

    /// All that a parser makes of some bytes, which come whole or one by one.
    ///
    /// - Parameter next: returns whether there may be more in what has come, and nil after a failure.
    private func feed(_ text: String, byByte: Bool, next: (Span<UInt8>, inout Int) -> Bool?) {
        let bytes = Array(text.utf8)
        var offset = 0
        var end = byByte ? 1 : bytes.count
        while let hasMore = next(bytes.span.extracting(0..<end), &offset) {
            guard !hasMore else { continue }
            guard end < bytes.count else { return }
            end += 1
        }
    }

    private func parse(_ text: String, byByte: Bool = false) {
        var parser = parser()
        feed(text, byByte: byByte) { bytes, offset in
            switch parser.next(bytes, at: &offset) {
            case .failure: nil
            case .needMoreBytes: false
            case .head, .body, .end: true
            }
        }
    }

    private func parseResponse(_ text: String, byByte: Bool = false) {
        var parser = ResponseParser(maxBodyBytes: 60_000)
        feed(text, byByte: byByte) { bytes, offset in
            switch parser.next(bytes, at: &offset) {
            case .failure: return nil
            case .needMoreBytes: return false
            case .head(let head):
                _ = (head[.contentType], head.headerFields)
                return true
            case .body, .end: return true
            }
        }
    }

    /// A head with fields of this value.
    func head(_ names: [String], _ value: String, target: String = "/") throws -> RequestHead {
        let text =
            "GET \(target) HTTP/1.1\r\nHost: a\r\n" + names.map { "\($0): \(value)\r\n" }.joined() + "\r\n"
        var limits = WireLimits()
        limits.maxHeadBytes = 65_535
        var parser = RequestParser(limits: limits)
        var offset = 0
        guard case .head(let head, _) = parser.next(Array(text.utf8).span, at: &offset) else {
            throw WireError.headTooLarge
        }
        return head
    }

    func wireRows() -> [Row] {
        let get = "GET / HTTP/1.1\r\nHost: a\r\n"
        let heads = [
            ("", ""), ("GET /", " HTTP/1.1\r\nHost: a\r\n\r\n"), ("GET http://", "/ HTTP/1.1\r\n\r\n"),
            ("GET /?", " HTTP/1.1\r\nHost: a\r\n\r\n"), ("GET / HTTP/1.1\r\nHost: ", "\r\n\r\n"), (get, "\r\n"),
            (get + "X: ", "\r\n\r\n"), (get + "Connection: ", "\r\n\r\n"), (get + "Expect: ", "\r\n\r\n"),
            (get + "Content-Length: ", "\r\n\r\n"), (get + "Transfer-Encoding: ", "\r\n\r\n"),
        ]
        let bodies = [
            (get + "Transfer-Encoding: chunked\r\n\r\n", ""),
            (get + "Transfer-Encoding: chunked\r\n\r\n1;", "\r\na\r\n"),
            (get + "Transfer-Encoding: chunked\r\n\r\n0\r\n", "\r\n"), (get + "Content-Length: 20000\r\n\r\n", ""),
        ]
        let status = "HTTP/1.1 200 OK\r\n"
        let responses = [
            ("", ""), ("HTTP/1.1 200 ", "\r\n\r\n"), (status, "\r\n\r\n"), (status + "X: ", "\r\n\r\n"),
            (status + "Connection: ", "\r\n\r\n"), (status + "Content-Length: ", "\r\n\r\n"), (status + "\r\n", ""),
            (status + "Transfer-Encoding: chunked\r\n\r\n", ""),
            (status + "Transfer-Encoding: chunked\r\n\r\n0\r\n", "\r\n"),
        ]
        return [
            Row(name: "response", frames: responses) { parseResponse($0) },
            Row(name: "response, byte by byte", frames: responses) { parseResponse($0, byByte: true) },
            Row(name: "request head", frames: heads) { parse($0) },
            Row(name: "request head, byte by byte", frames: heads) { parse($0, byByte: true) },
            Row(name: "request body", frames: bodies) { parse($0) },
            Row(name: "request body, byte by byte", frames: bodies) { parse($0, byByte: true) },
            Row(name: "fields by name") { text in
                let head = try head(["Accept", "Cookie", "Accept"], text)
                _ = (head[.accept], head[.cookie], head.values(for: .accept), head.headerFields)
            },
            Row(name: "cookies", frames: [("", ""), ("companion=", "")]) { text in
                let cookies = RequestCookies(try head(["Cookie"], text))
                _ = (cookies.first("companion") { _ in nil as Never? }, cookies["companion"])
            },
            Row(name: "Accept-Encoding", frames: [("", ""), ("gzip;q=", ""), ("gzip;", ",br")]) { text in
                _ = AcceptEncoding(text).best(of: ContentCoding.allCases)
            },
            Row(name: "conditions", frames: [("", ""), ("\"", "\""), ("W/\"", "")]) { text in
                let tag = Validators(entityTag: EntityTag(strong: "x"), lastModified: HTTPDate(secondsSince1970: 1))
                let now = HTTPDate(secondsSince1970: 2)
                for name in ["If-None-Match", "If-Match", "If-Modified-Since", "If-Unmodified-Since"] {
                    _ = try head([name], text).evaluatePreconditions(tag, now: now)
                }
            },
            Row(name: "ranges", frames: [("", ""), ("bytes=", ""), ("bytes=1", ""), ("bytes=-", "")]) { text in
                let tag = Validators(entityTag: EntityTag(strong: "x"), lastModified: HTTPDate(secondsSince1970: 1))
                let now = HTTPDate(secondsSince1970: 2)
                _ = try head(["Range"], text).byteRange(length: 100, validators: tag, now: now)
                _ = try head(["Range", "If-Range"], text).byteRange(length: 100, validators: tag, now: now)
            },
        ]
    }
#endif
