import HTTPTypes
import Testing
import WebFormats

@testable import HTTPWire

@Suite("Answers")
struct ResponseWriterTests {
    static let date = HTTPDate(secondsSince1970: 784_111_777).bytes

    /// The head of `response`.
    private func text(
        _ response: Response, writer: ResponseWriter = ResponseWriter(), persistence: Persistence = .keepAlive,
        date: [UInt8] = date
    ) -> String {
        var output: [UInt8] = []
        writer.appendHead(
            status: response.status, headerFields: response.headerFields, contentLength: response.body.count,
            to: &output, date: date, persistence: persistence)
        return String(decoding: output, as: UTF8.self)
    }

    @Test func `a head is written with its status, fields, length and date`() {
        let response = Response(
            status: .ok, headerFields: [.contentType: "text/plain"], body: Array("hello".utf8))
        #expect(
            text(response)
                == "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n"
                + "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n")
    }

    @Test func `an empty body has a length of 0`() {
        #expect(text(Response(status: .seeOther), date: []) == "HTTP/1.1 303 See Other\r\nContent-Length: 0\r\n\r\n")
    }

    @Test(arguments: [101, 204, 304])
    func `1xx, 204 and 304 have neither body nor length`(_ code: Int) {
        let response = Response(status: .init(code: code), body: Array("hello".utf8))
        #expect(text(response, date: []) == "HTTP/1.1 \(code) \r\n\r\n")
        #expect(!ResponseWriter.mayHaveBody(response.status))
    }

    @Test func `the head says whether the connection stays open`() throws {
        let response = Response(status: .ok)
        #expect(text(response, persistence: .close, date: []).hasSuffix("\r\nConnection: close\r\n\r\n"))
        #expect(text(response, persistence: .keepAliveHTTP10, date: []).hasSuffix("\r\nConnection: keep-alive\r\n\r\n"))
        #expect(!text(response, date: []).contains("Connection"))
        #expect(Persistence(for: try RequestHead(target: "/")) == .keepAlive)
        #expect(Persistence(for: try RequestHead(target: "/", headerFields: [.connection: "close"])) == .close)
    }

    @Test func `framing fields of the application are left out`() {
        var fields: HTTPFields = [
            .contentLength: "99", .transferEncoding: "chunked", .connection: "upgrade", .date: "yesterday",
        ]
        fields[.vary] = "Cookie"
        #expect(
            text(Response(status: .ok, headerFields: fields), date: [])
                == "HTTP/1.1 200 OK\r\nVary: Cookie\r\nContent-Length: 0\r\n\r\n")
    }

    @Test func `common fields are on every answer that does not set them itself`() {
        let writer = ResponseWriter(commonFields: [
            .xContentTypeOptions: "nosniff", .cacheControl: "no-store", .connection: "x",
        ])
        #expect(
            text(Response(status: .ok), writer: writer, date: [])
                == "HTTP/1.1 200 OK\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"
                + "Content-Length: 0\r\n\r\n")
        #expect(
            text(Response(status: .ok, headerFields: [.cacheControl: "max-age=1"]), writer: writer, date: [])
                == "HTTP/1.1 200 OK\r\nCache-Control: max-age=1\r\nX-Content-Type-Options: nosniff\r\n"
                + "Content-Length: 0\r\n\r\n")
    }

    @Test func `several Set-Cookie lines stay several`() {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .setCookie, value: "a=1"))
        fields.append(HTTPField(name: .setCookie, value: "b=2"))
        #expect(
            text(Response(status: .ok, headerFields: fields), date: [])
                == "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n")
    }

    @Test(
        arguments: ["a\r\nSet-Cookie: evil=1", "a\nb", "a\rb", "a\0b", "\r\n\r\n<script>", "a\u{7F}b\u{0B}"])
    func `no line can be injected`(_ value: String) {
        var field = HTTPField(name: .location, value: "x")
        field.value = value
        let fields: HTTPFields = [field.name: field.value]
        let lenient = HTTPField(name: .location, lenientValue: Array(value.utf8))
        for fields in [fields, HTTPFields([lenient])] {
            let answer = text(
                Response(status: .init(code: 302, reasonPhrase: value), headerFields: fields), date: Array(value.utf8))
            let lines = answer.split(separator: "\r\n", omittingEmptySubsequences: false)
            #expect(lines.count == 6)
            #expect(answer.hasSuffix("\r\n\r\n"))
            #expect(lines.allSatisfy { $0.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 9 } })
        }
    }

    @Test func `a kept head with the date and end behind it is the same as one written at once`() {
        let writer = ResponseWriter(commonFields: [.vary: "Cookie"])
        let fields: HTTPFields = [.contentType: "text/html"]
        var whole: [UInt8] = []
        writer.appendHead(
            status: .ok, headerFields: fields, contentLength: 7, to: &whole, date: Self.date, persistence: .close)
        let kept = writer.headWithoutDate(status: .ok, headerFields: fields, contentLength: 7)
        #expect(
            kept + ResponseWriter.dateName + Self.date + ResponseWriter.lineEnd + ResponseWriter.headEnd(.close)
                == whole)
    }

    @Test(arguments: [100, 200, 404, 599, 999])
    func `every status is written with three digits`(_ code: Int) {
        #expect(text(Response(status: .init(code: code)), date: []).hasPrefix("HTTP/1.1 \(code) \r\n"))
    }
}
