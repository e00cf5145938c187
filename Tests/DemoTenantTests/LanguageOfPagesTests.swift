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
        for (english, translations) in DemoLanguage.texts {
            #expect(translations.count == DemoLanguage.allCases.count - 1, "\(english)")
            for text in translations {
                for mark in ["%@", "<strong>", "</strong>"] {
                    #expect(text.ranges(of: mark).count == english.ranges(of: mark).count, "\(text)")
                }
            }
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
