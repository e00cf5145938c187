import Testing

@testable import OpenIDConnect

@Suite("Authorities")
struct AuthorityTests {
    @Test(
        arguments: [
            ("9188040d-6c67-4c5b-b112-36a304b66dad", true), ("9188040D-6C67-4C5B-B112-36A304B66DAD", true), ("", false),
            ("9188040d-6c67-4c5b-b112-36a304b66da", false), ("9188040d-6c67-4c5b-b112-36a304b66dad0", false),
            ("9188040d6-c67-4c5b-b112-36a304b66dad", false), ("9188040d-6c67-4c5b-b112-36a304b66dag", false),
            ("9188040d-6c67-4c5b-b112-36a304b66da\u{E9}", false), ("9188040d-\u{301}c67-4c5b-b112-36a304b66dad", false),
            ("{9188040d-6c67-4c5b-b112-36a304b66dad}", false), ("9188040d06c6704c5b0b112036a304b66dad", false),
            ("------------------------------------", false),
        ])
    func `a GUID has 32 hexadecimal digits in five groups`(_ text: String, _ expected: Bool) {
        #expect(isGUID(text) == expected)
        #expect(isGUID("x\(text)".dropFirst()) == expected)
    }

    @Test(
        arguments: [
            (
                "https://login.microsoftonline.com/common", "https://login.microsoftonline.com/common",
                Authority.Segment.common
            ),
            (
                "https://login.microsoftonline.com/organizations/", "https://login.microsoftonline.com/organizations",
                .organizations
            ),
            (
                "HTTPS://Login.MicrosoftOnline.com:443/Consumers", "https://login.microsoftonline.com/consumers",
                .consumers
            ),
            (
                "https://login.microsoftonline.com/\(tenantID.uppercased())",
                "https://login.microsoftonline.com/\(tenantID)", .tenant(tenantID)
            ),
            (
                "https://login.microsoftonline.com/contoso.onmicrosoft.com",
                "https://login.microsoftonline.com/contoso.onmicrosoft.com", .tenant("contoso.onmicrosoft.com")
            ),
            ("https://login.windows.net/common", "https://login.windows.net/common", .common),
            (
                "https://login.microsoftonline.us/organizations", "https://login.microsoftonline.us/organizations",
                .organizations
            ),
            (
                "https://login.partner.microsoftonline.cn/organizations",
                "https://login.partner.microsoftonline.cn/organizations", .organizations
            ),
            ("http://localhost:8081/common", "http://localhost:8081/common", .common),
            ("http://127.0.0.1:8081/common", "http://127.0.0.1:8081/common", .common),
            ("http://[::1]:8081/common", "http://[::1]:8081/common", .common),
            ("https://localhost/common", "https://localhost/common", .common),
        ] as [(String, String, Authority.Segment)])
    func `a workforce authority is read`(_ text: String, _ canonical: String, _ segment: Authority.Segment) throws {
        let authority = try Authority(text)
        #expect(authority.description == canonical)
        #expect(authority.segment == segment)
        #expect(try authority == Authority(canonical))
    }

    private static let notAURL = "The authority is not a URL such as https://login.microsoftonline.com/common."
    private static let oneThing =
        "After the host the authority names one thing: a tenant ID, a domain of the tenant, common, organizations or consumers."
    private static let notATenant =
        "The authority's path is neither a tenant ID (a GUID), a domain such as contoso.onmicrosoft.com, common, organizations nor consumers."

    private static func unknownHost(_ host: String) -> String {
        "\(host) is not a sign-in host of Microsoft's: use login.microsoftonline.com, login.microsoftonline.us or login.partner.microsoftonline.cn."
    }

    private static func otherKind(_ host: String) -> String {
        "\(host) belongs to an external or B2C tenant, but this application's kind is workforce."
    }

    @Test(
        arguments: [
            ("https://login.microsoftonline.com/contoso%2", notAURL), ("https://login.microsoftonline.com/[1", notAURL),
            ("https://a.b2clogin.com/tfp/a%com/b", notAURL),
            ("", notAURL),
            ("common", notAURL),
            ("login.microsoftonline.com/common", notAURL),
            ("ftp://login.microsoftonline.com/common", notAURL),
            ("https:///common", notAURL),
            ("https://user@login.microsoftonline.com/common", notAURL),
            ("https://login.microsoftonline.com:0/common", notAURL),
            ("https://login.microsoftonline.com:x/common", notAURL),
            ("https://login.microsoftonline.com:/common", notAURL),
            ("https://login..com/common", notAURL),
            ("https://login.microsoftonline.com/common#", notAURL),
            ("https://login.microsoftonline.com/com mon", notAURL),
            ("https://login.microsoftonline.com\\@evil.example/common", notAURL),
            ("https://login.microsoftonline.com/contoso.\u{E9}xample", notAURL),
            ("http://[::1/common", notAURL),
            (
                "https://login.microsoftonline.com/common?p=1",
                "The authority has a query: leave out everything from the question mark on."
            ),
            (
                "http://login.microsoftonline.com/common",
                "The authority must be https: plain http is for localhost only."
            ),
            ("http://127.0.0.1.evil.example/common", "The authority must be https: plain http is for localhost only."),
            ("http://localhost.evil.example/common", "The authority must be https: plain http is for localhost only."),
            ("http://127.1/common", "The authority must be https: plain http is for localhost only."),
            ("https://login.microsofonline.com/common", unknownHost("login.microsofonline.com")),
            ("https://login.microsoftonline.com:444/common", unknownHost("login.microsoftonline.com:444")),
            (
                "https://login.microsoftonline.com.evil.example/common",
                unknownHost("login.microsoftonline.com.evil.example")
            ),
            ("https://contoso.ciamlogin.com/contoso.onmicrosoft.com", otherKind("contoso.ciamlogin.com")),
            ("https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_susi", otherKind("contoso.b2clogin.com")),
            ("https://login.microsoftonline.com", oneThing),
            ("https://login.microsoftonline.com/", oneThing),
            ("https://login.microsoftonline.com/common/v2.0", oneThing),
            ("https://login.microsoftonline.com/commons", notATenant),
            ("https://login.microsoftonline.com/11111111-2222-3333-4444-55555555555", notATenant),
            ("https://login.microsoftonline.com/contoso..com", notATenant),
            ("https://login.microsoftonline.com/%63ommon", notATenant),
        ])
    func `an invalid authority is refused with a reason`(_ text: String, _ reason: String) {
        #expect(throws: AuthorityError(reason: reason)) { try Authority(text) }
    }

    @Test func `an authority asks for its discovery document`() throws {
        let head = try Authority("https://login.microsoftonline.com/common").discoveryRequest.head
        #expect(head.method == .get)
        #expect(head.scheme == "https")
        #expect(head.authority == "login.microsoftonline.com")
        #expect(head.path == "/common/v2.0/.well-known/openid-configuration")
        #expect(head.headerFields[.accept] == "application/json")
        #expect(try Authority("http://localhost:8081/common").discoveryRequest.head.authority == "localhost:8081")
    }
}
