import Testing
import WebFormats

@testable import DemoTenant

@Suite("The languages of the tenant's pages")
struct LanguageOfPagesTests {
    @Test(
        "ui_locales decides, then the browser's languages by weight, then English",
        arguments: [
            (nil, nil, "en"), ("ja", "sv", "ja"), ("xx sv", "ja", "sv"), (nil, "fr,sv;q=0.5,ja;q=0.8", "ja"),
            (nil, "pt", "pt-BR"), ("pt-PT", nil, "pt-PT"), (nil, "pt-AO", "pt-PT"), (nil, "zh-TW", "zh-Hans"),
            (nil, "sv;q=0,en", "en"), (nil, ";;,,q=1", "en"), ("", "sv-FI", "sv"), ("tlh", "x", "en"),
        ] as [(String?, String?, String)])
    func choice(uiLocales: String?, acceptLanguage: String?, tag: String) {
        #expect(DemoLanguage(uiLocales: uiLocales, acceptLanguage: acceptLanguage).rawValue == tag)
    }

    @Test("Every sentence has all languages, with the same places and the same elements")
    func texts() {
        let all = DemoLanguage.texts.merging(DemoLanguage.controlTexts) { first, _ in first }
        #expect(all.count == DemoLanguage.texts.count + DemoLanguage.controlTexts.count)
        for (english, translations) in all {
            #expect(translations.count == DemoLanguage.allCases.count - 1, "\(english)")
            for text in translations {
                for mark in ["%@", "<strong>", "</strong>", "<code>", "</code>"] {
                    #expect(text.ranges(of: mark).count == english.ranges(of: mark).count, "\(text)")
                }
            }
        }
    }

    /// What is the same in every language: names, and what the platform and its protocols say.
    private static let names = [
        "Graph", "InvalidAuthenticationToken", "Authorization_RequestDenied", "AADB2C", "AADSTS", "curl",
    ]

    @Test(
        "The control page is in the language that its address asks for, and stays in it",
        arguments: ["ja", "sv", "zh-Hans"])
    func control(language: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            func sentences(_ path: String) async throws -> [String] {
                let page = try await browser.get(path, headers: [("Accept", "text/html")]).text
                return page.matches(of: />([^<>]+)</).map { String($0.output.1) }.filter { $0.contains(/[A-Za-z]{3}/) }
            }
            let english = Set(try await sentences("/control?done=revoke"))
            #expect(english.count > 80)
            let accounts = Directory.accounts.flatMap { [$0.displayName, $0.username] }
            let alike = try await sentences("/control?done=revoke&ui_locales=\(language)").filter { text in
                english.contains(text) && !accounts.contains(text)
                    && !Self.names.contains { text.contains($0) } && !["GET", "POST /control"].contains(text)
            }
            #expect(alike == [])
            let answer = try await browser.post(
                "/control?ui_locales=\(language)", [("token_delay_ms", "0")], headers: [("Accept", "text/html")])
            #expect(answer["Location"] == "/control?done=token_delay_ms&ui_locales=\(language)")
        }
    }

    @Test("Whatever the directory and the permissions are called has a translation")
    func names() {
        for account in Directory.accounts { #expect(DemoLanguage.texts[account.hint] != nil, "\(account.hint)") }
        for name in ["User.Read", "Mail.Read", "Directory.Read.All"] {
            #expect(Scope.permission(name).flatMap { DemoLanguage.texts[$0.title] } != nil, "\(name)")
        }
    }

    @Test("A value in a sentence is escaped, in every language")
    func escaping() {
        for language in DemoLanguage.allCases {
            let html = DemoLanguage.$current.withValue(language) {
                HTML(saying: "to continue to <strong>%@</strong>", "\("<b>")").text
            }
            #expect(html.contains("<strong>&lt;b&gt;</strong>"), "\(html)")
        }
    }
}
