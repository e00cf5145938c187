import Foundation
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore

@Suite struct ConfigurationTests {
    private func read(
        _ yaml: String, environment: [String: String] = [:], options: [String: String] = [:]
    ) throws -> CompanionConfiguration {
        let file = TemporaryFolder.ofProcess.appendingPathComponent("companion-\(UUID().uuidString).yaml")
        try Data(yaml.utf8).write(to: file)
        return try CompanionConfiguration.read(options: options, environment: environment, file: file.path)
    }

    private static let application = "apps: { ios: { client_id: abc } }"
    private static let pair = "certificate_file: a.pem, private_key_file: a.key"

    @Test(arguments: [
        ("login.microsoftonline.com", "https://graph.microsoft.com/v1.0/me"),
        ("login.microsoftonline.us", "https://graph.microsoft.us/v1.0/me"),
        ("login.partner.microsoftonline.cn", "https://microsoftgraph.chinacloudapi.cn/v1.0/me"),
    ])
    func `a national cloud has a Microsoft Graph of its own`(host: String, api: String) throws {
        let yaml = "apps: { ios: { client_id: abc, authority: 'https://\(host)/organizations' } }"
        let configuration = try read(yaml)
        #expect(configuration.applications.first?.api?.description == api)
    }

    @Test(
        arguments: [
            ("oidc", "", false, []), ("oidc", "scopes: []", true, []), ("oidc", "scopes: [email]", true, ["email"]),
            ("workforce", "scopes: [mail.read]", false, ["mail.read"]), ("workforce", "", false, ["user.read"]),
        ] as [(String, String, Bool, [String])])
    func `at other providers, scopes that are written are the whole list`(
        kind: String, scopes: String, areComplete: Bool, expected: [String]
    ) throws {
        let lines = [
            "client_id: abc", "kind: \(kind)", "authority: 'https://login.microsoftonline.com/common'", scopes,
        ]
        let application = lines.filter { !$0.isEmpty }.joined(separator: ", ")
        let registration = try #require(read("apps: { ios: { \(application) } }").applications.first).registration
        #expect(registration.scopes == expected)
        #expect(registration.scopesAreComplete == areComplete)
    }

    @Test(
        arguments: [
            (nil, "which cannot be read"), ("no certificate", "which has no certificate in PEM"),
            ("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", "whose certificate 1 cannot be read"),
            ("{good}-----BEGIN CERTIFICATE-----\nMAA=", "whose certificate 2 cannot be read"), ("{good}{good}", nil),
        ] as [(String?, String?)])
    func `certificate authorities that cannot be used are a mistake at the start`(
        content: String?, reason: String?
    ) throws {
        let folder = TemporaryFolder.ofProcess.appendingPathComponent("authorities-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { TemporaryFolder.remove(folder) }
        let good = try String(contentsOfFile: OwnCertificate(in: folder.path).files.certificate, encoding: .utf8)
        let file = folder.appendingPathComponent("authorities.pem")
        try content?.replacing("{good}", with: good).write(to: file, atomically: true, encoding: .utf8)
        func configuration() throws -> CompanionConfiguration {
            try read(Self.application + "\nprovider_ca_file: \(file.path)")
        }
        guard let reason else {
            #expect(try configuration().authorityFile == file.path)
            return
        }
        #expect {
            try configuration()
        } throws: { error in
            "\(error)".contains("provider_ca_file") && "\(error)".contains("names \(file.path), \(reason)")
        }
    }

    @Test func `an application needs no more than its client id`() throws {
        let configuration = try read(Self.application)
        let application = try #require(configuration.applications.first)
        #expect(application.id == "ios")
        #expect(application.page == .ios)
        #expect(application.authority.description == "https://login.microsoftonline.com/common")
        #expect(application.api?.description == "https://graph.microsoft.com/v1.0/me")
        #expect(application.registration.scopes == ["user.read"])
        #expect(application.registration.redirectURI == "http://localhost:8080/auth/callback")
        #expect(application.prompt == .selectAccount)
        #expect(configuration.sessionIdle == .seconds(3600))
        #expect(configuration.sessionMaximum == .seconds(43_200))
    }

