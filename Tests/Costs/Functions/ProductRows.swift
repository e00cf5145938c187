#if DEBUG
    import Foundation
    import HTTPServer
    import HTTPWire
    import Languages
    import Logging
    import OpenIDConnect
    import WebFormats
    @testable import Companion
    @testable import CompanionCore
    @testable import CompanionPages
    @testable import CompanionSignIn
    @testable import SessionStore

    private let router = Router(applications: [])

    func storeRows() -> [Row] {
        [
            Row(name: "session ids") { _ = SessionID(cookieValue: $0) },
            Row(name: "session keys") { _ = SessionKey($0) },
            Row(
                name: "scope sets",
                made: [("different scopes", { (0..<max(1, $0 / 6)).map { "s\($0)" }.joined(separator: " ") })],
                isStreamSafe: true
            ) { text in
                let set = ScopeSet(text: text)
                _ = (set.description, set.contains(set))
            },
        ]
    }

    private struct AnyBody: Decodable {
        var scopes: [String]?
        var force_refresh: Bool?
        var account: String?
    }

    func productRows() throws -> [Row] {
        let folder = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Public").standardized.path
        let languages = try Languages(folder: folder + "/languages", cookieName: "companion-language")
        let publicURL = try PublicURL("https://companion.example")
        let registration = ClientRegistration(
            clientID: "c", redirectURI: "https://a/b", scopes: [])
        var application = Application(
            id: "ios", page: .ios, title: "t", authority: try Authority("https://login.microsoftonline.com/common"),
            registration: registration, credential: .fixed(.secret("s")), api: nil)
        application.extraQueryParameters = ["x"]
        let own = application
        var configuration = CompanionConfiguration(port: 8080, applications: [own])
        configuration.publicURL = publicURL
        let cookie = SessionCookie(configuration: configuration)
        configuration.trustedProxies = ["10.0.0.0/8"].compactMap(AddressRange.init)
        let scheme = ForwardedScheme(
            configuration: configuration, logger: Logger(label: "costs", factory: { _ in SwiftLogNoOpLogHandler() }),
            now: { Date() })
        return [
            Row(name: "Accept-Language", frames: [("", ""), ("sv", ""), ("sv;q=", ""), ("sv-", ",en"), ("sv;", "")]) {
                _ = languages.lookup($0)
            },
            Row(name: "language of a request", made: [("cookies", { repeated("companion-language=x;", $0) })]) {
                _ = languages.language(of: try head(["Cookie"], $0))
                _ = languages.language(of: try head(["Accept-Language"], $0))
            },
            Row(
                name: "session cookie", frames: [("", ""), ("__Host-companion=", "")],
                made: [("cookies", { repeated("__Host-companion=" + String(repeating: "a", count: 43) + "b;", $0) })]
            ) { _ = cookie.id(in: try head(["Cookie"], $0)) },
            Row(
                name: "mark of a browser", frames: [("", ""), ("__Host-companion-mark=", "")],
                made: [
                    ("cookies", { repeated("__Host-companion-mark=" + String(repeating: "a", count: 43) + ";", $0) })
                ]
            ) { _ = cookie.mark(in: try head(["Cookie"], $0)) },
            Row(name: "whether a page is wanted", frames: [("", ""), ("text/", "html")]) {
                _ = try head(["Accept"], $0).wantsPage
            },
            Row(
                name: "addresses of clients", frames: [("", ""), ("10.0.0.1, ", "")],
                made: [("addresses", { repeated("10.1.2.3, ", $0) })]
            ) { text in
                guard let front = AddressRange("10.0.0.0/8") else { return }
                let peer = PeerAddress(ipv4: (10, 0, 0, 1), port: 1)
                _ = ClientAddress.of(try head(["X-Forwarded-For"], text), from: peer, trusting: [front])
            },
            Row(name: "forwarded schemes", made: [("schemes", { repeated("https, http,", $0) })]) { text in
                let peer = PeerAddress(ipv4: (10, 0, 0, 1), port: 1)
                _ = scheme.isPlain(try head(["X-Forwarded-Proto", "X-Forwarded-For"], text), from: peer)
            },
            Row(name: "routes", frames: [("", ""), ("/", ""), ("/api/", "/account"), ("/api/ios/accounts/", "")]) {
                _ = try router.match(head([], "", target: $0).path)
            },
            Row(name: "traceparent", frames: [("", ""), ("00-", "")]) { _ = TraceParent($0)?.child() },
            Row(name: "return paths", frames: [("", ""), ("/", ""), ("/a?", "")]) { _ = ReturnPath($0, below: "") },
            Row(
                name: "sign-in options",
                frames: [
                    ("", ""), ("claims=", ""), ("scope=", ""), ("return_to=", ""), ("tenant=", ""),
                    ("claims={\"a\":\"", "\"}"),
                ],
                made: [("fields", { (0..<max(1, $0 / 7)).map { "&c\($0)=1" }.joined() })]
            ) { _ = try SignInOptions(query: $0, application: own, publicURL: publicURL) },
            Row(name: "shown tokens", frames: [("", ""), ("e30.", ".a")]) {
                _ = DecodedToken($0)?.payload(isFull: false)
            },
            Row(name: "HTML text") { _ = HTML(escaping: $0) },
            Row(name: "error pages") { text in
                _ = PageTemplate.filled("<p>{{detail}}</p><a href=\"{{url}}\">", with: ["detail": text, "url": text])
            },
            Row(name: "problem documents") { text in
                _ = Problem(.badRequest, "“\(text)” is too long or contains control characters.").response(
                    in: languages.all[1])
            },
            Row(name: "addresses", frames: [("", ""), ("10.0.0.0/", ""), ("::", "")]) { text in
                _ = AddressRange(text)
                _ = AddressRange("10.0.0.0/8")?.contains(text)
            },
            Row(
                name: "JSON bodies",
                frames: [
                    ("{\"", "\":1}"), ("", ""), ("{\"account\":\"", "\"}"), ("{\"scopes\":[", "]}"),
                    ("{\"scopes\":[\"", "\"]}"),
                ],
                made: [
                    ("members", { "{" + (0..<max(1, $0 / 10)).map { "\"k\($0)\":1" }.joined(separator: ",") + "}" })
                ]
            ) { _ = try Call.decode(Array($0.utf8)) as AnyBody },
            Row(name: "stored claims", frames: [("", ""), ("{\"a\":\"", "\"}"), ("{\"a\":[", "]}")]) {
                _ = try JSONSerialization.jsonObject(with: Data($0.utf8))
            },
        ]
    }
#endif
