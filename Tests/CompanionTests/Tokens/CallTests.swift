import EventLoop
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import OpenIDConnect
import Synchronization
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore

/// The portal calls the APIs that the operator lists, at the paths of the list and nowhere else.
@Suite struct CallTests {
    // MARK: The list

    /// A path of a request, and the entry that admits it.
    private static let paths: [(row: String, path: String, entry: String?)] = [
        ("an entry", "/me/messages", "/me/messages"),
        ("a segment in place of the star", "/users/adele@contoso.example", "/users/*"),
        ("an ID of a message", "/me/messages/AAMkAGI2_-=", "/me/messages/*"),
        ("a path that is not listed", "/me/drive", nil),
        ("the beginning of an entry", "/me", nil),
        ("an entry and more", "/me/messages/1/attachments", nil),
        ("a segment more than the star", "/users/adele/messages", nil),
        ("another case", "/ME/messages", nil),
        ("an escaped slash", "/users/a%2Fmessages", nil),
        ("an escaped letter", "/me/%6Dessages", nil),
        ("an escaped percent", "/users/%252e%252e", nil),
        ("an escaped dot", "/users/%2e%2e", nil),
        ("a dot segment", "/users/..", nil),
        ("a dot segment on the way", "/me/messages/../drive", nil),
        ("a single dot", "/users/.", nil),
        ("three dots are a name", "/users/...", "/users/*"),
        ("a slash at the end", "/me/messages/", nil),
        ("two slashes", "/users//", nil),
        ("two slashes at the beginning", "//evil.example/me", nil),
        ("a backslash", "/users/a\\b", nil),
        ("a query", "/me/messages?$expand=attachments", nil),
        ("a fragment", "/me/messages#x", nil),
        ("a parameter", "/users/a;b", nil),
        ("a colon", "/users/a:b", nil),
        ("an address", "https://evil.example/me/messages", nil),
        ("no slash at the beginning", "me/messages", nil),
        ("a star", "/users/*", nil),
        ("a function in place of the star", "/users/delta()", nil),
        ("a function without parentheses", "/users/delta", nil),
        ("a function in another case", "/users/Delta", nil),
        ("a function with its namespace", "/users/microsoft.graph.delta", nil),
        ("a function with the short namespace", "/users/graph.delta", nil),
        ("a function that gets something", "/users/getAllMessages", nil),
        ("a name that begins like a function", "/users/delta1", "/users/*"),
        ("a username that begins like a function", "/users/getty@contoso.example", "/users/*"),
        ("a function that is written", "/groups/delta", "/groups/delta"),
        ("a value in place of the star", "/users/$count", nil),
        ("a space", "/users/a b", nil),
        ("a line break", "/users/a\nb", nil),
        ("a NUL", "/users/a\u{0}b", nil),
        ("a letter outside ASCII", "/users/é", nil),
        ("a full-width slash", "/users/a／b", nil),
        ("nothing", "", nil),
        ("the root", "/", nil),
        ("a long one", "/users/" + String(repeating: "a", count: 600), nil),
    ]