    @Test func `the environment alone configures an application`() throws {
        let configuration = try CompanionConfiguration.read(
            environment: [
                "COMPANION_APPS": "ios,my-mac", "COMPANION_APPS_IOS_CLIENT_ID": "abc",
                "COMPANION_APPS_IOS_CLIENT_SECRET": "s", "COMPANION_APPS_MY_MAC_PAGE": "macos",
                "COMPANION_APPS_MY_MAC_CLIENT_ID": "def", "COMPANION_APPS_MY_MAC_SCOPES": "user.read,mail.read",
                "COMPANION_PUBLIC_URL": "https://companion.example", "COMPANION_APPS_MY_MAC_CLIENT_SECRET": "t",
                "COMPANION_SESSION_IDLE_MINUTES": "5",
            ], file: nil)
        #expect(configuration.applications.map(\.id) == ["ios", "my-mac"])
        #expect(configuration.applications.last?.registration.scopes == ["user.read", "mail.read"])
        #expect(configuration.publicURL.redirectURI == "https://companion.example/auth/callback")
        #expect(configuration.sessionIdle == .seconds(300))
    }

    @Test func `limits are on by default, and each can be changed on its own`() throws {
        let defaults = try read(Self.application).limits
        let rates: [Int] = [
            defaults.signInsPerMinute, defaults.callbacksPerMinute, defaults.forcedRefreshesPerMinute,
            defaults.operatorRequestsPerMinute,
        ]
        #expect(rates == [3000, 3000, 60, 120])
        #expect(defaults.connections == 512)
        #expect(defaults.signInBurst == nil && defaults.exempt == [])
        let own = try read(
            """
            limits:
              sign_ins_per_minute: 0
              sign_in_burst: 7
              callbacks_per_minute: 1
              forced_refreshes_per_minute: 2
              operator_requests_per_minute: 3
              connections: 4
              exempt: 192.0.2.0/24
            \(Self.application)
            """,
            environment: [
                "COMPANION_LIMITS_CALLBACKS_PER_MINUTE": "9", "COMPANION_LIMITS_EXEMPT": "10.0.0.1, fd00::/8",
            ]
        ).limits
        let ownRates: [Int] = [
            own.signInsPerMinute, own.callbacksPerMinute, own.forcedRefreshesPerMinute, own.operatorRequestsPerMinute,
        ]
        #expect(ownRates == [0, 9, 2, 3])
        #expect(own.connections == 4 && own.signInBurst == 7)
        #expect(own.exempt == ["10.0.0.1", "fd00::/8"].compactMap(AddressRange.init))
        #expect(try read("limits: { exempt: 192.0.2.1 }\n" + Self.application).limits.exempt.count == 1)
    }

    @Test func `options win over the environment, and the environment over the file`() throws {
        let file = "listen: 127.0.0.1:1\ndatabase: file.sqlite\nlog_level: error\n" + Self.application
        let environment = ["COMPANION_LISTEN": "127.0.0.1:2", "COMPANION_DATABASE": "environment.sqlite"]
        #expect(try read(file).port == 1)
        #expect(try read(file, environment: environment).port == 2)
        let all = try read(file, environment: environment, options: ["port": "3", "database": "option.sqlite"])
        #expect(all.port == 3)
        #expect(all.database == .file("option.sqlite"))
        #expect(all.logLevel == "error")
        #expect(all.publicURL.origin == "http://localhost:3")
    }

    @Test func `the environment's key may be followed by older ones`() throws {
        let keys = [1, 2].map { Data(repeating: $0, count: 32).base64EncodedString() }.joined(separator: ",")
        guard
            case .value(keys) = try read(Self.application, environment: ["COMPANION_ENCRYPTION_KEY": keys])
                .encryptionKey
        else {
            Issue.record("not taken")
            return
        }
    }

