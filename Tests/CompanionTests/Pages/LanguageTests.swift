import Foundation
import HTTPServer
import HTTPTypes
import OpenIDConnect
import Synchronization
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCheck
@testable import CompanionCore
@testable import CompanionPages
@testable import CompanionSignIn
@testable import Languages

/// The languages: which one a request gets, and that each file has every text and no other.
@Suite struct LanguageTests {
    private static let folder = URL(fileURLWithPath: Site.publicFolder)
    private static let tags = ["en", "ja", "pt-BR", "pt-PT", "sv", "zh-Hans"]

    private func languages() throws -> Languages {
        try Languages(folder: Site.publicFolder + "/languages", cookieName: "companion-language")
    }

    @Test(arguments: [
        ("sv", "sv"), ("sv-FI", "sv"), ("SV-se", "sv"), ("en-GB,en;q=0.9,sv;q=0.8", "en"),
        ("fr,sv;q=0.5,en;q=0.8", "en"), ("fr;q=1, ja;q=0.4", "ja"), ("pt", "pt-BR"), ("pt-BR", "pt-BR"),
        ("pt-PT,pt;q=0.9", "pt-PT"), ("pt-AO", "pt-PT"), ("zh-CN,zh;q=0.9,en;q=0.1", "zh-Hans"), ("zh", "zh-Hans"),
        ("zh-Hans-SG", "zh-Hans"), ("zh-Hant-TW,en;q=0.5", "zh-Hans"), ("ja-JP", "ja"), ("de-DE", nil), ("*", nil),
        ("", nil), ("sv;q=0", nil), ("sv;q=x,ja", "ja"), (";;,,;q=1", nil), ("sv;level=1", nil),
    ])
    func `the languages that a browser asks for are looked up in the order of their weight`(
        field: String, tag: String?
    ) throws {
        #expect(try languages().lookup(field)?.tag == tag)
    }

    private static let unusual: [(field: String, tag: String?)] = [
        (String(repeating: "xx,", count: 15) + "sv", "sv"),
        (String(repeating: "xx,", count: 16) + "sv", nil),
        (String(repeating: ",", count: 100) + "sv", "sv"),
        ("sv-aaaaaaaa-bbbbbbbb-cccccccc-ddddd", "sv"),
        ("sv-aaaaaaaa-bbbbbbbb-cccccccc-dddddd", nil),
        ("sv-a-b-c-d-e-f-g", "sv"),
        ("sv-a-b-c-d-e-f-g-h", nil),
        (String(repeating: "-", count: 4000) + ",ja", "ja"),
        ("sv;q=0.0001,ja;q=0.1", "ja"),
        ("sv;q=0.12345678,ja;q=0.1", "ja"),
        ("sv;q=1e9,ja;q=0.1", "ja"),
        ("sv;q=nan,ja", "ja"),
        ("  sv ; q=0.5 , ja;q=0.4", "sv"),
        ("ja;q=0.5,sv;q=0.5", "ja"),
        ("xx;q=1,sv;q=0.2,ja;q=0.3", "ja"),
        ("s\u{301}v,ja", "ja"),
    ]

    @Test(arguments: unusual)
    func `an unusual Accept-Language field is read only within its bounds`(field: String, tag: String?) throws {
        #expect(try languages().lookup(field)?.tag == tag)
    }

    @Test(arguments: ["", "home"])
    func `a page and a text are compressed soon after their first request`(section: String) async throws {
        try await Site.run(compressed: true) { site in
            let visitor = Visitor(site)
            let path = section.isEmpty ? "/ios" : try await visitor.path(ofTexts: section)
            let first = try await visitor.get(path)
            #expect(first.status == 200)
            // Each form has a tag of its own; the client has decoded what it got.
            func packed() async throws -> Visitor.Answer {
                try await visitor.send(.get, path, headers: [.acceptEncoding: "gzip"])
            }
            let isCompressed = await eventually { (try? await packed().fields[.eTag]) != first.fields[.eTag] }
            #expect(isCompressed)
            #expect(try await packed().text == first.text)
        }
    }

