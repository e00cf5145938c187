import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import TestSupport
import Testing

/// A folder with pages, and around it what must not be served.
final class TestFolder: Sendable {
    let outer: String
    var folder: String { outer + "/Public" }
    static let page = "<!doctype html><title>page</title>"
    /// A Sunday.
    static let modified = Date(timeIntervalSince1970: 784_111_777)

    init() throws {
        outer = TemporaryFolder.ofProcess.path + "/companion-\(UUID().uuidString)"
        let files = FileManager.default
        try files.createDirectory(atPath: folder + "/assets/deep", withIntermediateDirectories: true)
        try write("Public/ios.html", Self.page)
        try write("Public/assets/page.css", "body{}")
        try write("Public/assets/deep/a b.txt", "spaces")
        try write("Public/.hidden", "hidden")
        try write("secret.txt", "secret")
        try files.createSymbolicLink(atPath: folder + "/link.txt", withDestinationPath: outer + "/secret.txt")
        try files.createSymbolicLink(atPath: folder + "/up", withDestinationPath: outer)
        mkfifo(folder + "/pipe", 0o600)
        try files.setAttributes([.modificationDate: Self.modified], ofItemAtPath: folder + "/ios.html")
    }

    deinit { TemporaryFolder.remove(URL(fileURLWithPath: outer)) }

    private func write(_ path: String, _ text: String) throws {
        try text.write(toFile: "\(outer)/\(path)", atomically: false, encoding: .utf8)
    }
}

struct FileResponder: Responder {
    let files: StaticFiles

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        files[head.path].map(Reply.asset) ?? .response(Response(status: .notFound))
    }
}