    @Test func `JSON is read as well`() throws {
        let configuration = try read(
            #"{"device_mode": "shared", "apps": {"mac": {"page": "macos", "client_id": "x"}}}"#)
        #expect(configuration.deviceMode == .shared)
        #expect(configuration.sessionIdle == .seconds(120))
        #expect(configuration.sessionMaximum == .seconds(900))
    }

    @Test(arguments: [
        ("apps: { ios: { } }", "apps.ios.client_id"),
        ("apps: { phone: { client_id: a } }", "apps.phone.page"),
        ("apps: { ios: { client_id: a, page: android } }", "apps.ios.page"),
        ("apps: { ios: { client_id: a, kind: magic } }", "apps.ios.kind"),
        ("apps: { ios: { client_id: a, prompt: never } }", "apps.ios.prompt"),
        ("apps: { ios: { client_id: a, authority: ftp://x } }", "apps.ios.authority"),
        ("apps: { ios: { client_id: a, api: http://graph.example/me } }", "apps.ios.api"),
        ("apps: { ios: { client_id: a, client_secret: s } }", "apps.ios.client_secret"),
        ("apps: { ios: { client_id: a, client_secret_file: /does/not/exist } }", "apps.ios.client_secret_file"),
        ("apps: { ios: { client_id: a, clientid: b } }", "apps.ios.clientid"),
        ("apps: { auth: { client_id: a, page: ios } }", "apps.auth"),
        ("apps: { IOS: { client_id: a, page: ios } }", "apps.IOS"),
        ("apps: {}", "apps"),
        ("listen: nowhere\n" + application, "listen"),
        ("listen: [127.0.0.1:8080]\n" + application, "listen"),
        ("session.idle_minutes: 5\n" + application, "session.idle_minutes"),
        ("demo: { client_secret: s }\n" + application, "demo.client_secret"),
        ("listen: 127.0.0.1:70000\n" + application, "listen"),
        ("public_url: http://companion.example\n" + application, "public_url"),
        ("public_url: https://companion.example/a?b\n" + application, "public_url"),
        ("public_url: https://somebody@companion.example\n" + application, "public_url"),
        ("public_url: https://companion.example/path/\n" + application, "public_url"),
        ("public_url: https://companion.example//path\n" + application, "public_url"),
        ("public_url: https://companion.example/a/../b\n" + application, "public_url"),
        ("public_url: https://companion.example/a%20b\n" + application, "public_url"),
        ("public_url: https://companion.example/käse\n" + application, "public_url"),
        ("public_url: http://localhost/auth\n" + application, "public_url"),
        ("public_url: http://localhost/ios/companion\n" + application, "public_url"),
        ("public_url: companion\n" + application, "public_url"),
        ("public_url: https://companion.example\n" + application, "apps.ios.client_secret_file"),
        ("tls: { certificate_file: a.pem }\n" + application, "tls.private_key_file"),
        ("tls: { private_key_file: a.key }\n" + application, "tls.certificate_file"),
        ("tls: { redirect_listen: 127.0.0.1:80 }\n" + application, "tls.redirect_listen"),
        ("tls: { \(pair), redirect_listen: 127.0.0.1:8080 }\n" + application, "tls.redirect_listen"),
        (
            "metrics: { listen: 127.0.0.1:80 }\ntls: { \(pair), redirect_listen: 0.0.0.0:80 }\n" + application,
            "tls.redirect_listen"
        ),
        ("public_url: http://localhost:8080\ntls: { \(pair) }\n" + application, "public_url"),
        ("device_mode: public\n" + application, "device_mode"),
        ("device_mode: shared\ntoken_display: full\n" + application, "token_display"),
        ("session: { idle_minutes: 0 }\n" + application, "session.idle_minutes"),
        ("session: { max_hours: soon }\n" + application, "session.max_hours"),
        ("trusted_proxies: [10.0.0.0/33]\n" + application, "trusted_proxies"),
        ("encryption_key: AAAA\n" + application, "encryption_key"),
        ("log_level: loud\n" + application, "log_level"),
        ("limits: { sign_ins_per_minute: many }\n" + application, "limits.sign_ins_per_minute"),
        ("limits: { callbacks_per_minute: -1 }\n" + application, "limits.callbacks_per_minute"),
        ("limits: { forced_refreshes_per_minute: 1.5 }\n" + application, "limits.forced_refreshes_per_minute"),
        ("limits: { operator_requests_per_minute: 1000001 }\n" + application, "limits.operator_requests_per_minute"),
        ("limits: { sign_in_burst: 0 }\n" + application, "limits.sign_in_burst"),
        ("limits: { connections: x }\n" + application, "limits.connections"),
        ("limits: { exempt: [10.0.0.0/8, somewhere] }\n" + application, "limits.exempt"),
        ("limits: { sign_ins: 1 }\n" + application, "limits.sign_ins"),
        ("colour: blue\n" + application, "colour"),
        ("apps: { external: { client_id: a, kind: external } }", "apps.external.authority"),
        (
            "apps: { external: { client_id: a, kind: external, authority: https://contoso.ciamlogin.com } }",
            "apps.external.api"
        ),
        (
            "apps: { external: { client_id: a, kind: external, api: https://a.example, authority: https://login.microsoftonline.com/common } }",
            "apps.external.authority"
        ),
        ("apps: { ios: { client_id: a, kind: oidc } }", "apps.ios.authority"),
        ("apps: { ios: { client_id: a, kind: oidc, authority: http://id.example.com } }", "apps.ios.authority"),
        (
            "apps: { b2c: { client_id: a, kind: b2c, api: https://a.example, authority: https://c.b2clogin.com/c.onmicrosoft.com } }",
            "apps.b2c.authority"
        ),
        (
            "apps: { b2c: { client_id: a, kind: b2c, api: https://a.example, authority: https://c.b2clogin.com/c.onmicrosoft.com, policies: { sign_in: b2c_1_susi, edit_profile: ../x } } }",
            "apps.b2c.policies.edit_profile"
        ),
        ("apps: { ios: { client_id: a, policies: { sign_in: b2c_1_susi } } }", "apps.ios.policies.sign_in"),
        ("apps: { ios: { client_id: a, certificate_file: /does/not/exist } }", "apps.ios.private_key_file"),
        (
            "apps: { ios: { client_id: a, certificate_file: /does/not/exist, private_key_file: /neither } }",
            "apps.ios.certificate_file"
        ),
        ("apps: { ios: { client_id: a, private_key_file: /neither } }", "apps.ios.certificate_file"),
        ("apps: { ios: { client_id: a, federated_token_file: /does/not/exist } }", "apps.ios.federated_token_file"),
        (
            "apps: { ios: { client_id: a, client_secret_file: /a, federated_token_file: /b } }",
            "apps.ios.federated_token_file"
        ),
        ("apps: { ios: { client_id: a, client_authentication: digest } }", "apps.ios.client_authentication"),
        ("apps: { ios: { client_id: a, extra_query_parameters: [nonce] } }", "apps.ios.extra_query_parameters"),
        ("apps: { ios: { client_id: a, prompt: none } }", "apps.ios.prompt"),
        ("apps: { kiosk: { client_id: a } }", "apps.kiosk.page"),
        ("kiosk: { idle_seconds: 20 }\n" + application, "kiosk.idle_seconds"),
        ("kiosk: { color: blue }\n" + application, "kiosk.color"),
        ("kiosk: { color: '#ffd400' }\n" + application, "kiosk.color"),
        ("kiosk: { logo_file: /does/not/exist.png }\n" + application, "kiosk.logo_file"),
        ("kiosk: { welcome: { xx: Hi } }\n" + application, "kiosk.welcome.xx"),
        ("kiosk: { countdown_after_seconds: never }\n" + application, "kiosk.countdown_after_seconds"),
        ("apps: { portal: { client_id: a, allowed_users: [adele@contoso.example] } }", "apps.portal.allowed_users"),
        ("apps: { portal: { client_id: a, allowed_users: [Adele] } }", "apps.portal.allowed_users"),
        ("apps: { portal: { client_id: a, allowed_tenants: [contoso.com] } }", "apps.portal.allowed_tenants"),
        ("apps: { ios: { client_id: a, redirect_uri: https://a.example } }", "apps.ios.redirect_uri"),
        ("apps: { ios: { client_id: a, client_secret_expires: soon } }", "apps.ios.client_secret_expires"),
        ("apps: { ios: { client_id: a, client_secret_expires: 2027-02-30 } }", "apps.ios.client_secret_expires"),
        ("kiosk: { tiles: [ios] }\n" + application, "kiosk.tiles"),
    ])
    func `a mistake is named by its key`(yaml: String, key: String) throws {
        let mistakes = try #require(throws: ConfigurationMistakes.self) { try read(yaml) }
        #expect(mistakes.all.map(\.key).contains(key), "\(mistakes)")
    }

    private static func tiles(_ tiles: String) -> String {
        """
        device_mode: shared
        kiosk: { tiles: \(tiles) }
        apps: { kiosk: { client_id: a }, ios: { client_id: a }, portal: { client_id: a } }
        """
    }

    @Test(arguments: [
        ("[ios, nowhere]", "none of the applications"), ("[portal]", "which is a portal"), ("[ios, ios]", "twice"),
    ])
    func `a kiosk's tiles are tutorials of this configuration`(tiles: String, reason: String) throws {
        let mistakes = try #require(throws: ConfigurationMistakes.self) { try read(Self.tiles(tiles)) }
        #expect(mistakes.all.map(\.key) == ["kiosk.tiles"])
        #expect("\(mistakes)".contains(reason))
    }

    @Test func `a kiosk's tiles are marked, and other applications are not`() throws {
        let applications = try read(Self.tiles("[ios, kiosk]")).applications
        #expect(applications.filter(\.isKioskTile).map(\.id).sorted() == ["ios", "kiosk"])
        #expect(try read(Self.tiles("[]")).applications.filter(\.isKioskTile).isEmpty)
    }

    @Test func `each kind of provider has its own requirements and defaults`() throws {
        let configuration = try read(
            """
            apps:
              external: { kind: external, client_id: a, authority: https://contoso.ciamlogin.com, api: https://a.example }
              b2c:
                kind: b2c
                client_id: 11111111-2222-4333-8444-555555555555
                authority: https://c.b2clogin.com/tfp/c.onmicrosoft.com
                api: https://a.example
                policies: { sign_in: B2C_1_susi, edit_profile: b2c_1_edit, reset_password: b2c_1_reset }
              any: { page: external, kind: oidc, client_id: a, authority: https://id.example.com, extra_query_parameters: [ui_locales] }
            """)
        let (external, b2c, any) = (
            configuration.applications[0], configuration.applications[1], configuration.applications[2]
        )
        #expect(external.authority.description == "https://contoso.ciamlogin.com/contoso.onmicrosoft.com")
        #expect(external.registration.clientCapabilities == [])
        #expect(b2c.authority.description == "https://c.b2clogin.com/tfp/c.onmicrosoft.com/b2c_1_susi")
        #expect(b2c.authority(of: .editProfile)?.policy == "b2c_1_edit")
        #expect(b2c.authority(of: .resetPassword)?.policy == "b2c_1_reset")
        #expect(b2c.registration.scopes == ["11111111-2222-4333-8444-555555555555"])
        #expect(any.api == nil && any.prompt == nil && any.extraQueryParameters == ["ui_locales"])
        #expect(try read(Self.application).applications.first?.registration.clientCapabilities == ["cp1"])
    }

    @Test func `applications that no file names keep their addresses too`() throws {
        let demo = try read(Self.application).applications
        func serve(at path: String) throws {
            var configuration = try CompanionConfiguration.read(
                environment: ["COMPANION_PUBLIC_URL": "http://localhost" + path], file: nil, needsApplications: false)
            try configuration.serve(demo)
        }
        try serve(at: "/companion")
        let mistakes = try #require(throws: ConfigurationMistakes.self) { try serve(at: "/ios/companion") }
        #expect(mistakes.all.map(\.key) == ["public_url"])
    }

    @Test func `all mistakes come in one list`() throws {
        let yaml = "listen: x\ndevice_mode: y\napps: { ios: { kind: z }, mac: {} }"
        let mistakes = try #require(throws: ConfigurationMistakes.self) { try read(yaml) }
        #expect(
            mistakes.all.map(\.key) == [
                "listen", "device_mode", "apps.ios.kind", "apps.ios.client_id", "apps.mac.page", "apps.mac.client_id",
            ])
        #expect(mistakes.description.hasPrefix("The configuration has 6 mistakes:\n  listen must be"))
    }

