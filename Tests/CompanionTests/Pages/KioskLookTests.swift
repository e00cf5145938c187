import Foundation
import HTTPTypes
import Languages
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// A kiosk's pages as the organiser wants them.
@Suite struct KioskLookTests {
    /// 10 by 5 pixels.
    private static let png = Data(
        base64Encoded:
            "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAFCAIAAADzBuo/AAAAEUlEQVR42mPokXXAgxgGUBoA1xEtg4cpQo0AAAAASUVORK5CYII=")

    /// The logo that a file with these bytes is.
    private static func logo(_ data: Data) throws -> KioskLogo {
        let file = TemporaryFolder.ofProcess.appendingPathComponent("\(UUID().uuidString).png")
        try data.write(to: file)
        return try KioskLogo(path: file.path)
    }

    @Test(arguments: [
        ("#000000", 21.0), ("#ffffff", 1.0), ("#0040dd", 7.56), ("#767676", 4.54), ("#777777", 4.47), ("#8C1D40", 8.88),
    ])
    func `a colour's contrast with white is computed as WCAG says`(text: String, contrast: Double) throws {
        let color = try #require(KioskColor(text))
        #expect(abs(color.contrast - contrast) < 0.1)
        #expect(color.text == text.lowercased())
    }

    @Test(arguments: ["", "red", "#fff", "#12345g", "#+12345", "#-12345", "0040dd", "#0040dd0", "#００４０ｄｄ"])
    func `text that is not a colour is refused`(text: String) {
        #expect(KioskColor(text) == nil)
    }

    @Test(arguments: ["#000000", "#00008b", "#0040dd", "#8c1d40", "#006400", "#767676"])
    func `in the dark scheme the colour is light enough to be read`(text: String) throws {
        let night = try #require(KioskColor(text)).styleSheet.components(separatedBy: "dark)").last ?? ""
        let accent = try #require(night.firstMatch(of: /--accent:(#[0-9a-f]{6})/)).output.1
        // The surface of companion.css is #1c1c1f, whose contrast with white is 17: what has less than 17 / 4.5 to white has
        // more than 4.5 to it.
        #expect(try #require(KioskColor(String(accent))).contrast < 17.0 / 4.5)
    }

    @Test func `a logo that is not a PNG, is too large or is missing is refused with advice`() throws {
        func reason(_ data: Data) throws -> String {
            try #require(throws: WrongValue.self) { try Self.logo(data) }.reason
        }
        let png = try #require(Self.png)
        #expect(try reason(Data("GIF89a".utf8)).contains("save the picture as PNG"))
        #expect(try reason(png.prefix(20)).contains("save the picture as PNG"))
        #expect(try reason(png + Data(count: KioskLogo.mostBytes)).contains("more than 256 KB"))
        var wide = png
        wide[18] = 0x09
        #expect(try reason(wide).contains("2314 by 5 pixels"))
        let none = try #require(throws: WrongValue.self) { try KioskLogo(path: "/does/not/exist.png") }
        #expect(none.reason.contains("cannot be read"))
        let logo = try Self.logo(png)
        #expect((logo.width, logo.height) == (10, 5))
    }

    @Test func `picture and colour are served under names that change with them, and the page names them`() async throws
    {
        let logo = try Self.logo(#require(Self.png))
        try await Site.run(configured: { configuration in
            configuration.deviceMode = .shared
            configuration.applications[0].page = .kiosk
            configuration.kioskLogo = logo
            configuration.kioskColor = KioskColor("#8c1d40")
            configuration.kioskWelcome = ["sv": "Hej <b>& välkommen"]
        }) { site in
            let visitor = Visitor(site)
            let page = try await visitor.send(.get, "/ios", headers: [.acceptLanguage: "sv", .accept: "text/html"]).text
            #expect(page.contains("Hej &lt;b&gt;&amp; välkommen</h1>"))
            let picture = try #require(page.firstMatch(of: /src="(\/assets\/kiosk-logo[^"]+)" width="10" height="5"/))
            let style = try #require(page.firstMatch(of: /href="(\/assets\/kiosk-look[^"]+)"/))
            for (address, type) in [(picture.output.1, "image/png"), (style.output.1, "text/css; charset=utf-8")] {
                let answer = try await visitor.get(String(address))
                #expect(answer.status == 200)
                #expect(answer.fields[.contentType] == type)
                #expect(try #require(answer.fields[.cacheControl]).contains("immutable"))
            }
            let english = try await visitor.send(.get, "/ios", headers: [.acceptLanguage: "en", .accept: "text/html"])
            #expect(english.text.contains("Hello! See your profile card.</h1>"))
        }
    }

    @Test func `a welcome can be written in each language of the pages, and in no other`() throws {
        let languages = try Languages(folder: Site.publicFolder + "/languages", cookieName: "language")
        #expect(CompanionConfiguration.welcomeLanguages.map(\.0).sorted() == languages.all.map(\.tag).sorted())
    }
}
