import HTTPWire

/// Answers the requests of one connection. `receive` returns the next bytes of a socket, a pipe or a test, and nil when the
/// client has closed; `send` writes bytes there.
func serve(receive: () -> [UInt8]?, send: ([UInt8]) -> Void) {
    let writer = ResponseWriter(commonFields: [.contentType: "text/plain; charset=utf-8"])
    var parser = RequestParser(maxBodyBytes: 1024)
    var (request, body, unread): (RequestHead?, [UInt8], [UInt8]) = (nil, [], [])

    func answer(_ response: Response, _ persistence: Persistence) {
        var bytes: [UInt8] = []
        writer.appendHead(
            status: response.status, headerFields: response.headerFields, contentLength: response.body.count,
            to: &bytes, date: [], persistence: persistence)
        send(request?.method == .head ? bytes : bytes + response.body)
        request = nil
    }

    while let received = receive() {
        unread += received
        var offset = 0
        parsing: while true {
            switch parser.next(unread.span, at: &offset) {
            case .needMoreBytes: break parsing
            case .head(let head, _):
                (request, body) = (head, [])
                if head.expectsContinue { send(ResponseWriter.continueResponse) }
            case .body(let part): body += unread[part]
            case .end:
                guard let head = request else { return }
                let text = "\(head.path): \(body.count) bytes\n"
                answer(Response(status: .ok, body: Array(text.utf8)), Persistence(for: head))
                if !head.keepAlive { return }
            case .failure(let error):
                return answer(Response(status: error.status, body: Array("\(error.reason)\n".utf8)), .close)
            }
        }
        unread.removeFirst(offset)
    }
}
