import Foundation
import Testing

@testable import CompanionPages

/// The templates of the projects and their values. `Tests/Browser/suite/projects.py` compares the files with the page's, and
/// type-checks them.
@Suite struct XcodeProjectTests {
    private let project: XcodeProject

    init() throws { project = try XcodeProject(publicFolder: Site.publicFolder, language: "en") }

    private func values(_ authority: String = "https://login.microsoftonline.com/common") -> XcodeProject.Values {
        XcodeProject.Values(
            bundleID: "com.contoso.tasks", clientID: "00001111-aaaa-2222-bbbb-3333cccc4444", authority: authority,
            scopes: ["user.read", "a\"b"])
    }

    private func controller(_ kind: XcodeProject.Kind, _ values: XcodeProject.Values) throws -> String {
        let files = try project.files(kind, for: .ios, .scene, values)
        return try #require(files.first { $0.path.hasSuffix("/ViewController.swift") }).text
    }

    @Test(
        arguments: [
            (.swift, "a\"b\\c\n⟦\u{2028}å", "a\\\"b\\\\c\\n\\u{27e6}\\u{2028}å"),
            (.plist, "a<b>&c\n\"", "a&lt;b&gt;&amp;c \""),
            (.pbxproj, "a\"b\\c\n", "a\\\"b\\\\c "),
            (.md, "a`b|c\n", "a b c "),
        ] as [(ProjectTemplate.Format, String, String)])
    func `a value is escaped as the format of its file demands`(
        format: ProjectTemplate.Format, value: String, escaped: String
    ) throws {
        let template = ProjectTemplate("x{{name}}{{=name}}{{other}}y\n", format: format)
        #expect(try template.text(["name": value]) { $0 } == "x\(escaped)\(value)y\n")
    }

    @Test(arguments: [
        ("%if a !b\n1\n%else\n2\n%end", "1"), ("%if b\n1\n%else\n2\n%end", "2"), ("%if a b\n1\n%end\n2", "2"),
        ("%if b\n%if a\n1\n%end\n%else\n3\n%end", "3"), ("%part p\n1\n  2 ⟦x⟧\n%end\n%steps x\n  %use p", "  1\n    2"),
        ("\n\n1\n\n\n2", "1\n\n2"), ("{{t greeting}}", "hello y`"), ("1 {{unknown}}2", "1 2"),
    ])
    func `a template keeps the lines whose condition holds`(source: String, text: String) throws {
        let template = ProjectTemplate(source + "\n", format: .swift)
        #expect(try template.text(["a": "y`", "b": ""]) { $0 == "greeting" ? "hello {a}" : "" } == text + "\n")
    }

    @Test(arguments: ["%if a\n1", "%part a\n%if b\n%end\n"])
    func `a block without an end is a fault`(source: String) {
        #expect(throws: ProjectTemplate.Fault.self) {
            try ProjectTemplate(source, format: .swift).text(["a": "1"]) { $0 }
        }
    }

    @Test(arguments: [
        ("https://login.microsoftonline.com/common", false), ("https://login.microsoftonline.us/common", false),
        ("https://localhost:8443/common", true), ("https://login.microsoftonline.com.example/common", true),
    ])
    func `a workforce authority that MSAL does not know is named as known`(authority: String, isNamed: Bool) throws {
        let text = try controller(.workforce, values(authority))
        #expect(text.contains("knownAuthorities = [authority]") == isNamed)
        #expect(text.contains("kAuthority = \"\(authority)\""))
        #expect(text.contains(#"kScopes: [String] = ["user.read", "a\"b"]"#))
    }

    @Test(arguments: [
        ("https://login.microsoftonline.com/common", "https://graph.microsoft.com/"),
        ("https://login.microsoftonline.us/common", "https://graph.microsoft.us/"),
    ])
    func `a national cloud has a Graph of its own`(authority: String, graph: String) throws {
        #expect(try controller(.workforce, values(authority)).contains("kGraphEndpoint = \"\(graph)\""))
    }

    @Test(arguments: [
        "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_susi",
        "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_susi",
    ])
    func `a policy's authority is taken apart, with or without tfp`(authority: String) throws {
        let text = try controller(.b2c, values(authority))
        for line in [
            "kAuthorityHostName = \"contoso.b2clogin.com\"", "kTenantName = \"contoso.onmicrosoft.com\"",
            "kSignupOrSigninPolicy = \"b2c_1_susi\"",
        ] { #expect(text.contains(line)) }
    }

    @Test func `the demo's external tenant has a host with a dot, and its app needs no known authority`() throws {
        let demo = project.demoValues(.external, bundleID: "com.contoso.tasks", clientID: "x")
        let text = try controller(.external, demo)
        #expect(text.contains("kAuthority = \"https://127.0.0.1:8443/fabrikam.example\""))
        #expect(!text.contains("knownAuthorities"))
    }

    @Test func `a style that a kind has not is refused with the list of those that exist`() {
        let error = #expect(throws: XcodeProject.NoSuchProject.self) {
            try project.files(.external, for: .ios, .swiftUI, values())
        }
        #expect(error?.description.contains("workforce-ios-swiftui") == true)
    }
}
