import Foundation
import TestSupport
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn
@testable import Languages

@Suite("The languages of the tenant's pages")
struct LanguageOfPagesTests {
    private static let folder = TestTenant.publicFolder + "/languages/demo"

    private static func languages() throws -> Languages { try Languages(folder: folder, cookieName: "") }

    /// The sentences that have a translation.
    private static func sentences() throws -> Set<String> { try Set(languages().all.flatMap(\.server.keys)) }

    /// The tenant's sources, with each literal in one piece.
    private static func sources() throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/Tenant").standardized
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var text = ""
        while let file = files?.nextObject() as? URL {
            if file.pathExtension == "swift" { text += try String(contentsOf: file, encoding: .utf8) }
        }
        return text.replacing(/"\s*\+\s*"/, with: "")
    }

    @Test(
        arguments: [
            (nil, nil, "en"), ("ja", "sv", "ja"), ("xx sv", "ja", "sv"), (nil, "fr,sv;q=0.5,ja;q=0.8", "ja"),
            (nil, "pt", "pt-BR"), ("pt-PT", nil, "pt-PT"), (nil, "pt-AO", "pt-PT"), (nil, "zh-TW", "zh-Hans"),
            (nil, "sv;q=0,en", "en"), (nil, ";;,,q=1", "en"), ("", "sv-FI", "sv"), ("tlh", "x", "en"),
        ] as [(String?, String?, String)])
    func `ui_locales decides, then the browser's languages by weight, then English`(
        uiLocales: String?, acceptLanguage: String?, tag: String
    ) throws {
        #expect(try Self.languages().language(uiLocales: uiLocales, acceptLanguage: acceptLanguage).tag == tag)
    }

    @Test
    func `every language has each sentence, with the same places and the same elements, and no other`() throws {
        let sources = try Self.sources()
        let sentences = try Self.sentences()
        #expect(sentences.filter { !sources.contains("\"\($0)\"") } == [], "there and not said")
        let said = Set(sources.matches(of: /saying:\s*"((?:[^"\\]|\\.)*)"/).map { String($0.output.1) })
        #expect(said.count > 60 && said.subtracting(sentences) == [], "said and not there")
        for language in try Self.languages().all.dropFirst() {
            #expect(sentences.subtracting(language.server.keys) == [], "\(language.tag) lacks these")
            for (english, text) in language.server {
                for mark in ["%@", "<strong>", "</strong>", "<code>", "</code>"] {
                    #expect(text.ranges(of: mark).count == english.ranges(of: mark).count, "\(text)")
                }
            }
        }
    }

    @Test
    func `the tenant has the companion's languages`() throws {
        let companion = try Languages(folder: TestTenant.publicFolder + "/languages", cookieName: "")
        let tenant = try Self.languages()
        #expect(tenant.all.map(\.tag) == companion.all.map(\.tag))
        #expect(tenant.all.map(\.ranges) == companion.all.map(\.ranges))
    }

    @Test(arguments: [
        ("sv.json", "{\"Next\": 1}", "/sv.json is no language file: "),
        (
            "sv.json", #"{"name": "", "ranges": [], "page": {}, "server": {"Next": "Nästa"}}"#,
            "/sv.json has no “%@ is true.”"
        ),
        ("en.json", nil, "/languages/demo has no en.json"),
        ("", nil, "/languages/demo cannot be read"),
    ])
    func `texts that the tenant cannot use prevent its start, with a reason`(
        name: String, content: String?, fault: String
    ) throws {
        let files = FileManager.default
        let publicFolder = TemporaryFolder.ofProcess.appendingPathComponent(UUID().uuidString).path
        try files.createDirectory(atPath: publicFolder + "/languages", withIntermediateDirectories: true)
        let folder = publicFolder + "/languages/demo"
        try files.copyItem(atPath: Self.folder, toPath: folder)
        try files.removeItem(atPath: "\(folder)/\(name)")
        try content?.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        #expect {
            try PageLayout(publicFolder: publicFolder, kioskURL: nil)
        } throws: {
            "\($0)".contains(publicFolder) && "\($0)".contains(fault)
        }
    }

    @Test func `the page of a number has the table's row in the person's language, and others are Microsoft's`()
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let english = "The registration does not have the redirect URI that the app sends."
            let page = try await browser.get("/error?code=50011")
            #expect(page.status == 200 && page.text.contains("<h1>AADSTS50011</h1>") && page.text.contains(english))
            for (path, headers) in [
                ("/error?code=50011&ui_locales=sv", []), ("/error?code=50011", [("Accept-Language", "sv")]),
            ] as [(String, [(String, String)])] {
                let swedish = try await browser.get(path, headers: headers)
                #expect(swedish.text.contains("<html lang=\"sv\"") && swedish.text.contains("AADSTS50011"))
                #expect(!swedish.text.contains(english))
            }
            for (code, number) in [("7654321", 7_654_321), ("-1", -1), ("<b>", 0)] {
                let other = try await browser.get("/error", [("code", code)])
                #expect(other.status == 302)
                #expect(other["Location"] == "https://login.microsoftonline.com/error?code=\(number)")
            }
        }
    }

    /// Texts that are the same in every language: names, and words of the platform and its protocols.
    private static let names = [
        "Graph", "InvalidAuthenticationToken", "Authorization_RequestDenied", "AADB2C", "AADSTS", "curl", "Metadata",
    ]

    @Test(
        arguments: ["ja", "sv", "zh-Hans"])
    func `the control page is in the language that its address asks for, and stays in it`(language: String) async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            func sentences(_ path: String) async throws -> [String] {
                let page = try await browser.get(path, headers: [("Accept", "text/html")]).text
                return page.matches(of: />([^<>]+)</).map { String($0.output.1) }.filter { $0.contains(/[A-Za-z]{3}/) }
            }
            let english = Set(try await sentences("/control?done=revoke"))
            #expect(english.count > 80)
            let apps = [TestTenant.web, TestTenant.native, TestTenant.script] + DemoClient.samples
            let accounts =
                try DemoAccount.builtIn.flatMap { [$0.displayName, $0.username] }
                + apps.map { HTML(escaping: $0.name).text } + Self.languages().all.map(\.name)
            let alike = try await sentences("/control?done=revoke&ui_locales=\(language)").filter { text in
                // Words of the protocol are the same everywhere.
                english.contains(text) && !accounts.contains(text) && !text.contains(/^[a-z_]+$/)
                    && !Self.names.contains { text.contains($0) } && !["GET", "POST /control"].contains(text)
            }
            #expect(alike == [])
            let answer = try await browser.post(
                "/control?ui_locales=\(language)", [("token_delay_ms", "0")], headers: [("Accept", "text/html")])
            #expect(answer["Location"] == "/control?done=token_delay_ms&ui_locales=\(language)")
        }
    }

    @Test
    func `all names of the directory and the permissions have translations`() throws {
        let sentences = try Self.sentences()
        #expect(sentences.isSuperset(of: DemoAccount.builtIn.map(\.hint.text)))
        #expect(sentences.isSuperset(of: Scopes.graphTitles.values.map(\.text) + Scopes.own.map(\.title.text)))
    }

    @Test
    func `a value in a sentence is escaped in every language`() throws {
        for language in try Self.languages().all {
            let html = DemoLanguage.$current.withValue(language) {
                HTML(saying: "to continue to <strong>%@</strong>", "\("<b>")").text
            }
            #expect(html.contains("<strong>&lt;b&gt;</strong>"), "\(html)")
        }
    }
}
