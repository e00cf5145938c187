import Foundation
import TestSupport
import Testing

@testable import CompanionCore

/// The mistakes that people make in a configuration. Each is found before the server starts, with its key and its remedy,
/// and nothing else is said.
@Suite struct ConfigurationMistakesTests {
    private static let app = "apps: { ios: { client_id: abc } }\n"
    private static let noApplication =
        "apps names no application; set COMPANION_APPS, such as COMPANION_APPS=ios, and the application's client_id: see “Connect a real tenant” in the README"

    // The lines are as long as the sentences.
    // swift-format-ignore
    private static let rows: [(yaml: String, environment: [String: String], mistakes: [String])] = [
        ("apps: [\n", [:], ["c.yaml is neither YAML nor JSON, in line 2, column 1: a value is expected, or a bracket has no end; put a text that begins with a sign such as , or ] in quotes"]),
        ("apps: { ios: { client_id: abc }\n", [:], ["c.yaml is neither YAML nor JSON, in line 2, column 1: the mapping that begins with { needs a comma or its } here"]),
        ("a: b: c\n", [:], ["c.yaml is neither YAML nor JSON, in line 1, column 5: a colon stands where no key can be; put a text that contains “: ” in quotes, and each key on a line of its own"]),
        ("apps:\n\tios: 1\n", [:], ["c.yaml is neither YAML nor JSON, in line 2, column 1: a tab, @, ` or % cannot begin a value; indent by blanks, and put such a text in quotes"]),
        ("apps:\n  ios:\n    client_id: \"abc\n", [:], ["c.yaml is neither YAML nor JSON, in line 4, column 1: a text in quotes has no end"]),
        ("apps:\n  ios:\n   client_id: a\n  page: ios\n mac: 1\n", [:], ["c.yaml is neither YAML nor JSON, in line 5, column 2: a key is expected; indent it by blanks, as much as the keys beside it"]),
        ("apps:\n  - a\n  b\n", [:], ["c.yaml is neither YAML nor JSON, in line 4, column 1: a key without a colon; write key: value, with a blank after the colon"]),
        ("apps: - a\n", [:], ["c.yaml is neither YAML nor JSON, in line 1, column 7: a list cannot begin here; begin its first entry on the next line"]),
        ("listen: @x\n", [:], ["c.yaml is neither YAML nor JSON, in line 1, column 9: a tab, @, ` or % cannot begin a value; indent by blanks, and put such a text in quotes"]),
        ("listen: `x`\n", [:], ["c.yaml is neither YAML nor JSON, in line 1, column 9: a tab, @, ` or % cannot begin a value; indent by blanks, and put such a text in quotes"]),
        ("listen: *x\n", [:], ["c.yaml is neither YAML nor JSON, in line 1, column 9: *, & and ! have a meaning of their own at the beginning of a value; put the text in quotes"]),
        ("listen: \"\\q\"\n", [:], ["c.yaml is neither YAML nor JSON, in line 1, column 10: this \\ is no escape in double quotes; use single quotes, or write \\\\"]),
        ("listen: [a\nb: c\n", [:], ["c.yaml is neither YAML nor JSON, in line 2, column 2: the list that begins with [ needs a comma or its ] here"]),
        ("listen: { a: b\n", [:], ["c.yaml is neither YAML nor JSON, in line 2, column 1: the mapping that begins with { needs a comma or its } here"]),
        ("- a\n- b\n", [:], ["c.yaml must be a mapping of keys to values"]),
        ("text\n", [:], ["c.yaml must be a mapping of keys to values"]),
        ("apps: { ios: { client_id: abc }, ios: { client_id: d } }\n", [:], ["c.yaml has ios twice in the same place, in line 1 or below; keep one of them"]),
        ("listen: a\nlisten: b\n", [:], ["c.yaml has listen twice in the same place, in line 1 or below; keep one of them"]),
        ("key\nvalue: 1\n", [:], ["c.yaml is neither YAML nor JSON, in line 2, column 6: a colon stands where no key can be; put a text that contains “: ” in quotes, and each key on a line of its own"]),
        ("listen: !x y\n%z\n", [:], ["c.yaml is neither YAML nor JSON, in line 2, column 3: something else is expected; put texts with special characters in quotes, and indent by blanks"]),
        ("listen: \u{1}\n", [:], ["c.yaml has a control character, in line 1; save it as UTF-8 text"]),
        ("# é\r\n\nlisten: \u{1}\n", [:], ["c.yaml has a control character, in line 3; save it as UTF-8 text"]),
        ("tokendisplay: full\n\(app)", [:], ["tokendisplay is not a setting; did you mean token_display? `companion settings` lists them"]),
        ("Listen: 1\n\(app)", [:], ["Listen is not a setting; did you mean listen? `companion settings` lists them"]),
        ("sesion: { idle_minutes: 1 }\n\(app)", [:], ["sesion.idle_minutes is not a setting; did you mean session.idle_minutes? `companion settings` lists them"]),
        ("session: { idle_minute: 1 }\n\(app)", [:], ["session.idle_minute is not a setting; did you mean session.idle_minutes? `companion settings` lists them"]),
        ("session.idle_minutes: 1\n\(app)", [:], ["session.idle_minutes has a dot in a name; nest the parts, for example session: { max_hours: 1 }"]),
        ("apps: { ios: { cliend_id: abc } }\n", [:], ["apps.ios.cliend_id is not a setting; did you mean apps.ios.client_id? `companion settings` lists them", "apps.ios.client_id is missing; copy “Application (client) ID” from the app registration"]),
        ("apps: { ios: { client_id: abc, redirect: x } }\n", [:], ["apps.ios.redirect is not a setting; `companion settings` lists them"]),
        ("entirely_unknown: 1\n\(app)", [:], ["entirely_unknown is not a setting; `companion settings` lists them"]),
        ("kiosk:\n  color: #0b6a4f\n\(app)", [:], ["kiosk.color has no value; write one, in quotes if it begins with #, or remove the key"]),
        ("listen:\n\(app)", [:], ["listen has no value; write one, in quotes if it begins with #, or remove the key"]),
        ("log_level: ~\n\(app)", [:], ["log_level has no value; write one, in quotes if it begins with #, or remove the key"]),
        ("public_url: null\n\(app)", [:], ["public_url has no value; write one, in quotes if it begins with #, or remove the key"]),
        ("kiosk: { logo_file: '' }\n\(app)", [:], ["kiosk.logo_file has no value; write one, in quotes if it begins with #, or remove the key"]),
        ("api_tokens: [ { name: nightly, sha256: \(String(repeating: "a", count: 64)), scopes: metrics, expires: '' } ]\n\(app)", [:], ["api_tokens.nightly.expires has no value; write one, in quotes if it begins with #, or remove the key"]),
        ("kiosk: { hosts: [a.example, ~] }\n\(app)", [:], ["kiosk.hosts has an entry without a value; write one, in quotes if it begins with #, or remove the entry"]),
        ("apps: { ios: { client_id: abc, authority: '' } }\n", [:], ["apps.ios.authority has no value; write one, in quotes if it begins with #, or remove the key"]),
        ("apps: { ios: { client_id: abc, alowed_users: } }\n", [:], ["apps.ios.alowed_users is not a setting; did you mean apps.ios.allowed_users? `companion settings` lists them"]),
        ("apps: { ios: { client_id: abc, alowed_users: {} } }\n", [:], ["apps.ios.alowed_users is not a setting; did you mean apps.ios.allowed_users? `companion settings` lists them"]),
        ("entirely_unknown:\n\(app)", [:], ["entirely_unknown is not a setting; `companion settings` lists them"]),
        ("apps: { portal: { client_id: abc, operators: } }\n", [:], ["apps.portal.operators names no one; list users, groups or roles below it, or remove the key: then everyone here is one"]),
        ("apps: { portal: { client_id: abc, operators: {} } }\n", [:], ["apps.portal.operators names no one; list users, groups or roles below it, or remove the key: then everyone here is one"]),
        ("session: { idle_minutes: 600, max_hours: 1 }\n\(app)", [:], ["session.idle_minutes must not be longer than session.max_hours (1), after which each session ends; change one of them"]),
        ("session: { idle_minutes: 721 }\n\(app)", [:], ["session.idle_minutes must not be longer than session.max_hours (12), after which each session ends; change one of them"]),
        ("device_mode: shared\nsession: { idle_minutes: 16 }\n\(app)", [:], ["session.idle_minutes must not be longer than session.max_hours (0.25), after which each session ends; change one of them"]),
        ("session: { max_hours: 0.5 }\n\(app)", [:], ["session.idle_minutes must not be longer than session.max_hours (0.5), after which each session ends; change one of them"]),
        ("session: { idle_minutes: ten }\n\(app)", [:], ["session.idle_minutes must be a number of minutes above 0, and at most a year, not “ten”"]),
        ("session: { idle_minutes: 0 }\n\(app)", [:], ["session.idle_minutes must be a number of minutes above 0, and at most a year, not “0”"]),
        ("session: { idle_minutes: -5 }\n\(app)", [:], ["session.idle_minutes must be a number of minutes above 0, and at most a year, not “-5”"]),
        ("session: { max_hours: 100000 }\n\(app)", [:], ["session.max_hours must be a number of hours above 0, and at most a year, not “100000”"]),
        ("session: 5\n\(app)", [:], ["session must be a mapping, such as session: { idle_minutes: … }"]),
        ("session: [5]\n\(app)", [:], ["session must be a mapping, such as session: { idle_minutes: … }"]),
        ("apps: ios\n", [:], ["apps must be a mapping, such as apps: { ios: { page: … } }"]),
        ("apps: [ios, macos]\n", [:], ["apps must be a mapping, such as apps: { ios: { page: … } }"]),
        ("apps:\n  - ios: { client_id: abc }\n", [:], ["apps must be a mapping, such as apps: { ios: { page: … } }"]),
        ("session: [ { idle_minutes: 5 } ]\n\(app)", [:], ["session must be a mapping, such as session: { idle_minutes: … }"]),
        ("apps: { portal: { client_id: abc, operators: [ { users: [a] } ] } }\n", [:], ["apps.portal.operators must be a mapping, such as apps: { portal: { operators: { users: … } } }"]),
        ("apps: { ios: [ { client_id: abc } ] }\n", [:], ["apps.ios must be a mapping, such as apps: { ios: { page: … } }", "apps.ios.client_id is missing; copy “Application (client) ID” from the app registration"]),
        ("apis: [ { name: graph } ]\n\(app)", [:], ["apis must be a mapping, such as apis: { graph: { base: … } }"]),
        ("apps: { ios: abc }\n", [:], ["apps.ios must be a mapping, such as apps: { ios: { page: … } }", "apps.ios.client_id is missing; copy “Application (client) ID” from the app registration"]),
        ("kiosk: { welcome: Hello }\n\(app)", [:], ["kiosk.welcome must be a mapping, such as kiosk: { welcome: { en: … } }"]),
        ("demo: x\n\(app)", [:], ["demo must be a mapping, such as demo: { host: … }"]),
        ("apis: graph\n\(app)", [:], ["apis must be a mapping, such as apis: { graph: { base: … } }"]),
        ("api_tokens: nightly\n\(app)", [:], ["api_tokens must be a mapping, such as api_tokens: { nightly: { sha256: … } }"]),
        ("session: { idle_minutes: [5] }\n\(app)", [:], ["session.idle_minutes must be one value, not a list"]),
        ("listen: localhost\n\(app)", [:], ["listen must be an address and a port, such as 127.0.0.1:8080"]),
        ("listen: 127.0.0.1:99999\n\(app)", [:], ["listen must be an address and a port, such as 127.0.0.1:8080"]),
        ("listen: ':x'\n\(app)", [:], ["listen must be an address and a port, such as 127.0.0.1:8080"]),
        ("public_url: companion.example\n\(app)", [:], ["public_url is not a URL; write it as https://companion.example.com"]),
        ("public_url: http://companion.example\n\(app)", [:], ["public_url must be https:// unless the host is localhost: sign-in cookies need it"]),
        ("public_url: https://companion.example/a?b\n\(app)", [:], ["public_url must have no query, fragment or user: https://host[:port][/path]"]),
        ("public_url: https://user@companion.example\n\(app)", [:], ["public_url must have no query, fragment or user: https://host[:port][/path]"]),
        ("device_mode: kiosk\n\(app)", [:], ["device_mode must be one of private, shared, not “kiosk”"]),
        ("token_display: all\n\(app)", [:], ["token_display must be one of hidden, masked, full, not “all”"]),
        ("token_display: full\ndevice_mode: shared\n\(app)", [:], ["token_display must not be full when device_mode is shared; use masked or hidden"]),
        ("log_level: verbose\n\(app)", [:], ["log_level must be one of trace, debug, info, notice, warning, error, critical, not “verbose”"]),
        ("log_format: xml\n\(app)", [:], ["log_format must be one of text, json, not “xml”"]),
        ("kiosk: { color: blue }\n\(app)", [:], ["kiosk.color must be a colour such as \"#0040dd\", not “blue”"]),
        ("kiosk: { color: '#ffffff' }\n\(app)", [:], ["kiosk.color has a contrast of 1.0:1 to white; choose a darker colour with at least 4.5:1 (WCAG 2.2, 1.4.3)"]),
        ("kiosk: { hosts: ['https://a.example'] }\n\(app)", [:], ["kiosk.hosts has “https://a.example”; write only a host, such as adfs.contoso.com, or *.contoso.com for all subdomains"]),
        ("kiosk: { idle_seconds: 10 }\n\(app)", [:], ["kiosk.idle_seconds must be longer than kiosk.countdown_after_seconds: people need to see it"]),
        ("kiosk: { tiles: [external] }\n\(app)", [:], ["kiosk.tiles names “external”, which is none of the applications", "kiosk.tiles needs a kiosk to be on: an application with the page kiosk"]),
        ("kiosk: { logo_file: /nonexistent.png }\n\(app)", [:], ["kiosk.logo_file names /nonexistent.png, which cannot be read; check the path and its permissions"]),
        ("trusted_proxies: [proxy.example]\n\(app)", [:], ["trusted_proxies has “proxy.example”, which is not an address or CIDR network"]),
        ("limits: { exempt: [10.0.0.0/99] }\n\(app)", [:], ["limits.exempt has “10.0.0.0/99”, which is not an address or CIDR network"]),
        ("limits: { connections: many }\n\(app)", [:], ["limits.connections must be a whole number from 0 to 1000000, not “many”; 0 turns the limit off"]),
        ("limits: { sign_ins_per_minute: -1 }\n\(app)", [:], ["limits.sign_ins_per_minute must be a whole number from 0 to 1000000, not “-1”; 0 turns the limit off"]),
        ("database: postgresql://user:secret@host/name\n\(app)", [:], ["database must not contain the password; set COMPANION_DATABASE_PASSWORD, or database_password_file"]),
        ("database_pool: 0\n\(app)", [:], ["database_pool must be a whole number from 1 to 1000, not “0”"]),
        ("staleness_seconds: x\n\(app)", [:], ["staleness_seconds must be a number of seconds above 0, and at most a year, not “x”"]),
        ("encryption_key: abc\n\(app)", [:], ["encryption_key must not stand in a file; set COMPANION_ENCRYPTION_KEY, or encryption_key_file", "encryption_key must be the base64 of 32 bytes, as `openssl rand -base64 32` prints; after a rotation NEW,OLD"]),
        ("metrics: { listen: 127.0.0.1:8080 }\n\(app)", [:], ["metrics.listen must have another port than listen, for example 127.0.0.1:9464"]),
        ("tls: { certificate_file: /a.pem }\n\(app)", [:], ["tls.private_key_file is missing beside the certificate"]),
        ("", [:], [noApplication]),
        ("apps: {}\n", [:], [noApplication]),
        ("app: { ios: { client_id: abc } }\n", [:], ["app.ios.client_id is not a setting; did you mean apps.ios.client_id? `companion settings` lists them", noApplication]),
        ("api_token: { nightly: { scopes: [check] } }\n\(app)", [:], ["api_token.nightly.scopes is not a setting; did you mean api_tokens.nightly.scopes? `companion settings` lists them"]),
        ("apps: { Ios: { client_id: abc } }\n", [:], ["apps.Ios is no name for an application; use lower-case letters, digits and -, not api, assets, auth, healthz, metrics, native, paste, readyz or truth", "apps.Ios.page is missing; say which page to show: ios, macos, external, b2c, portal, kiosk"]),
        ("apps: { native: { client_id: abc, page: ios } }\n", [:], ["apps.native is no name for an application; use lower-case letters, digits and -, not api, assets, auth, healthz, metrics, native, paste, readyz or truth"]),
        ("apps: { mine: { client_id: abc } }\n", [:], ["apps.mine.page is missing; say which page to show: ios, macos, external, b2c, portal, kiosk"]),
        ("apps: { ios: {} }\n", [:], ["apps.ios.client_id is missing; copy “Application (client) ID” from the app registration"]),
        ("apps: { ios: { client_id: abc, kind: entra } }\n", [:], ["apps.ios.kind must be one of workforce, external, b2c, oidc, not “entra”"]),
        ("apps: { ios: { client_id: abc, kind: b2c } }\n", [:], ["apps.ios.authority is missing; write it as https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_susi", "apps.ios.api is missing; a tenant of the kind b2c has an API of its own"]),
        ("apps: { ios: { client_id: abc, kind: external } }\n", [:], ["apps.ios.authority is missing; write it as https://contoso.ciamlogin.com", "apps.ios.api is missing; a tenant of the kind external has an API of its own"]),
        ("apps: { ios: { client_id: abc, authority: login.microsoftonline.com/common } }\n", [:], ["apps.ios.authority is “login.microsoftonline.com/common”. The authority is not a URL such as https://login.microsoftonline.com/common."]),
        ("apps: { ios: { client_id: abc, authority: 'http://login.microsoftonline.com/common' } }\n", [:], ["apps.ios.authority is “http://login.microsoftonline.com/common”. The authority must be https: plain http is for localhost only."]),
        ("apps: { ios: { client_id: abc, scopes: 'user.read, mail.read' } }\n", [:], ["apps.ios.scopes must be a list; write [user.read, mail.read]"]),
        ("apps: { ios: { client_id: abc, scopes: ['user.read mail.read'] } }\n", [:], ["apps.ios.scopes has the entry “user.read mail.read”; write each on its own, without commas and blanks"]),
        ("apps: { ios: { client_id: abc, scopes: [[a]] } }\n", [:], ["apps.ios.scopes must be a list of texts"]),
        ("apps: { ios: { client_id: abc, prompt: none } }\n", [:], ["apps.ios.prompt must be one of if_necessary, select_account, login, consent, create, not “none”"]),
        ("apps: { ios: { client_id: abc, client_secret: abc } }\n", [:], ["apps.ios.client_secret must not stand in a file; set COMPANION_APPS_IOS_CLIENT_SECRET, or apps.ios.client_secret_file"]),
        ("apps: { ios: { client_id: abc, allowed_tenants: [contoso.example] } }\n", [:], ["apps.ios.allowed_tenants has “contoso.example”, which is not a tenant ID; copy “Directory (tenant) ID” from that tenant's overview page"]),
        ("apps: { ios: { client_id: abc, allowed_users: [adele@contoso.example] } }\n", [:], ["apps.ios.allowed_users has “adele@contoso.example”, which has no effect, because any tenant can assign that name to any user; set allowed_tenants too, or name users by their object IDs"]),
        ("apps: { ios: { client_id: abc, allowed_roles: [Operator] } }\n", [:], ["apps.ios.allowed_roles has “Operator”, which has no effect, because any tenant can assign that app role to any user; set allowed_tenants too, or name users by their object IDs"]),
        ("apps: { ios: { client_id: abc, api: http://api.example } }\n", [:], ["apps.ios.api must be an https:// URL (http:// only for localhost)"]),
        ("apps: { ios: { client_id: abc, redirect_uri: other } }\n", [:], ["apps.ios.redirect_uri must be one of shared, own, not “other”"]),
        ("apps: { ios: { client_id: abc, extra_query_parameters: [nonce] } }\n", [:], ["apps.ios.extra_query_parameters has “nonce”, which the companion sets by itself"]),
        ("apps: { ios: { client_id: abc, page: windows } }\n", [:], ["apps.ios.page must be one of ios, macos, external, b2c, portal, kiosk, not “windows”"]),
        ("apps: { ios: { client_id: abc, page: kiosk } }\n", [:], ["apps.ios.page is a kiosk, which needs device_mode: shared"]),
        ("apps: { ios: { client_id: abc, certificate_file: /a.pem } }\n", [:], ["apps.ios.private_key_file is missing beside the certificate"]),
        ("apps: { ios: { client_id: abc, pushed_authorization: on } }\n", [:], ["apps.ios.pushed_authorization must be one of auto, off, not “on”"]),
        ("apps: { ios: { client_id: abc, title: [a, b] } }\n", [:], ["apps.ios.title must be one value, not a list"]),
        ("apis: { graph: { paths: [/me] } }\n\(app)", [:], ["apis.graph.base is missing; write it as https://graph.microsoft.com/v1.0"]),
        ("apis: { graph: { base: 'https://graph.microsoft.com/v1.0', paths: [me] } }\n\(app)", [:], ["apis.graph.paths has “me”, which is no path such as /me/messages or /users/*, without escapes and queries", "apis.graph.applications needs an application with the page portal, which calls the API"]),
        ("api_tokens: [ { sha256: abc } ]\n\(app)", [:], ["api_tokens must be a list of entries that each have a name"]),
        ("api_tokens: [ { name: nightly, sha256: abc, scopes: [check] } ]\n\(app)", [:], ["api_tokens.nightly.sha256 must be the 64 hexadecimal digits of a SHA-256"]),
        ("api_tokens: [ { name: nightly, scopes: [all] } ]\n\(app)", [:], ["api_tokens.nightly.sha256 is missing; write it as `companion tokens new` prints it", "api_tokens.nightly.scopes has “all”, which is none of check, sessions, sessions_read, metrics"]),
        ("provider_ca_file: /nonexistent.pem\n\(app)", [:], ["provider_ca_file names /nonexistent.pem, which cannot be read; check the path and its permissions"]),
        ("public: /nonexistent\n\(app)", [:], ["public names /nonexistent, which has no pages; name the folder Public of this version, such as /usr/share/companion/Public"]),
        (app, ["COMPANION_PUBLIC": "/tmp"], ["public names /tmp, which has no pages; name the folder Public of this version, such as /usr/share/companion/Public"]),
        (app, ["COMPANION_CONFIG": ""], ["COMPANION_CONFIG is set and empty; unset it, or give it a value"]),
        (app, ["COMPANION_LOG_LEVEL": ""], ["COMPANION_LOG_LEVEL is set and empty; unset it, or give it a value"]),
        (app, ["COMPANION_PUBLIK_URL": "x"], ["COMPANION_PUBLIK_URL is not a setting; did you mean COMPANION_PUBLIC_URL? `companion settings` lists them"]),
        (app, ["COMPANION_APPS": ""], ["COMPANION_APPS is set and empty; unset it, or give it a value"]),
        (app, ["COMPANION_APPS_IOS_CLIENT": "x"], ["COMPANION_APPS_IOS_CLIENT is not a setting; did you mean COMPANION_APPS_IOS_CLIENT_ID? `companion settings` lists them"]),
        (app, ["COMPANION_APPS_MACOS_CLIENT_ID": "x"], ["COMPANION_APPS_MACOS_CLIENT_ID is a setting of an application that nothing names; name it in COMPANION_APPS, such as COMPANION_APPS=macos"]),
        ("", ["COMPANION_APP_IOS_CLIENT_ID": "x"], ["COMPANION_APP_IOS_CLIENT_ID is not a setting; did you mean COMPANION_APPS_IOS_CLIENT_ID? Name its application in COMPANION_APPS, such as COMPANION_APPS=ios", noApplication]),
        (app, ["COMPANION_APP_IOS_CLIENT_ID": "x"], ["COMPANION_APP_IOS_CLIENT_ID is not a setting; did you mean COMPANION_APPS_IOS_CLIENT_ID? `companion settings` lists them"]),
        ("", ["COMPANION_APPS_IOS_CLIENT_ID": "x"], ["COMPANION_APPS_IOS_CLIENT_ID is a setting of an application that nothing names; name it in COMPANION_APPS, such as COMPANION_APPS=ios", noApplication]),
        (app, ["COMPANION_LISTEN": "8080"], ["listen must be an address and a port, such as 127.0.0.1:8080"]),
        (app, ["COMPANION_APPS_IOS_SCOPES": ""], ["COMPANION_APPS_IOS_SCOPES is set and empty; unset it, or give it a value"]),
        (app, ["COMPANION_APPS_IOS_ALLOWED_USERS": " , "], ["COMPANION_APPS_IOS_ALLOWED_USERS is set and empty; unset it, or give it a value"]),
    ]

