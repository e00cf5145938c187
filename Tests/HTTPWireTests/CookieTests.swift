import HTTPTypes
import Testing

@testable import HTTPWire

@Suite("Cookies")
struct CookieTests {
    struct Read: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let header: String
        let values: [String]
        init(_ title: String, _ header: String, _ values: [String]) {
            (testDescription, self.header, self.values) = (title, header, values)
        }
    }

    @Test(
        arguments: [
            Read("one", "a=1", ["1"]),
            Read("among others", "b=2; a=1; c=3", ["1"]),
            Read("twice, in the order sent", "a=1; b=2; a=3", ["1", "3"]),
            Read("white space around names and values", " a = 1 ;\tb=2", ["1"]),
            Read("no space behind the semicolon", "b=2;a=1", ["1"]),
            Read("equals signs in the value", "a=b=c==", ["b=c=="]),
            Read("an empty value", "a=; b=2", [""]),
            Read("quotes are taken off", "a=\"1 2\"", ["1 2"]),
            Read("one quote stays", "a=\"", ["\""]),
            Read("names are case-sensitive", "A=1", []),
            Read("a longer name is another", "aa=1; ba=2", []),
            Read("a name alone is skipped", "a; a=1", ["1"]),
            Read("an empty name is skipped", "=1; a=2", ["2"]),
            Read("empty members are skipped", ";; a=1;;", ["1"]),
            Read("bytes beyond ASCII are no part of a value", "a=\u{E9}1", ["\u{FFFD}\u{FFFD}1"]),
            Read("nothing", "", []),
        ])
    func `the values of the cookie named a are read`(_ row: Read) throws {
        let cookies = RequestCookies(try RequestHead(target: "/", headerFields: [.cookie: row.header]))
        var all: [String] = []
        let none: Never? = cookies.first("a") { value in
            all.append(ASCII.text(value.withUnsafeBufferPointer { Array($0) }[...]))
            return nil
        }
        #expect(none == nil)
        #expect(all == row.values)
        #expect(cookies["a"] == row.values.first)
    }

    @Test func `several Cookie lines count as one`() throws {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .cookie, value: "a=1"))
        fields.append(HTTPField(name: .cookie, value: "b=2"))
        let head = try RequestHead(target: "/", headerFields: fields)
        #expect(head[.cookie] == "a=1; b=2")
        #expect(RequestCookies(head)["a"] == "1")
        #expect(RequestCookies(head)["b"] == "2")
        #expect(RequestCookies(try RequestHead(target: "/"))["a"] == nil)
    }

    @Test func `a cookie is written with careful defaults, or with every attribute`() throws {
        #expect(
            try SetCookie(name: "__Host-companion", value: "abc").headerValue
                == "__Host-companion=abc; Path=/; Secure; HttpOnly; SameSite=Lax")
        #expect(
            try SetCookie(
                name: "companion", value: "", path: "/a", maxAge: 0, secure: false, httpOnly: false, sameSite: .strict
            ).headerValue == "companion=; Path=/a; Max-Age=0; SameSite=Strict")
        #expect(
            try SetCookie(name: "a", value: "b", maxAge: -5, sameSite: .none).headerValue
                == "a=b; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=None")
    }

    struct Rejected: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let name: String
        let value: String
        let path: String
        let secure: Bool
        let sameSite: SetCookie.SameSite
        let problem: SetCookie.Problem
        init(
            _ title: String, name: String = "a", value: String = "b", path: String = "/", secure: Bool = true,
            sameSite: SetCookie.SameSite = .lax, _ problem: SetCookie.Problem
        ) {
            (testDescription, self.name, self.value, self.path) = (title, name, value, path)
            (self.secure, self.sameSite, self.problem) = (secure, sameSite, problem)
        }
    }

    @Test(
        arguments: [
            Rejected("an empty name", name: "", .invalidName),
            Rejected("an equals sign in the name", name: "a=b", .invalidName),
            Rejected("a line end in the name", name: "a\r\nX: y", .invalidName),
            Rejected("a line end in the value", value: "b\r\nX: y", .invalidValue),
            Rejected("a semicolon in the value", value: "b; Domain=evil", .invalidValue),
            Rejected("a comma in the value", value: "b,c", .invalidValue),
            Rejected("a space in the value", value: "b c", .invalidValue),
            Rejected("a quote in the value", value: "\"b\"", .invalidValue),
            Rejected("a backslash in the value", value: "b\\", .invalidValue),
            Rejected("a value that is not ASCII", value: "é", .invalidValue),
            Rejected("a relative path", path: "a", .invalidPath),
            Rejected("an empty path", path: "", .invalidPath),
            Rejected("a semicolon in the path", path: "/;Domain=evil", .invalidPath),
            Rejected("a line end in the path", path: "/\r\nX: y", .invalidPath),
            Rejected("more than browsers take", value: String(repeating: "b", count: 4096), .tooLong),
            Rejected("SameSite=None without Secure", secure: false, sameSite: .none, .insecure),
            Rejected("__Host- without Secure", name: "__Host-a", secure: false, .insecure),
            Rejected("__Secure- without Secure", name: "__Secure-a", secure: false, .insecure),
            Rejected("__Host- with another path", name: "__Host-a", path: "/a", .insecure),
        ])
    func `an invalid name, value or path is not written`(_ row: Rejected) {
        #expect(throws: row.problem) {
            try SetCookie(name: row.name, value: row.value, path: row.path, secure: row.secure, sameSite: row.sameSite)
        }
    }
}