    private static func api(_ base: String) throws -> AllowedAPI {
        let paths = ["/me/messages", "/me/messages/*", "/users/*", "/groups/delta"].compactMap(APIPathPattern.init)
        return AllowedAPI(name: "graph", base: try #require(Endpoint(base)), paths: paths)
    }

    @Test(arguments: paths.indices)
    func `a path is admitted by an entry, or not at all`(index: Int) throws {
        let (row, path, entry) = Self.paths[index]
        let api = try Self.api("https://graph.example/v1.0")
        #expect(APIPath(path).flatMap(api.pattern)?.description == entry, "\(row)")
    }

    @Test(arguments: [
        "/users/*x", "/users/x*", "users", "/", "", "/users/**", "/me/", "//me", "/me?x", "/a%20b", "/../me",
    ])
    func `an entry that is no path is a mistake`(text: String) {
        #expect(APIPathPattern(text) == nil)
    }

    @Test(arguments: [
        ("a page of the list", "https://graph.example/v1.0/me/messages?$top=2&$skiptoken=abc", true),
        ("an encoded name", "https://graph.example/v1.0/me/messages?%24skip=10", true),
        ("another host", "https://evil.example/v1.0/me/messages?$skip=10", false),
        ("another port", "https://graph.example:444/v1.0/me/messages?$skip=10", false),
        ("http", "http://graph.example/v1.0/me/messages?$skip=10", false),
        ("a user before the host", "https://graph.example@evil.example/v1.0/me/messages", false),
        ("another version", "https://graph.example/beta/me/messages?$skip=10", false),
        ("a beginning that only looks like the base", "https://graph.example/v1.0x/me/messages", false),
        ("a path that is not listed", "https://graph.example/v1.0/me/drive?$skip=10", false),
        ("a dot segment", "https://graph.example/v1.0/me/messages/../drive", false),
        ("another option", "https://graph.example/v1.0/me/messages?$expand=attachments", false),
        ("an option twice", "https://graph.example/v1.0/me/messages?$skip=1&$skip=2", false),
        ("a control character", "https://graph.example/v1.0/me/messages?$skiptoken=a%0Ab", false),
        ("a relative link", "/v1.0/me/messages?$skip=10", false), ("no link", "", false),
    ])
    func `a link to the next page is offered only within the list`(row: String, link: String, isOffered: Bool) throws {
        let api = try Self.api("https://graph.example/v1.0")
        #expect((api.next(link) != nil) == isOffered, "\(row)")
    }

    // MARK: Calls

    private func run(
        _ configure: @escaping (inout CompanionConfiguration) throws -> Void = { _ in },
        _ test: (Site, Visitor) async throws -> Void
    ) async throws {
        try await Site.run(configured: { configuration in
            let me = configuration.applications[0].api?.description ?? ""
            let base = try #require(Endpoint(String(me.prefix { $0 != "?" }.dropLast(3))))
            let paths = ["/me", "/me/messages", "/me/memberOf", "/users/*"].compactMap(APIPathPattern.init)
            configuration.applications[0].page = .portal
            configuration.apis = [
                AllowedAPI(
                    name: "graph", base: base, paths: paths, scopes: [paths[1]: ["Mail.Read"]], applications: ["ios"])
            ]
            try configure(&configuration)
        }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await test(site, visitor)
        }
    }

    private func call(_ visitor: Visitor, _ fields: (String, String)...) async throws -> Visitor.Answer {
        let query = FormEncoding.encode(fields.map { (name: $0.0, value: $0.1) })
        return try await visitor.api(.get, "/api/ios/call?" + query)
    }

    @Test func `an answer comes with its status, its request ID, and the address`() async throws {
        try await run { site, visitor in
            let answer = try await call(
                visitor, ("api", "graph"), ("path", "/me"), ("select", "displayName,id"))
            #expect(answer.status == 200 && answer.json["status"] as? Int == 200, "\(answer.text)")
            let body = try #require(answer.json["body"] as? [String: Any])
            #expect(body["displayName"] as? String == "Adele Vance" && body["mail"] == nil)
            #expect((answer.json["request_id"] as? String)?.isEmpty == false && answer.json["ms"] is Int)
            #expect((answer.json["url"] as? String)?.hasSuffix("/v1.0/me?$select=displayName%2Cid") == true)
            let missing = try await call(visitor, ("api", "graph"), ("path", "/users/nobody@contoso.example"))
            #expect(missing.status == 200 && (missing.json["status"] as? Int ?? 0) >= 403, "\(missing.text)")
        }
    }

    @Test func `a path whose permission is missing offers the consent to it, and then works page by page`()
        async throws
    {
        try await run { site, visitor in
            let refused = try await call(visitor, ("api", "graph"), ("path", "/me/messages"), ("top", "5"))
            #expect(refused.code == "consent_required", "\(refused.text)")
            let action = try #require(refused.json["action"] as? [String: String])
            #expect(action["url"]?.lowercased().contains("scope=mail.read") == true)
            let query = try #require(action["url"]?.split(separator: "?").last)
            #expect(try await visitor.signIn(query: String(query)).location == "/ios")
            let page = try await call(visitor, ("api", "graph"), ("path", "/me/messages"), ("top", "5"))
            #expect((page.json["body"] as? [String: Any])?["value"].map { ($0 as? [Any])?.count } == 5, "\(page.text)")
            let next = try #require(page.json["next"] as? [String: String])
            let second = try await call(
                visitor, ("api", "graph"), ("path", next["path"] ?? ""), ("next", next["query"] ?? ""))
            #expect(second.json["status"] as? Int == 200, "\(second.text)")
        }
    }

    @Test func `an API of another resource that demands a context gets both on the way`() async throws {
        try await run { configuration in
            let me = configuration.applications[0].api?.description ?? ""
            let base = try #require(Endpoint(me.replacing("/v1.0/me", with: "/api")))
            let path = try #require(APIPathPattern("/payroll"))
            configuration.apis = [
                AllowedAPI(
                    name: "payroll", base: base, paths: [path],
                    scopes: [path: ["api://payroll.contoso.example/payslips.read"]], applications: ["ios"])
            ]
        } _: { site, visitor in
            for expected in ["consent_required", "interaction_required"] {
                let refused = try await call(visitor, ("api", "payroll"), ("path", "/payroll"))
                #expect(refused.code == expected, "\(refused.text)")
                let action = try #require(refused.json["action"] as? [String: String])
                let query = try #require(action["url"]?.split(separator: "?").last)
                // The demand of another API says nothing about the application's own.
                let account = try await visitor.api(.get, "/api/ios/account")
                #expect(account.json["needs_sign_in"] is NSNull, "\(account.text)")
                #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
                let back = try await visitor.signIn(query: String(query))
                #expect(back.location == "/ios", "\(back.location ?? "")")
            }
            let answer = try await call(visitor, ("api", "payroll"), ("path", "/payroll"))
            #expect(answer.json["status"] as? Int == 200, "\(answer.text)")
        }
    }

    @Test func `a token goes to the APIs of its application, and the list is for those who may call them`()
        async throws
    {
        try await run { site, visitor in
            try await visitor.signIn(app: "macos")
            let query = FormEncoding.encode([("api", "graph"), ("path", "/me")])
            let other = try await visitor.api(.get, "/api/macos/call?" + query)
            #expect(other.status == 404 && other.code == "not_found", "\(other.text)")
            #expect(try await visitor.api(.get, "/api/ios/call?" + query).status == 200)

            func listed(_ visitor: Visitor) async throws -> [String] {
                let apis = try await visitor.api(.get, "/api/apps").json["apis"] as? [[String: Any]]
                return try #require(apis).compactMap { $0["name"] as? String }
            }
            #expect(try await listed(visitor) == ["graph"])
            let neighbour = Visitor(site)
            #expect(try await listed(neighbour) == [], "nobody")
            try await neighbour.signIn(app: "macos")
            #expect(try await listed(neighbour) == [], "a person of another application")
        }
    }

    @Test(arguments: paths.indices.filter { paths[$0].entry == nil })
    func `no request leaves the list`(index: Int) async throws {
        try await run { site, visitor in
            let asked = site.traffic.all.count
            let answer = try await call(visitor, ("api", "graph"), ("path", Self.paths[index].path))
            let isMe = Self.paths[index].path == "/me"
            #expect(isMe || ["bad_request", "access_denied"].contains(answer.code), "\(answer.text)")
            #expect(isMe || site.traffic.all.count == asked, "nothing was sent")
        }
    }

    @Test(
        arguments: [
            ("another API", [("api", "mail"), ("path", "/me")], "not_found"),
            ("no API", [("path", "/me")], "not_found"),
            ("top 0", [("api", "graph"), ("path", "/me"), ("top", "0")], "bad_request"),
            ("top 1000", [("api", "graph"), ("path", "/me"), ("top", "1000")], "bad_request"),
            ("a select with a space", [("api", "graph"), ("path", "/me"), ("select", "id&$expand=x")], "bad_request"),
            ("a filter with a line break", [("api", "graph"), ("path", "/me"), ("filter", "a\nb")], "bad_request"),
            ("a link with another option", [("api", "graph"), ("path", "/me"), ("next", "$expand=x")], "bad_request"),
        ] as [(String, [(String, String)], String)])
    func `fields that are not valid are named`(row: String, fields: [(String, String)], code: String) async throws {
        try await run { _, visitor in
            let query = FormEncoding.encode(fields.map { (name: $0.0, value: $0.1) })
            let answer = try await visitor.api(.get, "/api/ios/call?" + query)
            #expect(answer.code == code, "\(row)")
        }
    }

    @Test func `nobody without a session, no other site and no shared device calls an API`() async throws {
        try await run { site, _ in
            let answer = try await call(Visitor(site), ("api", "graph"), ("path", "/me"))
            #expect(answer.code == "interaction_required")
        }
        try await run {
            $0.deviceMode = .shared
        } _: { _, visitor in
            let answer = try await call(visitor, ("api", "graph"), ("path", "/me"))
            #expect(answer.code == "access_denied")
        }
    }

    @Test func `a redirect is shown and not followed, and a link or a size beyond the list is refused`() async throws {
        let upstream = Upstream()
        let workers = try WorkerGroup(count: 1)
        let server = HTTPServer(
            configuration: ServerConfiguration(), workers: workers, responder: upstream, logger: Logger(label: "api"))
        let port = try await server.start()
        let paths = ["/redirect", "/link", "/large", "/text", "/broken", "/scope", "/claims", "/factor"].compactMap(
            APIPathPattern.init)
        try await run { configuration in
            configuration.apis = [
                AllowedAPI(
                    name: "own", base: try #require(Endpoint("http://localhost:\(port)/api")), paths: paths,
                    scopes: Dictionary(uniqueKeysWithValues: paths.suffix(3).map { ($0, ["Mail.Read"]) }),
                    applications: ["ios"])
            ]
        } _: { _, visitor in
            let redirect = try await call(visitor, ("api", "own"), ("path", "/redirect"))
            #expect(redirect.json["status"] as? Int == 302)
            let link = try await call(visitor, ("api", "own"), ("path", "/link"))
            #expect(link.json["next_refused"] as? Bool == true && link.json["next"] == nil, "\(link.text)")
            for path in ["/large", "/text", "/broken"] {
                let answer = try await call(visitor, ("api", "own"), ("path", path))
                #expect(answer.code == "api_unavailable", "\(path)")
            }
            // The words of an API do not widen what the person is asked to grant.
            try await visitor.signIn(query: "scope=Mail.Read")
            let scope = try await call(visitor, ("api", "own"), ("path", "/scope"))
            #expect(scope.code == "consent_required", "\(scope.text)")
            let consent = try #require((scope.json["action"] as? [String: String])?["url"])
            #expect(!consent.contains("Everything") && consent.lowercased().contains("mail.read"), "\(consent)")
            // Nor does its refusal of another token mark the account, or the provider's refusal to renew that one for it.
            for path in ["/claims", "/factor"] {
                let claims = try await call(visitor, ("api", "own"), ("path", path))
                #expect(claims.code == "interaction_required", "\(path): \(claims.text)")
                #expect(try await visitor.api(.get, "/api/ios/account").json["needs_sign_in"] is NSNull, "\(path)")
            }
            let sent = upstream.paths.withLock { $0 }
            #expect(sent.prefix(5) == ["/api/redirect", "/api/link", "/api/large", "/api/text", "/api/broken"])
            #expect(Set(sent.dropFirst(5)) == ["/api/scope", "/api/claims", "/api/factor"])
        }
        await server.stop(grace: .zero)
        await workers.shutdown()
    }
}

/// An API that tries to lead elsewhere.
private final class Upstream: Responder {
    let paths = Mutex<[String]>([])

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        paths.withLock { $0.append(head.path) }
        switch head.path {
        case "/api/redirect":
            var response = Response(status: .found)
            response.headerFields[.location] = "/api/elsewhere"
            return .response(response)
        case "/api/scope", "/api/claims", "/api/factor":
            var response = Response(status: head.path == "/api/scope" ? .forbidden : .unauthorized)
            // The tenant gives c9 to all, and c1 after a second factor alone.
            let context = head.path == "/api/factor" ? "c1" : "c9"
            let claims = Data(#"{"access_token":{"acrs":{"essential":true,"value":"\#(context)"}}}"#.utf8)
                .base64EncodedString()
            response.headerFields[.wwwAuthenticate] =
                head.path == "/api/scope"
                ? #"Bearer error="insufficient_scope", scope="Everything.Write""#
                : #"Bearer error="insufficient_claims", claims="\#(claims)""#
            return .response(response)
        case "/api/link": return .response(.json(["@odata.nextLink": "https://evil.example/api/link?$skip=1"]))
        case "/api/large": return .response(.json(["text": .string(String(repeating: "a", count: 300_000))]))
        case "/api/text":
            return .response(
                Response(status: .ok, headerFields: [.contentType: "text/plain"], body: Array("hello".utf8)))
        default:
            return .response(
                Response(status: .ok, headerFields: [.contentType: "application/json"], body: Array("{".utf8)))
        }
    }
}
