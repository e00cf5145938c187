import Foundation
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionPages
@testable import CompanionSignIn

/// The setup that `/native` and `companion native` give to a person's own app, and their answers to invalid values.
@Suite struct NativeSetupTests {
    private static let values = NativeSetup.Values(
        bundleID: "com.contoso.tasks", clientID: "00001111-aaaa-2222-bbbb-3333cccc4444")

    private func setup(_ language: String = "en") throws -> NativeSetup {
        try NativeSetup(publicFolder: Site.publicFolder, language: language)
    }

    /// The property lists of the text, in their order.
    private func plists(_ text: String) throws -> [[String: Any]] {
        try text.matches(of: /<\?xml[\s\S]*?<\/plist>/).map { match in
            let list = try PropertyListSerialization.propertyList(from: Data(match.output.utf8), format: nil)
            return try #require(list as? [String: Any])
        }
    }

    @Test func `on iOS the app has its URL scheme, may ask for the broker and shares MSAL's keychain group`() throws {
        let lists = try plists(setup().text(for: .ios, Self.values))
        try #require(lists.count == 2)
        let types = try #require(lists[0]["CFBundleURLTypes"] as? [[String: [String]]])
        #expect(types == [["CFBundleURLSchemes": ["msauth.com.contoso.tasks"]]])
        #expect(lists[0]["LSApplicationQueriesSchemes"] as? [String] == ["msauthv2", "msauthv3"])
        #expect(lists[1]["keychain-access-groups"] as? [String] == ["$(AppIdentifierPrefix)com.microsoft.adalcache"])
        #expect(lists[1].count == 1)
    }

