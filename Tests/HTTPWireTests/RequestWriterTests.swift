import HTTPTypes
import Testing

@testable import HTTPWire

@Suite("Requests that are written")
struct RequestWriterTests {
    private func writer(
        _ method: HTTPRequest.Method = .get, _ target: String = "/me", host: String = "a", fields: HTTPFields = [:]
    ) throws(RequestWriter.Problem) -> RequestWriter {
        try RequestWriter(method: method, target: target, host: host, headerFields: fields)
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `a request is written with its fixed fields and those that are added each time`() throws {
        let writer = try writer(host: "graph.example:8443", fields: [.accept: "", .userAgent: "companion"])
        #expect(
            text(try writer.request(adding: [.authorization: "Bearer t"]))
                == "GET /me HTTP/1.1\r\nHost: graph.example:8443\r\nAccept:\r\nUser-Agent: companion\r\n"
                + "Authorization: Bearer t\r\n\r\n")
        #expect(text(try writer.request()).hasSuffix("User-Agent: companion\r\n\r\n"))
    }

    @Test func `a body comes behind its length, also an empty one`() throws {
        let writer = try writer(.post, fields: [.contentType: "a/b"])
        let head = "POST /me HTTP/1.1\r\nHost: a\r\nContent-Type: a/b\r\n"
        #expect(text(try writer.request(body: Array("a=1\r\n".utf8))) == "\(head)Content-Length: 5\r\n\r\na=1\r\n")
        #expect(text(try writer.request(body: [])) == "\(head)Content-Length: 0\r\n\r\n")
        #expect(text(try writer.request()) == "\(head)\r\n")
    }

    @Test func `our own server reads what was written`() throws {
        let written = try writer(.head, "/a?b=%0A", fields: [.accept: "x"]).request(adding: [.cookie: "a=1"])
        var parser = RequestParser()
        var offset = 0
        guard case .head(let head, .none) = parser.next(written.span, at: &offset) else {
            Issue.record("There is a head")
            return
        }
        #expect(offset == written.count)
        #expect(head.method == .head && head.target == "/a?b=%0A" && head.host == "a")
        #expect(head.headerFields.map { "\($0.name.rawName)=\($0.value)" } == ["Host=a", "Accept=x", "Cookie=a=1"])
    }

    @Test(arguments: ["a\r\nEvil: 1", "a\nb", "a\rb", "a\0b", "a\u{7F}", "\u{1}"])
    func `a value with a control character never reaches the wire`(_ value: String) throws {
        let made = HTTPField(name: .authorization, lenientValue: Array(value.utf8))
        let fields = HTTPFields([made])
        let plain = try writer()
        // HTTPTypes replaces what ends a line; all else is refused here.
        let isReplaced = made.withUnsafeBytesOfValue { $0.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
        if isReplaced {
            #expect(text(try plain.request(adding: fields)).split(separator: "\r\n").count == 3)
        } else {
            #expect(throws: RequestWriter.Problem.invalidValue(.authorization)) { try plain.request(adding: fields) }
            #expect(throws: RequestWriter.Problem.invalidValue(.authorization)) { try writer(fields: fields) }
        }
    }

    @Test(arguments: [
        "Host", "content-length", "Transfer-Encoding", "Connection", "Expect", "Upgrade", "TE", "Trailer",
    ])
    func `a field that frames the message is refused`(_ name: String) throws {
        let name = try #require(HTTPField.Name(name))
        let plain = try writer()
        #expect(throws: RequestWriter.Problem.reserved(name)) { try plain.request(adding: [name: "1"]) }
        #expect(throws: RequestWriter.Problem.reserved(name)) { try writer(fields: [name: "1"]) }
    }

    @Test(arguments: ["", "me", "/a b", "/a#b", "/a\r\nb", "/\u{E9}", "http://a/", "*"])
    func `a target that is not a path is refused`(_ target: String) {
        #expect(throws: RequestWriter.Problem.invalidTarget) { try writer(.get, target) }
    }

    @Test(arguments: ["", "a b", "a\r\nb", "u@a", "a/b", "a:x", "[::1"])
    func `an invalid host is refused`(_ host: String) {
        #expect(throws: RequestWriter.Problem.invalidHost) { try writer(host: host) }
    }

    @Test func `CONNECT is refused`() {
        #expect(throws: RequestWriter.Problem.invalidMethod) { try writer(.connect) }
    }
}
