import HTTPTypes
import Testing

@testable import HTTPWire

@Suite("A request's head")
struct RequestHeadTests {
    @Test func `fields are found by name in any case, joined or line by line`() throws {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .accept, value: "text/html"))
        fields.append(HTTPField(name: .accept, value: "*/*"))
        fields.append(HTTPField(name: .userAgent, value: "tests"))
        let head = try RequestHead(method: .post, target: "/a?b=c", headerFields: fields)
        #expect(head.method == .post)
        #expect(head.path == "/a")
        #expect(head.query == "b=c")
        #expect(head.host == "localhost")
        #expect(head.version == .http11)
        #expect(head[.accept] == "text/html, */*")
        #expect(head.values(for: .accept) == ["text/html", "*/*"])
        let shouting = try #require(HTTPField.Name("USER-AGENT"))
        #expect(head[shouting] == "tests")
        #expect(head.contains(.userAgent))
        #expect(!head.contains(.cookie))
        #expect(head[.cookie] == nil)
        #expect(head.values(for: .cookie).isEmpty)
        #expect(head.headerFields[.userAgent] == "tests")
        #expect(head.headerFields.count == 4)
    }

    @Test func `names that differ in the case bit of a character that is no letter are different`() throws {
        let caret = try #require(HTTPField.Name("a^b"))
        let tilde = try #require(HTTPField.Name("a~b"))
        let head = try RequestHead(target: "/", headerFields: [caret: "1"])
        #expect(head[caret] == "1")
        #expect(head[tilde] == nil)
    }

    @Test func `a value's bytes beyond ASCII are replaced in a string and kept in the fields`() throws {
        let field = HTTPField(name: .userAgent, value: [0x61, 0xC3, 0xA9, 0xFF])
        let head = try RequestHead(target: "/", headerFields: HTTPFields([field]))
        #expect(head[.userAgent] == "a\u{FFFD}\u{FFFD}\u{FFFD}")
        #expect(head.values(for: .userAgent) == ["a\u{FFFD}\u{FFFD}\u{FFFD}"])
        let kept = try #require(head.headerFields.first { $0.name == .userAgent })
        #expect(kept.withUnsafeBytesOfValue { Array($0) } == [0x61, 0xC3, 0xA9, 0xFF])
    }

    @Test(
        arguments: [
            ("", WireError.invalidRequestLine), ("a b", .invalidVersion), ("/#", .invalidTarget),
            ("/ HTTP/1.1\r\nX: y\r\n\r\n", .missingHost), ("/ HTTP/1.1\r\nX: y", .invalidTarget),
            ("/ HTTP/1.1\r\nHost: a\r\n\r\n", .invalidTarget),
        ])
    func `a head made in memory is refused where the parser would refuse it`(_ target: String, _ error: WireError) {
        #expect(throws: error) { try RequestHead(target: target) }
    }

    @Test func `the limit of the body is taken when the body begins`() {
        let request = Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello".utf8)
        var parser = RequestParser(maxBodyBytes: 0)
        var offset = 0
        guard case .head(let head, .length(5)) = parser.next(request.span, at: &offset) else {
            Issue.record("no head")
            return
        }
        #expect(head.framing == .length(5))
        #expect(parser.isMidRequest)
        parser.maxBodyBytes = 5
        guard case .body(let range) = parser.next(request.span, at: &offset) else {
            Issue.record("no body")
            return
        }
        #expect(request[range].elementsEqual("hello".utf8))
        guard case .end = parser.next(request.span, at: &offset) else {
            Issue.record("no end")
            return
        }
        #expect(offset == request.count)
        #expect(!parser.isMidRequest)
    }

    @Test func `after a failure the parser returns only the failure`() {
        let request = Array("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        var parser = RequestParser()
        var offset = 0
        for _ in 0..<3 {
            guard case .failure(.missingHost) = parser.next(request.span, at: &offset) else {
                Issue.record("no failure")
                return
            }
        }
        #expect(!parser.isMidRequest)
    }

    @Test(arguments: WireError.allCases)
    func `every error has a client's or a server's status and a sentence`(_ error: WireError) {
        #expect([400, 413, 414, 431, 501, 505].contains(error.status.code))
        #expect(error.reason.hasSuffix("."))
        #expect(WireError.allCases.count { $0.reason == error.reason } == 1)
    }
}
