import Foundation
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionPages

/// Which addresses the kiosk's browser may go to.
@Suite struct KioskPolicyTests {
    private func policy(_ yaml: String) throws -> KioskPolicy? {
        let file = TemporaryFolder.ofProcess.appendingPathComponent("companion-\(UUID().uuidString).yaml")
        try Data(("device_mode: shared\n" + yaml).utf8).write(to: file)
        return KioskPolicy(try CompanionConfiguration.read(file: file.path))
    }

    private static let microsoft = [
        "https://.account.live.com:443", "https://.autologon.microsoftazuread-sso.com:443",
        "https://.device.login.microsoftonline.com:443", "https://.login.live.com:443",
        "https://.login.microsoft.com:443", "https://.login.microsoftonline.com:443", "https://.login.windows.net:443",
        "https://.mysignins.microsoft.com:443",
    ]

    @Test func `everything is blocked but our pages, the authorities, Microsoft's sign-in and the operator's hosts`()
        throws
    {
        let policy = try #require(
            try policy(
                """
                public_url: http://localhost:8080/companion
                kiosk: { hosts: [ADFS.contoso.com, "*.idp.example", "sso.example:8443"] }
                apps:
                  kiosk: { client_id: a }
                  b2c: { kind: b2c, client_id: a, authority: "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com",
                         policies: { sign_in: b2c_1_susi }, api: "https://api.example.com" }
                """))
        #expect(policy.blocked == ["*"])
        #expect(policy.allowed.first == "http://.localhost:8080/companion")
        #expect(
            Set(policy.allowed.dropFirst())
                == Set(
                    Self.microsoft + [
                        "https://.contoso.b2clogin.com:443", "https://.adfs.contoso.com:443", "https://idp.example:443",
                        "https://.sso.example:8443",
                    ]))
        #expect(policy.allowed.count == Set(policy.allowed).count)
        let json = try JSONSerialization.jsonObject(with: Data(policy.json.utf8)) as? [String: [String]]
        #expect(json == ["URLBlocklist": ["*"], "URLAllowlist": policy.allowed])
    }

    @Test func `a provider other than Microsoft allows no hosts but its own`() throws {
        let policy = try #require(
            try policy(
                "apps: { kiosk: { kind: oidc, client_id: a, authority: \"https://id.example.com:8443/realms/one\" } }"))
        #expect(policy.allowed == ["http://.localhost:8080", "https://.id.example.com:8443"])
    }

    @Test func `without a kiosk there is no policy`() throws {
        #expect(try policy("apps: { ios: { client_id: a } }") == nil)
    }

    @Test(arguments: [
        "https://adfs.contoso.com", "adfs.contoso.com/path", "*", "a..b", "*.*.example", "-a.example", "a_b.example",
        "host:0", "host:70000", "host:1:2", "*.",
    ])
    func `text that is not a host is a mistake`(host: String) throws {
        let mistakes = try #require(throws: ConfigurationMistakes.self) {
            try policy("kiosk: { hosts: [\"\(host)\"] }\napps: { kiosk: { client_id: a } }")
        }
        #expect(mistakes.all.map(\.key) == ["kiosk.hosts"])
    }
}