    @Test func `a page comes in the language of the browser, or of the person's choice`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            func page(_ asked: String) async throws -> Visitor.Answer {
                try await visitor.send(.get, "/ios", headers: [.acceptLanguage: asked, .accept: "text/html"])
            }
            let swedish = try await page("sv")
            #expect(swedish.text.contains(#"<html lang="sv" "#))
            #expect(swedish.fields[.contentLanguage] == "sv")
            #expect(swedish.fields[.vary] == "Accept-Language, Cookie, Accept-Encoding")
            #expect(try await page("fr").fields[.contentLanguage] == "en")

            let chosen = try await visitor.api(.post, "/api/language", body: #"{"language": "ja"}"#)
            #expect(chosen.status == 204)
            #expect(try #require(chosen.fields[.setCookie]).contains("HttpOnly"))
            #expect(try await page("sv").fields[.contentLanguage] == "ja")
            _ = try await visitor.api(.post, "/api/language", body: #"{"language": null}"#)
            #expect(try await page("sv").fields[.contentLanguage] == "sv")
            #expect(try await visitor.api(.post, "/api/language", body: #"{"language": "xx"}"#).code == "bad_request")
        }
    }

    @Test func `the provider is asked for its pages in the language that the person has chosen`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            func asked() async throws -> String? {
                let location = try #require(try await visitor.get("/auth/ios/sign-in").location)
                return URLComponents(string: location)?.queryItems?.first { $0.name == "ui_locales" }?.value
            }
            #expect(try await asked() == nil, "the browser itself says which it prefers")
            _ = try await visitor.api(.post, "/api/language", body: #"{"language": "sv"}"#)
            #expect(try await asked() == "sv")
            _ = try await visitor.api(.post, "/api/language", body: #"{"language": null}"#)
            #expect(try await asked() == nil)
        }
    }

    @Test func `an error is reported in the person's language, as JSON and as a page`() async throws {
        try await Site.run { site in
            let language = try #require(try languages()["sv"])
            let visitor = Visitor(site)
            let json = try await visitor.send(
                .get, "/api/ios/me", headers: [.acceptLanguage: "sv", .accept: "application/json"])
            #expect(json.json["title"] as? String == language.text("Sign in again"))
            #expect(json.json["detail"] as? String == language.text("You are not signed in. Sign in first."))
            #expect(json.json["detail"] as? String != "You are not signed in. Sign in first.")
            let page = try await visitor.send(
                .get, "/nowhere", headers: [.acceptLanguage: "sv", .accept: "text/html"])
            #expect(page.text.contains(language.text("There is nothing at this address.")))
            #expect(page.fields[.contentLanguage] == "sv")
        }
    }

    @Test func `each file of the folder is a language, and a folder in it is not`() throws {
        #expect(try languages().all.map(\.tag) == Self.tags)
    }

    @Test(arguments: tags)
    func `a language has every text of the pages, with the same values in it, and no other`(tag: String) throws {
        let all = try languages()
        let language = try #require(all[tag])
        #expect(Set(language.page.keys).symmetricDifference(all.source.page.keys).sorted() == [])
        for (key, text) in language.page {
            #expect(!text.trimmingCharacters(in: .whitespaces).isEmpty, "\(tag): \(key)")
            #expect(Self.places(text) == Self.places(all.source.page[key] ?? ""), "\(tag): \(key)")
        }
    }

    private static func places(_ text: String) -> [String] {
        text.matches(of: /\{(\w+)\}/).map { String($0.output.1) }.sorted()
    }