    @Test func `on macOS the app needs no URL scheme, is in the sandbox and shares macOS's keychain group`() throws {
        let text = try setup().text(for: .macos, Self.values)
        let lists = try plists(text)
        try #require(lists.count == 1)
        #expect(lists[0]["com.apple.security.app-sandbox"] as? Bool == true)
        #expect(lists[0]["com.apple.security.network.client"] as? Bool == true)
        #expect(
            lists[0]["keychain-access-groups"] as? [String]
                == ["$(AppIdentifierPrefix)com.microsoft.identity.universalstorage"])
        #expect(!text.contains("CFBundleURLTypes") && !text.contains("Info.plist"))
    }

    @Test(arguments: NativeSetup.Platform.allCases)
    func `the constants are Swift code with the values in it`(platform: NativeSetup.Platform) throws {
        let text = try setup().text(for: platform, Self.values)
        let constants = text.split(separator: "\n").filter { $0.hasPrefix("let k") }.joined(separator: "\n")
        #expect(constants.contains(#"let kClientID = "00001111-aaaa-2222-bbbb-3333cccc4444""#))
        #expect(constants.contains(#"let kRedirectUri = "msauth.com.contoso.tasks://auth""#))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        // A use of each constant by the type that the tutorial's code needs.
        let uses = "let texts: [String] = [kClientID, kGraphEndpoint, kAuthority, kRedirectUri] + kScopes\n"
        try Data("\(constants)\n\(uses)".utf8).write(to: file)
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = ["swiftc", "-typecheck", file.path]
        try compiler.run()
        compiler.waitUntilExit()
        #expect(compiler.terminationStatus == 0)
    }

    @Test(arguments: ["en", "ja", "pt-BR", "pt-PT", "sv", "zh-Hans"])
    func `the text has all places filled in, and a sentence for each key`(language: String) throws {
        for platform in NativeSetup.Platform.allCases {
            let text = try setup(language).text(for: platform, Self.values)
            #expect(!text.contains("_id}") && !text.contains("_uri}"))
            #expect(text.firstMatch(of: /native(_page)?\.[a-z]+\./) == nil)
        }
    }

    @Test func `the text leads from the registration to the first run, for a workforce tenant alone`() throws {
        let text = try setup().text(for: .macos, Self.values)
        #expect(
            text.split(separator: "\n").filter { $0.hasPrefix("## ") } == [
                "## macOS: In the Microsoft Entra admin center", "## macOS: Xcode project", "## macOS: Add MSAL",
                "## macOS: Redirect URI and property lists", "## macOS: Code", "## macOS: First run",
            ])
        #expect(text.contains("carthage update --platform macOS") && !text.contains("--platform iOS"))
        #expect(text.contains("MSALAADAuthority(url:") && !text.contains("knownAuthorities = "))
        #expect(!text.contains("Tenant Creator") && !text.contains("B2C") && !text.contains("companion tenant"))
    }

    @Test(arguments: [
        ("", "empty"), ("msauth.com.contoso.tasks://auth", "redirect_uri"),
        ("msauth.com.contoso.tasks", "redirect_uri"),
        ("$(PRODUCT_BUNDLE_IDENTIFIER)", "variable"), ("00001111-aaaa-2222-bbbb-3333cccc4444", "client_id"),
        ("Your_Bundle_Id_Here", "placeholder"), ("<bundle id>", "placeholder"), ("[Your_Bundle_Id]", "placeholder"),
        ("com.yourcompany.app", "placeholder"), ("com.microsoft.identitysample.MSALiOS", "sample"),
        ("com.contoso. tasks", "space"), ("com.contoso.my_tasks", "underscore"), ("com.contoso.tåg", "characters"),
        ("com..contoso", "dots"), ("com.contoso.", "dots"), ("tasks", "one_word"),
        ("com.contoso.tasks", nil), ("com.contoso.enterprise-center", nil), ("COM.Contoso.Savour", nil),
    ])
    func `an invalid bundle id is refused with a reason`(value: String, mistake: String?) throws {
        #expect(try setup().mistake(in: value, of: "bundle_id") == mistake)
    }

    @Test(arguments: [
        ("", "empty"), ("msauth.com.contoso.tasks://auth", "redirect_uri"),
        ("{00001111-aaaa-2222-bbbb-3333cccc4444}", "braces"), ("\"00001111-aaaa-2222-bbbb-3333cccc4444\"", "braces"),
        ("Your_Application_Id_Here", "placeholder"), ("Enter_the_Application_Id_here", "placeholder"),
        ("00000000-0000-0000-0000-000000000000", "placeholder"),
        ("66855f8a-60cd-445e-a9bb-8cd8eadbd3fa", "sample"), ("com.contoso.tasks", "bundle_id"),
        ("abc8Q~aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "secret"), ("00001111aaaa2222bbbb3333cccc4444", "dashes"),
        ("00001111-aaaa-2222-bbbb-3333cccc444", "characters"), ("00001111-aaaa-2222-bbbb-3333cccc444g", "characters"),
        ("00001111-aaaa-2222-bbbb-3333cccc4444", nil), ("00001111-AAAA-2222-BBBB-3333CCCC4444", nil),
    ])
    func `an invalid client id is refused with a reason`(value: String, mistake: String?) throws {
        #expect(try setup().mistake(in: value, of: "client_id") == mistake)
    }

    @Test func `the command refuses invalid values with a sentence for each`() throws {
        let values = NativeSetup.Values(bundleID: "tasks", clientID: "{00001111-aaaa-2222-bbbb-3333cccc4444}")
        #expect {
            try setup().text(for: .ios, values)
        } throws: { error in
            (error as? NativeSetup.Mistakes)?.sentences == [
                "Bundle ID: A bundle ID has at least two parts, such as com.contoso.tasks.",
                "Client ID: Remove the braces or quotation marks around the GUID.",
            ]
        }
    }

    @Test(arguments: ["/native", "/native/lint", "/native/explain", "/native/map"])
    func `the pages are served, and count as one route`(path: String) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            #expect(try await visitor.send(.get, path, headers: [.accept: "text/html"]).status == 200)
            let metrics = try await visitor.get("/metrics").text
            #expect(metrics.contains(#"companion_http_requests_total{route="/native",method="GET",status="200"} 1"#))
        }
    }

    @Test func `each platform number that has an explanation is among the texts that pages fetch`() async throws {
        try await Site.run { site in
            let texts = try await Visitor(site).get(Visitor(site).path(ofTexts: "platform")).json
            #expect(texts["platform.AADSTS50011.who"] as? String == "operator")
            #expect(texts["platform.AADB2C90118.cause"] as? String != nil)
            #expect((texts["platform.AADSTS50011.cause"] as? String)?.contains("registrerad") == true)
        }
    }
}