    @Test(arguments: rows)
    func `a mistake is named with its key and its remedy`(
        _ yaml: String, _ environment: [String: String], _ mistakes: [String]
    ) throws {
        let folder = TemporaryFolder.ofProcess.appendingPathComponent("mistakes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { TemporaryFolder.remove(folder) }
        let file = folder.appendingPathComponent("c.yaml").path
        try Data(yaml.utf8).write(to: URL(fileURLWithPath: file))
        let found = #expect(throws: ConfigurationMistakes.self) {
            try CompanionConfiguration.read(environment: environment, file: file)
        }
        let lines = found?.all.map { "\($0.key) \($0.reason)".replacing(folder.path + "/", with: "") }
        #expect(lines == mistakes)
    }

    @Test(
        arguments: [
            ("listen: x", [:], "listen", 1), ("apps:\n  ios:\n    client_id: a\n    kind: x", [:], "apps.ios.kind", 4),
            ("\napps: ios", [:], "apps", 2),
            ("apps:\n  ios: { client_id: a,\n    titel: b }", [:], "apps.ios.titel", 3),
            ("api_tokens:\n  - name: nightly\n    scopes: [all]", [:], "api_tokens.nightly.scopes", 3),
            ("apps: { ios: {} }", [:], "apps.ios.client_id", nil),
            ("listen: x", ["COMPANION_LISTEN": "y"], "listen", nil),
            ("{\n  \"device_mode\": \"x\"\n}", [:], "device_mode", 2),
        ] as [(String, [String: String], String, Int?)])
    func `a mistake in the file has its line, unless the environment wins`(
        yaml: String, environment: [String: String], key: String, line: Int?
    ) throws {
        let file = TemporaryFolder.ofProcess.appendingPathComponent("\(UUID().uuidString).yaml")
        try Data(yaml.utf8).write(to: file)
        let found = #expect(throws: ConfigurationMistakes.self) {
            try CompanionConfiguration.read(environment: environment, file: file.path)
        }
        let mistake = try #require(found?.all.first { $0.key == key })
        #expect(mistake.line == line)
        #expect(mistake.explanation == mistake.reason + (line.map { " (line \($0))" } ?? ""))
    }

    @Test(
        arguments: [
            ([0x61, 0x3A, 0x20, 0x31, 0x0A, 0x62, 0x3A, 0x20, 0xE9, 0x0A], 2),
            ([0xFF, 0xFE, 0x61, 0x00, 0x0A, 0x00], 1),
        ] as [([UInt8], Int)])
    func `bytes that are not UTF-8 are named with their line`(bytes: [UInt8], line: Int) throws {
        let file = TemporaryFolder.ofProcess.appendingPathComponent("\(UUID().uuidString).yaml")
        try Data(bytes).write(to: file)
        let found = #expect(throws: ConfigurationMistakes.self) { try CompanionConfiguration.read(file: file.path) }
        #expect(found?.all.map(\.reason) == ["is not UTF-8 text, in line \(line); save it as UTF-8"])
    }

    private static let tenant = "0c4a7a1e-4d6d-4b7e-9c0e-5c8c2e0b9d11"
    private static let ways = [
        "", " # abc", "\n        - #abc", "\n        - \(tenant)\n        - #abc", " ~", " NULL", " {}", " ''", " ' '",
        " ','", " ['']", " [\(tenant), ~]", " [\n          #abc\n        ]",
        " [ # abc ]\n        ]", " &a [ # []\n        ]",
    ]

    @Test(
        arguments: [
            "allowed_users", "allowed_groups", "allowed_roles", "allowed_tenants", "operators:\n      users",
            "operators:\n      groups", "operators:\n      roles",
        ], ways)
    func `who may sign in is never read as everyone from a list that is written without a value`(
        setting: String, way: String
    ) throws {
        func read(_ value: String) throws(ConfigurationMistakes) -> CompanionConfiguration {
            let file = TemporaryFolder.ofProcess.appendingPathComponent("\(UUID().uuidString).yaml").path
            let yaml = """
                apps:
                  portal:
                    client_id: abc
                    authority: https://login.microsoftonline.com/\(Self.tenant)
                    \(setting):\(value)

                """
            _ = FileManager.default.createFile(atPath: file, contents: Data(yaml.utf8))
            return try CompanionConfiguration.read(file: file)
        }
        let found = #expect(throws: ConfigurationMistakes.self) { try read(way) }
        let mistake = try #require(found?.all.first)
        let parts = setting.components(separatedBy: ":\n      ")
        #expect(found?.all.count == 1 && mistake.key == (["apps", "portal"] + parts).joined(separator: "."))
        #expect(mistake.line == 4 + parts.count)
        #expect(["has no value; ", "has an entry without a value; "].contains { mistake.reason.hasPrefix($0) })
        #expect(mistake.reason.hasSuffix("; [] restricts nobody"))
        for way in [" []", " [ ] # abc", " &a []", "\n        []"] {
            let application = try #require(read(way).applications.first)
            #expect(application.allowed.isEmpty && application.operators == nil, "\(way)")
        }
    }

    @Test func `an empty section is no mistake`() throws {
        for yaml in ["kiosk:\n", "limits: ~\n", "kiosk: {}\n"] {
            let file = TemporaryFolder.ofProcess.appendingPathComponent("\(UUID().uuidString).yaml")
            try Data((yaml + Self.app).utf8).write(to: file)
            #expect(try CompanionConfiguration.read(file: file.path).applications.map(\.id) == ["ios"], "\(yaml)")
        }
    }

    @Test(arguments: [
        ("tokendisplay", "token_display"), ("token-display", "token_display"), ("TOKEN_DISPLAY", "token_display"),
        ("lsten", "listen"), ("lissten", "listen"), ("list", nil), ("x", nil), ("", nil),
        ("iltsen", "listen"), ("iltesn", nil), ("pulbci", "public"),
        ("token_dispaly", "token_display"), ("tokens_displays", "token_display"), ("tokens_displaysx", nil),
    ])
    func `the nearest name is that with the fewest changed letters`(given: String, name: String?) {
        #expect(nearest(to: given, among: ["listen", "token_display", "public"]) == name)
    }
}