@Suite(.timeLimit(.minutes(5))) struct StaticFilesTests {
    let folder: TestFolder
    let files: StaticFiles
    let tag: String

    init() throws {
        folder = try TestFolder()
        files = try StaticFiles(folder: folder.folder)
        tag = try #require(files["/ios.html"]?.validators.entityTag).text
    }

    @Test func `only regular files that are not hidden are held`() {
        #expect(files.paths == ["/assets/deep/a b.txt", "/assets/page.css", "/ios.html"])
    }

    @Test(arguments: [
        "/secret.txt", "/../secret.txt", "/assets/../../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt",
        "/up/secret.txt", "/link.txt", "//secret.txt", "/./ios.html", "/assets/", "/assets", "/", "/ios.html/",
        "/ios.html%00", "/ios.html%0", "/ios.html%", "/%ff", "/.hidden", "/pipe", "/IOS.HTML", "/ios.html%00.css",
        "/assets\\page.css", "/%c0%ae%c0%ae/secret.txt", "/etc/passwd", "//etc/passwd",
    ])
    func `no other path is served`(_ path: String) async throws {
        #expect(files[path] == nil)
        try await withServer(FileResponder(files: files)) { port, _ in
            let status = try await blocking {
                let client = try RawClient(port: port)
                try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                return try client.answer().status
            }
            #expect([404, 400].contains(status))
        }
    }

    static let commented: [(name: String, content: String, served: String)] = [
        ("a.js", "// Why.\nlet a = 1; // b\n  // c\nf()\n", "\nlet a = 1; // b\n\nf()\n"),
        ("a.mjs", "/** Why,\n * and how. */\nf()", "\n\nf()"),
        ("a.js", "/* 1 */ f() /* 2 */\n/* // */ g()\n/**/h()", " f() /* 2 */\n g()\nh()"),
        ("a.js", "/*/ 1\n// 2\n*/\n// */\nf()", "\n\n\n\nf()"),
        ("a.js", "f()\n/* no end\ng()", "f()\n\n"),
        ("a.js", "// only this", ""),
        ("a.js", "", ""),
        ("a.css", "/* Why. */\na { color: red }\n  /* and\n so */ b {}\n", "\na { color: red }\n\n b {}\n"),
        ("a.css", "a {\n  // stays\n}\nb { c: url(//d/*) }\n", "a {\n  // stays\n}\nb { c: url(//d/*) }\n"),
        ("a.txt", "// stays\n/* too */\n", "// stays\n/* too */\n"),
        ("a.html", "<pre>\n// stays\n</pre>\n", "<pre>\n// stays\n</pre>\n"),
    ]

    @Test(arguments: commented)
    func `scripts and styles are served without the comments that begin a line, and their lines keep their numbers`(
        name: String, content: String, served: String
    ) throws {
        let path = "\(folder.outer)/comments"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try content.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
        let body = try #require(try StaticFiles(folder: path)["/\(name)"]?.body)
        #expect(String(decoding: body, as: UTF8.self) == served)
    }

    @Test func `the error names a missing folder`() {
        #expect(throws: StaticFilesError.unreadable(path: folder.outer + "/no", reason: "No such file or directory")) {
            try StaticFiles(folder: folder.outer + "/no")
        }
        #expect(throws: StaticFilesError.self) { try StaticFiles(folder: folder.folder, maxTotalBytes: 10) }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var request = "GET /ios.html HTTP/1.1\r\n"
        var fields = ""
        let status: Int
        var body = ""
        /// Fields that the answer has; nil: that it has not.
        var has: [String: String?] = [:]

        var testDescription: String { name }
    }

    static let page = TestFolder.page
    static let length = String(page.utf8.count)

    @Test(arguments: [
        Row(
            name: "a page", status: 200, body: page,
            has: [
                "content-type": "text/html; charset=utf-8", "content-length": length, "accept-ranges": "bytes",
                "last-modified": "Sun, 06 Nov 1994 08:49:37 GMT", "cache-control": "no-cache", "etag": "TAG",
                "x-content-type-options": "nosniff",
            ]),
        Row(
            name: "HEAD", request: "HEAD /ios.html HTTP/1.1\r\n", status: 200,
            has: ["content-length": length, "etag": "TAG"]),
        Row(
            name: "an encoded name", request: "GET /assets/deep/a%20b.txt HTTP/1.1\r\n", status: 200, body: "spaces",
            has: ["content-type": "text/plain; charset=utf-8"]),
        Row(
            name: "a name encoded without need", request: "GET /%69os.html HTTP/1.1\r\n", status: 200, body: page),
        Row(
            name: "a query is not part of the name", request: "GET /ios.html?v=1 HTTP/1.1\r\n", status: 200, body: page),
        Row(
            name: "other methods", request: "DELETE /ios.html HTTP/1.1\r\n", status: 405, body: "problem",
            has: ["allow": "GET, HEAD"]),
        Row(
            name: "the tag is known", fields: "If-None-Match: TAG\r\n", status: 304,
            has: [
                "etag": "TAG", "cache-control": "no-cache", "content-length": nil, "content-type": nil,
                "x-content-type-options": "nosniff",
            ]),
        Row(name: "one of several tags is known", fields: "If-None-Match: \"x\", W/TAG\r\n", status: 304),
        Row(name: "any tag will do", fields: "If-None-Match: *\r\n", status: 304),
        Row(name: "another tag is known", fields: "If-None-Match: \"x\"\r\n", status: 200, body: page),
        Row(
            name: "not modified since", fields: "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", status: 304),
        Row(
            name: "modified since", fields: "If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", status: 200,
            body: page),
        Row(
            name: "the tag counts before the date",
            fields: "If-None-Match: \"x\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", status: 200,
            body: page),
        Row(name: "a date that is none", fields: "If-Modified-Since: yesterday\r\n", status: 200, body: page),
        Row(name: "If-Match fails", fields: "If-Match: \"x\"\r\n", status: 412, body: "problem"),
        Row(
            name: "the first bytes", fields: "Range: bytes=0-8\r\n", status: 206, body: String(page.prefix(9)),
            has: ["content-range": "bytes 0-8/\(length)", "content-length": "9", "etag": "TAG"]),
        Row(
            name: "the last bytes", fields: "Range: bytes=-8\r\n", status: 206, body: String(page.suffix(8)),
            has: ["content-length": "8"]),
        Row(
            name: "from a byte on", fields: "Range: bytes=9-\r\n", status: 206, body: String(page.dropFirst(9))),
        Row(
            name: "past the end is cut", fields: "Range: bytes=9-9999\r\n", status: 206, body: String(page.dropFirst(9))
        ),
        Row(
            name: "behind the end", fields: "Range: bytes=9999-\r\n", status: 416, body: "problem",
            has: ["content-range": "bytes */\(length)"]),
        Row(name: "several ranges give everything", fields: "Range: bytes=0-1,3-4\r\n", status: 200, body: page),
        Row(name: "another unit gives everything", fields: "Range: lines=0-1\r\n", status: 200, body: page),
        Row(
            name: "a range of the state that is known", fields: "Range: bytes=0-8\r\nIf-Range: TAG\r\n", status: 206,
            body: String(page.prefix(9))),
        Row(
            name: "a range of another state gives everything", fields: "Range: bytes=0-8\r\nIf-Range: \"x\"\r\n",
            status: 200, body: page),
    ])
    func `files are served with their status, fields and body`(_ row: Row) async throws {
        let tag = tag
        try await withServer(
            FileResponder(files: files), configure: { $0.responseFields = [.xContentTypeOptions: "nosniff"] }
        ) { port, _ in
            let answer = try await blocking {
                let client = try RawClient(port: port)
                try client.send(row.request + "Host: a\r\n" + row.fields.replacing("TAG", with: tag) + "\r\n")
                let answer = try client.answer(toHead: row.request.hasPrefix("HEAD"))
                // The next answer begins where this one ends.
                try client.send("GET /assets/page.css HTTP/1.1\r\nHost: a\r\n\r\n")
                let next = try client.answer()
                #expect(next.body == "body{}")
                return answer
            }
            #expect(answer.status == row.status)
            if row.body == "problem" {
                #expect(answer.fields["content-type"] == "application/problem+json")
            } else {
                #expect(answer.body == row.body)
            }
            #expect(answer.fields["date"]?.hasSuffix(" GMT") == true)
            for (name, value) in row.has { #expect(answer.fields[name] == value?.replacing("TAG", with: tag)) }
        }
    }

    @Test func `equal bytes have equal tags, and other bytes have others`() {
        let assets = ["a", "a", "b"].map { Asset(body: Array($0.utf8), contentType: "text/plain") }
        #expect(assets[0].validators == assets[1].validators)
        #expect(assets[0].validators != assets[2].validators)
    }

    @Test(arguments: [
        ("text/html; charset=utf-8", true, true), ("text/plain; charset=utf-8", false, false),
        ("application/pdf", true, true), ("image/svg+xml", true, false), ("text/css; charset=utf-8", false, false),
        ("text/javascript", false, false), ("application/json", false, false), ("image/png", false, false),
        ("text/css-not", true, true), ("", true, true),
    ])
    func `documents and the unknown have the fields of documents, SVG pictures the policy alone, others none`(
        _ type: String, _ hasPolicy: Bool, _ hasAll: Bool
    ) async throws {
        struct Typed: Responder {
            let type: String
            func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
                switch head.path {
                case "/asset": .asset(Asset(body: [0x61], contentType: type))
                case "/prepared": .prepared(PreparedResponse(body: [0x61], contentType: type))
                default:
                    .response(
                        Response(status: .ok, headerFields: type.isEmpty ? [:] : [.contentType: type], body: [0x61]))
                }
            }
        }
        try await withServer(
            Typed(type: type),
            configure: {
                $0.responseFields = [.xContentTypeOptions: "nosniff"]
                $0.documentFields = [.contentSecurityPolicy: "default-src 'none'", .vary: "Origin"]
            }
        ) { port, _ in
            for path in ["/asset", "/prepared", "/response"] {
                let answer = try await blocking {
                    let client = try RawClient(port: port)
                    try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                    return try client.answer()
                }
                #expect(answer.fields["x-content-type-options"] == "nosniff", "\(path)")
                #expect(answer.fields["content-security-policy"] == (hasPolicy ? "default-src 'none'" : nil), "\(path)")
                #expect(answer.fields["vary"] == (hasAll ? "Origin" : nil), "\(path)")
            }
        }
    }

    @Test func `an asset's own fields replace those of every response`() async throws {
        let asset = Asset(body: [0x61], contentType: "text/plain", cacheControl: "max-age=5")
        struct One: Responder {
            let asset: Asset
            func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply { .asset(asset) }
        }
        try await withServer(
            One(asset: asset),
            configure: { $0.responseFields = [.cacheControl: "no-store", .referrerPolicy: "no-referrer"] }
        ) { port, _ in
            let answer = try await blocking {
                let client = try RawClient(port: port)
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                return try client.answer()
            }
            #expect(answer.fields["cache-control"] == "max-age=5")
            #expect(answer.fields["referrer-policy"] == "no-referrer")
        }
    }
}

extension HTTPField.Name {
    static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .server
}