    @Test(arguments: tags.filter { $0 != "en" })
    func `a language has every sentence of the server, with the same values in it, and no other`(tag: String) throws {
        let path = Self.folder.appendingPathComponent("languages/\(tag).json")
        let file = try JSONDecoder().decode(LanguageFile.self, from: Data(contentsOf: path))
        let sentences = try ServerSentences.ofSources.get()
        #expect(sentences.unread == [])
        #expect(Set(file.server.keys).symmetricDifference(sentences.all).sorted() == [])
        for (english, text) in file.server {
            #expect(
                english.components(separatedBy: "%@").count == text.components(separatedBy: "%@").count,
                "\(tag): \(english)")
        }
    }

    @Test func `the places in the sources that compute a sentence or name its type are known`() throws {
        let sentences = try ServerSentences.ofSources.get()
        #expect(
            sentences.computed == [
                "CheckFinding.swift": 1, "DemoLanguage.swift": 1, "MonitoringReport.swift": 2,
                "PostgresFindings.swift": 3,
                "Problem+Errors.swift": 1,
                "SessionEntry.swift": 1, "StorageFindings.swift": 2,
            ],
            "A computed sentence has no translation. Write a literal with interpolations, or add the place here.")
        #expect(
            sentences.mentions == [
                "CommonFields.swift": 1, "CheckFinding.swift": 10, "CredentialFindings.swift": 4, "Pages.swift": 1,
                "PostgresFindings.swift": 2, "Problem+Errors.swift": 2, "Problem.swift": 3,
                "RegistrationFindings.swift": 3, "StorageFindings.swift": 2,
            ],
            "Let ServerSentences read what is said where the type Message is named now, then change the number here.")
    }

    @Test(
        arguments: [
            (#"throw Problem(.badRequest, "One \(two + ")") three.", retryAfter: 5)"#, ["One %@ three."]),
            (#"Problem(\n .notFound,\n "One "\n + "two.")"#, ["One two."]),
            (#"Problem(code(of: "x, y"), isFirst ? "One." : "Two.")"#, ["One.", "Two."]),
            (#"Problem(.notFound, "One " + (isFirst ? "two." : "three."))"#, ["One two.", "One three."]),
            (#"throw .init(.notFound, "One.")"#, ["One."]),
            (#"extension Problem { init() { self.init(.notFound, "One.") } }"#, ["One."]),
            (#"let detail: Message = a.b() == "?" ? "One." : "Two.""#, ["One.", "Two."]),
            (#"Problem(any: error); Problem(error, action: "x"); Problem(error)"#, []),
            (#"Problem(.notFound, Message(verbatim: "One."), action: nil)"#, []),
            (#"Problem(.notFound, detail)"#, []),
            (#"Problem(.notFound, text)"#, nil),
            (#"Problem(.notFound, first ?? "One.")"#, nil),
            (##"Problem(.notFound, #"One."#)"##, nil),
            (#"Problem(.notFound, one("One."))"#, nil),
            (#"[("a", "b")].map(Problem.init)"#, nil),
            (#"typealias Fault = Problem"#, nil),
        ] as [(String, [String]?)])
    func `a sentence is found in every notation, or reported as unread`(
        code: String, expected: [String]?
    ) {
        let sentences = ServerSentences(reading: code.replacing("\\n", with: "\n"), of: "File.swift")
        #expect(sentences.unread.isEmpty == (expected != nil), "\(sentences.unread)")
        #expect(sentences.all == Set(expected ?? []))
    }

    @Test func `every text is used by a page or a script, and every text that they use exists`() throws {
        let keys = Set(try languages().source.page.keys)
        var used: Set<String> = []
        var prefixes: Set<String> = []
        let files = FileManager.default.enumerator(at: Self.folder, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard ["html", "js"].contains(file.pathExtension) else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            let pattern = file.pathExtension == "html" ? /\{\{([a-z_]+\.[a-z0-9_.-]+)\}\}/ : /\bt\("([^"]+)"/
            used.formUnion(text.matches(of: pattern).map { String($0.output.1) })
            prefixes.formUnion(text.matches(of: /\bt\(`([a-z_.]+\.)\$\{/).map { String($0.output.1) })
        }
        // The server fills in what pages say of the configuration.
        let source = try ["FixedContent", "FixedContent+Bar", "FixedContent+Kiosk"].map { name in
            try String(
                contentsOf: Site.root.appendingPathComponent("Sources/Companion/CompanionPages/\(name).swift"),
                encoding: .utf8)
        }.joined()
        used.formUnion(source.matches(of: /(?:\btext\(|\.page\[)"([a-z_]+\.[a-z0-9_.]+)"/).map { String($0.output.1) })
        prefixes.formUnion(source.matches(of: /(?:\btext\(|\.page\[)"([a-z_.]+\.)\\\(/).map { String($0.output.1) })
        #expect(used.subtracting(keys).sorted() == [], "used and not there")
        let unused = keys.subtracting(used).filter { key in !prefixes.contains { key.hasPrefix($0) } }
        #expect(unused.sorted() == [], "there and not used")
    }

    private static let pages = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { $0.hasSuffix(".html") }.map { String($0.dropLast(".html".count)) }.sorted()

    @Test(arguments: try #require(pages))
    func `a page contains or fetches the sections of all texts that its scripts use`(page: String) throws {
        let html = try Self.html(of: page)
        let block = try #require(html.firstMatch(of: /\{\{strings ([^}]*)\}\}/)).output.1
        var sections = Set(block.split(separator: " ").map(String.init))
        var waiting = html.matches(of: /src="\{\{base\}\}\/assets\/([^"]+\.js)"/).map { found in
            Self.folder.appendingPathComponent(String(found.output.1))
        }
        var seen: Set<URL> = []
        var used: Set<String> = []
        while let file = waiting.popLast() {
            guard seen.insert(file).inserted else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            waiting += text.matches(of: /(?:from|import|import\() ?"(\.[^"]+\.js)"/).compactMap { found in
                URL(string: String(found.output.1), relativeTo: file)?.absoluteURL
            }
            sections.formUnion(text.matches(of: /loadTexts\("([a-z_]+)"\)/).map { String($0.output.1) })
            used.formUnion(text.matches(of: /\bt\(["`]([a-z_]+)\./).map { String($0.output.1) })
        }
        #expect(used.subtracting(sections).sorted() == [])
    }

    /// A page's file with its parts.
    private static func html(of page: String) throws -> String {
        func file(_ path: String) throws -> String {
            try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
        }
        return try file("\(page).html").replacing(/\{\{part ([a-z-]+)\}\}/) { try file("parts/\($0.output.1).html") }
    }

    @Test func `a text that a page needs and a language lacks prevents the start`() throws {
        let files = FileManager.default
        let folder = TemporaryFolder.ofProcess.appendingPathComponent(UUID().uuidString)
        defer { TemporaryFolder.remove(folder) }
        try files.copyItem(at: Self.folder, to: folder)
        func load() throws {
            _ = try Pages(
                folder: folder.path, applications: [],
                languages: Languages(folder: folder.path + "/languages", cookieName: "language"),
                publicURL: PublicURL("https://companion.example"), compression: AssetCompression())
        }
        try load()
        let swedish = folder.appendingPathComponent("languages/sv.json")
        let text = try String(contentsOf: swedish, encoding: .utf8)
        try text.replacing("\"home_page.headline\"", with: "\"home_page.other\"").write(
            to: swedish, atomically: true, encoding: .utf8)
        #expect { try load() } throws: { "\($0)".contains("sv.json has no “home_page.headline”") }
    }

    @Test func `an asset that is made at its first request is made once`() {
        let count = Atomic(0)
        let page = LazyAsset(compressedBy: AssetCompression()) {
            count.add(1, ordering: .relaxed)
            return Asset(body: [0x61], contentType: "text/plain")
        }
        #expect(count.load(ordering: .relaxed) == 0)
        #expect(page.asset === page.asset)
        #expect(count.load(ordering: .relaxed) == 1)
    }

    @Test func `no text can end the data block in which scripts find it`() throws {
        let file = LanguageFile(
            name: "x", ranges: ["x"], page: ["app.a": "</script><!--", "app.b": "\"quoted\"", "other.c": "no"],
            server: [:])
        let template = PageTemplate(
            file: "x.html",
            html: "<html lang=\"{{language}}\" data-base=\"{{base}}\">{{strings app}}|{{part a}}|{{title}}"
        ) { "{{app.\($0)}}" }
        let language = Language(tag: "x", index: 0, version: "1", file: file)
        try template.check(language)
        let html = template.checkedHTML(in: language, below: "/c")
        #expect(
            html
                == #"<html lang="x" data-base="/c">{"app.a":"\u003c/script>\u003c!--","app.b":"\"quoted\""}|&lt;/script&gt;&lt;!--|{{title}}"#
        )
        #expect(throws: LanguageFault.self) {
            try PageTemplate(file: "x.html", html: "{{app.missing}}", part: { _ in "" }).check(language)
        }
    }
}