    @Test(arguments: ["api", "assets", "auth", "healthz", "metrics", "native", "paste", "readyz", "truth"])
    func `an application cannot have the name of a page of ours`(name: String) throws {
        let inFile = try #require(throws: ConfigurationMistakes.self) {
            try read("apps: { \(name): { page: ios, client_id: abc } }")
        }
        let list = """
            The configuration has 1 mistake:
              apps.\(name) is no name for an application; use lower-case letters, digits and -, \
            not api, assets, auth, healthz, metrics, native, paste, readyz or truth
            """
        #expect(inFile.description == list + " (line 1)")
        let inEnvironment = try #require(throws: ConfigurationMistakes.self) {
            try CompanionConfiguration.read(
                environment: [
                    "COMPANION_APPS": name, "COMPANION_APPS_\(name.uppercased())_PAGE": "ios",
                    "COMPANION_APPS_\(name.uppercased())_CLIENT_ID": "abc",
                ], file: nil)
        }
        #expect(inEnvironment.description == list)
        // Only the whole name is taken.
        let beside = try read("apps: { my-\(name): { page: ios, client_id: abc } }")
        #expect(beside.applications.map(\.id) == ["my-\(name)"])
    }

    @Test func `a variable that is no setting is a mistake`() throws {
        let mistakes = try #require(throws: ConfigurationMistakes.self) {
            try read(Self.application, environment: ["COMPANION_PUBLIK_URL": "x"])
        }
        #expect(mistakes.all.map(\.key) == ["COMPANION_PUBLIK_URL"])
    }

    @Test func `a file that is not YAML is a mistake that names it`() throws {
        let mistakes = try #require(throws: ConfigurationMistakes.self) { try read("apps: [") }
        #expect(mistakes.all.first?.key.hasSuffix(".yaml") == true)
    }

    @Test func `the key file is beside the database unless named`() throws {
        guard case .file(let path) = try read("database: /var/lib/c/s.sqlite\n" + Self.application).encryptionKey else {
            Issue.record("not a file")
            return
        }
        #expect(path == "/var/lib/c/companion.key")
    }

    @Test(arguments: [
        ("https://a.example", "https://a.example"), ("https://A.example:443/", "https://a.example"),
        ("https://a.example:8443", "https://a.example:8443"), ("http://localhost:8080", "http://localhost:8080"),
        ("http://127.0.0.1", "http://127.0.0.1"), ("http://[::1]:80", "http://[::1]"),
    ])
    func `a public URL becomes an origin`(text: String, origin: String) throws {
        #expect(try PublicURL(text).origin == origin)
    }

    @Test(arguments: [
        ("https://a.example", "https://a.example", ""), ("https://a.example/", "https://a.example", ""),
        ("https://A.example/Companion", "https://a.example/Companion", "/Companion"),
        ("https://a.example:8443/~team/sign-in_2.0", "https://a.example:8443/~team/sign-in_2.0", "/~team/sign-in_2.0"),
    ])
    func `a public URL may have a path`(text: String, address: String, prefix: String) throws {
        let publicURL = try PublicURL(text)
        #expect(publicURL.address == address)
        #expect(publicURL.prefix == prefix)
        #expect(publicURL.redirectURI == address + "/auth/callback")
    }

    @Test(arguments: [
        ("/companion/ios", "/ios"), ("/companion", "/"), ("/companion/", "/"), ("/ios", "/ios"), ("/", "/"),
        ("/companions", "/companions"), ("/companion/companion", "/companion"), ("/Companion/ios", "/Companion/ios"),
    ])
    func `a front may strip the path or pass it on`(asked: String, own: String) throws {
        #expect(try PublicURL("https://a.example/companion").ownPath(asked) == own)
        #expect(try PublicURL("https://a.example").ownPath(asked) == asked)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "11.0.0.1", false), ("127.0.0.1", "127.0.0.1", true),
        ("127.0.0.1", "127.0.0.2", false), ("0.0.0.0/0", "8.8.8.8", true), ("fd00::/8", "fd12::1", true),
        ("fd00::/8", "fe80::1", false), ("fd00::/8", "10.0.0.1", false), ("192.168.1.0/25", "192.168.1.127", true),
        ("192.168.1.0/25", "192.168.1.128", false),
    ])
    func `a network contains an address, or not`(network: String, address: String, holds: Bool) throws {
        #expect(try #require(AddressRange(network)).contains(address) == holds)
    }
}
