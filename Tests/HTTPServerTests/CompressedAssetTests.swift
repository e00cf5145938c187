import CBrotli
import CZlib
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import TestSupport
import Testing

/// A folder whose files refer to each other.
private final class LinkedFolder: Sendable {
    let path = TemporaryFolder.ofProcess.path + "/companion-\(UUID().uuidString)"

    init(_ files: [String: String]) throws {
        for (name, text) in files { try write(name, text) }
    }

    deinit { TemporaryFolder.remove(URL(fileURLWithPath: path)) }

    func write(_ name: String, _ text: String) throws {
        let file = URL(fileURLWithPath: "\(path)/assets/\(name)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: false, encoding: .utf8)
    }

    func load() throws -> StaticFiles { try StaticFiles(folder: path, versionedBelow: "/assets/") }
}

@Suite(.timeLimit(.minutes(5))) struct CompressedAssetTests {
    private static let style = String(repeating: "body { color: black; background: white }\n", count: 100)

    private struct Answer {
        let status: Int
        let fields: [String: String]
        let body: [UInt8]
    }

    /// Asks for `/assets/page.css`.
    private func ask(_ fields: String, method: String = "GET", compressed: Bool = true) async throws -> Answer {
        let folder = try LinkedFolder(["page.css": Self.style])
        let files = try folder.load()
        if compressed { files.compress { true } }
        return try await withServer(FileResponder(files: files)) { port, _ in
            try await blocking {
                let client = try RawClient(port: port)
                try client.send("\(method) /assets/page.css HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
                let answer = try client.answer(toHead: method == "HEAD")
                return Answer(status: answer.status, fields: answer.fields, body: answer.bytes)
            }
        }
    }

    @Test(arguments: [
        ("Accept-Encoding: gzip, br\r\n", "br"), ("Accept-Encoding: br;q=0.1, gzip\r\n", "gzip"),
        ("Accept-Encoding: br;q=0, gzip\r\n", "gzip"), ("Accept-Encoding: zstd\r\n", nil),
        ("Accept-Encoding: identity, br;q=0.5\r\n", nil), ("", nil),
    ])
    func `content is sent in the coding that the request prefers, and says so`(
        fields: String, coding: String?
    ) async throws {
        let answer = try await ask(fields)
        #expect(answer.status == 200)
        #expect(answer.fields["content-encoding"] == coding)
        #expect(answer.fields["vary"] == "Accept-Encoding")
        #expect(answer.fields["content-type"] == "text/css; charset=utf-8")
        #expect(answer.fields["content-length"] == String(answer.body.count))
        #expect(try decode(answer.body, coding) == Self.style)
    }

    @Test func `content that is not compressed yet is sent as it is, and already has a Vary field`() async throws {
        let answer = try await ask("Accept-Encoding: br\r\n", compressed: false)
        #expect(answer.fields["content-encoding"] == nil)
        #expect(answer.fields["vary"] == "Accept-Encoding")
        #expect(String(decoding: answer.body, as: UTF8.self) == Self.style)
    }

    @Test func `each coding has a tag of its own, which matches no other coding`() async throws {
        let fields = ["br", "gzip", "identity"].map { "Accept-Encoding: \($0)\r\n" }
        var tags: [String] = []
        for field in fields { tags.append(try #require(try await ask(field).fields["etag"])) }
        #expect(Set(tags).count == 3)
        for (field, own) in zip(fields, tags) {
            for tag in tags {
                let answer = try await ask("\(field)If-None-Match: \(tag)\r\n")
                #expect(answer.status == (tag == own ? 304 : 200))
                #expect(answer.fields["etag"] == own)
                #expect(answer.fields["vary"] == "Accept-Encoding")
            }
        }
    }

    @Test func `a range is one of the coded content, and another coding's tag does not allow it`() async throws {
        let whole = try await ask("Accept-Encoding: gzip\r\n")
        let tag = try #require(whole.fields["etag"])
        let part = try await ask("Accept-Encoding: gzip\r\nRange: bytes=2-9\r\nIf-Range: \(tag)\r\n")
        #expect(part.status == 206)
        #expect(part.fields["content-range"] == "bytes 2-9/\(whole.body.count)")
        #expect(part.fields["content-encoding"] == "gzip")
        #expect(part.body == Array(whole.body[2...9]))
        let other = try await ask("Accept-Encoding: br\r\nRange: bytes=2-9\r\nIf-Range: \(tag)\r\n")
        #expect(other.status == 200)
    }

    @Test func `HEAD has the fields of GET`() async throws {
        let get = try await ask("Accept-Encoding: br\r\n")
        let head = try await ask("Accept-Encoding: br\r\n", method: "HEAD")
        #expect(head.body.isEmpty)
        for name in ["content-length", "content-encoding", "etag", "vary"] {
            #expect(head.fields[name] == get.fields[name])
        }
    }

    @Test func `content that would not get smaller, and a picture, are sent only as they are`() async throws {
        let folder = try LinkedFolder(["short.css": "a{}", "picture.png": Self.style])
        let files = try folder.load()
        files.compress { true }
        try await withServer(FileResponder(files: files)) { port, _ in
            for (path, vary) in [("/assets/short.css", "Accept-Encoding"), ("/assets/picture.png", nil)] {
                let answer = try await blocking {
                    let client = try RawClient(port: port)
                    try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\nAccept-Encoding: br, gzip\r\n\r\n")
                    return try client.answer()
                }
                #expect(answer.status == 200)
                #expect(answer.fields["content-encoding"] == nil)
                #expect(answer.fields["vary"] == vary)
            }
        }
    }

    @Test(arguments: [("br, gzip", "gzip"), ("br", nil), ("gzip;q=0", nil), ("identity, gzip;q=0.5", nil), (nil, nil)])
    func `a response is compressed for a request that accepts it, and says so`(
        accepted: String?, coding: String?
    ) throws {
        var fields: HTTPFields = [:]
        fields[.acceptEncoding] = accepted
        let response = Response(status: .ok, body: Array(Self.style.utf8))
            .compressed(for: try RequestHead(target: "/", headerFields: fields))
        #expect(response.headerFields[.contentEncoding] == coding && response.headerFields[.vary] == "Accept-Encoding")
        #expect(try decode(response.body, coding) == Self.style)
        #expect((response.body.count < Self.style.utf8.count / 10) == (coding != nil))
    }

    private func decode(_ bytes: [UInt8], _ coding: String?) throws -> String {
        var decoded = [UInt8](repeating: 0, count: 1 << 16)
        var count = decoded.count
        switch coding {
        case "br":
            try #require(BrotliDecoderDecompress(bytes.count, bytes, &count, &decoded) == BROTLI_DECODER_RESULT_SUCCESS)
        case "gzip":
            var stream = z_stream()
            // 16: gzip's head and end, and nothing else.
            try #require(
                inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK)
            defer { inflateEnd(&stream) }
            var bytes = bytes
            let size = decoded.count
            count = try bytes.withUnsafeMutableBufferPointer { input in
                try decoded.withUnsafeMutableBufferPointer { output in
                    stream.next_in = input.baseAddress
                    stream.avail_in = UInt32(input.count)
                    stream.next_out = output.baseAddress
                    stream.avail_out = UInt32(size)
                    try #require(inflate(&stream, Z_FINISH) == Z_STREAM_END)
                    return Int(stream.total_out)
                }
            }
        default: return String(decoding: bytes, as: UTF8.self)
        }
        return String(decoding: decoded[..<count], as: UTF8.self)
    }
}

@Suite(.timeLimit(.minutes(5))) struct VersionedFilesTests {
    private static let files = [
        "page.js": "import { a } from \"./part.js\";\nimport './other.js'; const s = `${base}/assets/page.css`;",
        "part.js": "import \"./other.js\"; import \"./part.js\"; // ./none.js", "other.js": "import \"./part.js\";",
        "page.css": "body { background: url(/assets/p.svg) }", "p.svg": "<svg/>", "alone.js": "1",
    ]

    private func names(_ files: [String: String]) throws -> [String: String] {
        let folder = try LinkedFolder(files)
        let all = try folder.load()
        return Dictionary(
            uniqueKeysWithValues: files.keys.map { name in
                (name, String(all.rewritten("/assets/\(name)").dropFirst("/assets/".count)))
            })
    }

    private func text(_ asset: Asset?) throws -> String { String(decoding: try #require(asset).body, as: UTF8.self) }

    @Test func `files refer to each other by their versioned names, and other references stay as they are`() throws {
        let folder = try LinkedFolder(Self.files)
        let files = try folder.load()
        let names = try names(Self.files)
        let page = try #require(names["page.js"])
        #expect(page.wholeMatch(of: /page\.[0-9a-f]{12}\.js/) != nil)
        let part = try #require(names["part.js"])
        let other = try #require(names["other.js"])
        let expected =
            "import { a } from \"./\(part)\";\nimport './\(other)'; const s = `${base}/assets/\(try #require(names["page.css"]))`;"
        #expect(try text(files["/assets/\(page)"]) == expected)
        #expect(try text(files["/assets/page.js"]) == expected)
        #expect(
            try text(files["/assets/\(part)"]) == "import \"./\(other)\"; import \"./\(part)\"; // ./none.js")
        #expect(
            files.rewritten("<a href=\"{{base}}/assets/p.svg\">/assets/p.svgz //assets/p.svg")
                == "<a href=\"{{base}}/assets/\(try #require(names["p.svg"]))\">/assets/p.svgz //assets/p.svg")
        #expect(files.paths == Self.files.keys.map { "/assets/\($0)" }.sorted())
    }

    @Test(arguments: [
        (reference: "./near.js", target: "deep/a/near.js"), ("../a/near.js", "deep/a/near.js"),
        ("../b/far.js", "deep/b/far.js"), ("../../top.js", "top.js"), ("./../../top.js", "top.js"),
        ("../../../assets/top.js", "top.js"), ("/assets/deep/b/far.js", "deep/b/far.js"),
        ("../../../../assets/top.js", nil), (".../a/near.js", nil), ("x../b/far.js", nil), ("../far.js", nil),
        ("near.js", nil),
    ])
    func `a reference leads to another folder, and one that leads nowhere stays`(reference: String, target: String?)
        throws
    {
        let files = [
            "deep/a/page.js": "import '\(reference)';", "deep/a/near.js": "1", "deep/b/far.js": "2", "top.js": "3",
        ]
        var expected = reference
        if let target {
            let name = try #require(try names(files)[target]).split(separator: "/").last
            expected = reference.replacing(/[a-z]+\.js$/, with: try #require(name))
        }
        let folder = try LinkedFolder(files)
        #expect(try text(try folder.load()["/assets/deep/a/page.js"]) == "import '\(expected)';")
    }

    @Test func `files are served at other paths than they have, and refer to each other there`() throws {
        let folder = try LinkedFolder(["styles/page.css": "url(/at/pictures/p.svg)", "pictures/p.svg": "<svg/>"])
        let files = try StaticFiles(
            folder: folder.path, servedAt: { $0.replacing("/assets/", with: "/at/") }, versionedBelow: "/at/")
        #expect(files.paths == ["/at/pictures/p.svg", "/at/styles/page.css"])
        let picture = files.rewritten("/at/pictures/p.svg")
        #expect(picture.wholeMatch(of: /\/at\/pictures\/p\.[0-9a-f]{12}\.svg/) != nil)
        #expect(try text(files["/at/styles/page.css"]) == "url(\(picture))")
        #expect(files[picture] != nil)
    }

    @Test func `a change gives new names to the file and to all that lead to it, and to no other`() throws {
        let before = try names(Self.files)
        let after = try names(Self.files.merging(["p.svg": "<svg></svg>"]) { $1 })
        #expect(Set(before.keys.filter { before[$0] != after[$0] }) == ["p.svg", "page.css", "page.js"])
        let cycle = try names(Self.files.merging(["other.js": "import \"./part.js\"; 2"]) { $1 })
        #expect(Set(before.keys.filter { before[$0] != cycle[$0] }) == ["other.js", "part.js", "page.js"])
    }

    @Test func `a versioned name is kept for a year, and a plain one or one of another version is revalidated`()
        async throws
    {
        let folder = try LinkedFolder(Self.files)
        let files = try folder.load()
        let present = try #require(try names(Self.files)["alone.js"])
        try await withServer(FileResponder(files: files)) { port, _ in
            for (name, status, cacheControl) in [
                (present, 200, "public, max-age=31536000, immutable"), ("alone.js", 200, "no-cache"),
                ("alone.0123456789ab.js", 200, "no-cache"), ("alone.0123456789a.js", 404, nil),
                ("alone.0123456789ag.js", 404, nil), ("none.0123456789ab.js", 404, nil),
                ("0123456789ab.js", 404, nil), ("alone.0123456789ab", 404, nil),
            ] {
                let answer = try await blocking {
                    let client = try RawClient(port: port)
                    try client.send("GET /assets/\(name) HTTP/1.1\r\nHost: a\r\n\r\n")
                    return try client.answer()
                }
                #expect(answer.status == status, "\(name)")
                #expect(answer.fields["cache-control"] == cacheControl, "\(name)")
                #expect((answer.fields["last-modified"] != nil) == (cacheControl == "no-cache"), "\(name)")
                if status == 200 { #expect(answer.body == "1") }
            }
        }
    }

    @Test func `only the files that are wanted are kept`() throws {
        let folder = try LinkedFolder(Self.files)
        let files = try folder.load().only { $0.hasSuffix(".css") }
        #expect(files.paths == ["/assets/page.css"])
        #expect(files["/assets/alone.js"] == nil)
        #expect(files["/assets/\(try #require(try names(Self.files)["alone.js"]))"] == nil)
        #expect(files["/assets/\(try #require(try names(Self.files)["page.css"]))"] != nil)
    }
}
