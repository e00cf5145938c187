import Foundation
import HTTPTypes
import OpenIDConnect
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn
@testable import TenantDirectory

/// Groups and app roles decide who may sign in and who operates a portal.
@Suite struct MembershipTests {
    private static let retail = DemoGroup(name: "Retail").id
    private static let employees = DemoGroup(name: "All Employees").id
    private static let marketing = DemoGroup(name: "Marketing").id
    private static let tooMany = #""_claim_names": {"groups": "src1"}"#

    // MARK: Rules

    private static let one = "0d4c1e5a-8f0e-4bb1-93a5-0b6f6a2f7c11"
    private static let two = "1e5d2f6b-9a1f-4cc2-84b6-1c7a7b3a8d22"

    @Test(
        arguments: [
            ("a group of the token", AccountList(groups: [one]), #"{"groups": ["\#(one)"]}"#, nil, .group(one)),
            (
                "a group in capitals", AccountList(groups: [one]), #"{"groups": ["\#(one.uppercased())"]}"#, nil,
                .group(one)
            ),
            ("another group", AccountList(groups: [one]), #"{"groups": ["\#(two)"]}"#, nil, .no),
            ("no claim about groups", AccountList(groups: [one]), "{}", nil, .no),
            ("groups of another type", AccountList(groups: [one]), #"{"groups": "\#(one)"}"#, nil, .no),
            ("too many, and Graph was not asked", AccountList(groups: [one]), "{\(tooMany)}", nil, .unknown),
            ("too many in the implicit flow", AccountList(groups: [one]), #"{"hasgroups": true}"#, nil, .unknown),
            (
                "too many, and Graph names it", AccountList(groups: [one]), "{\(tooMany)}", ([one, two], [one]),
                .group(one)
            ),
            (
                "too many, and Graph names another", AccountList(groups: [one]), "{\(tooMany)}", ([one, two], [two]),
                .no
            ),
            (
                "too many, and Graph was asked about another", AccountList(groups: [one]), "{\(tooMany)}", ([two], []),
                .unknown
            ),
            ("an app role", AccountList(roles: ["Tester"]), #"{"roles": ["Tester"]}"#, nil, .role("Tester")),
            ("an app role in another case", AccountList(roles: ["Tester"]), #"{"roles": ["tester"]}"#, nil, .no),
            (
                "a role where too many groups are unknown", AccountList(groups: [one], roles: ["Tester"]),
                #"{\#(tooMany), "roles": ["Tester"]}"#, nil, .role("Tester")
            ),
            (
                "a user where too many groups are unknown", AccountList(users: [.subject("s")], groups: [one]),
                "{\(tooMany)}", nil, .user
            ),
            ("a role that is the name of a group", AccountList(roles: [one]), #"{"groups": ["\#(one)"]}"#, nil, .no),
        ] as [(String, AccountList, String, (Set<String>, Set<String>)?, AccountList.Match)])
    func `a list names an account`(
        row: String, list: AccountList, claims: String, answer: (asked: Set<String>, groups: Set<String>)?,
        match: AccountList.Match
    ) throws {
        let claims = try #require(JSONValue(parsing: claims.utf8)?.object)
        let stored = answer.map { GroupAnswer(asked: $0.asked, groups: $0.groups) }
        let membership = Membership(claims: claims, stored.flatMap { GroupAnswer($0.text) })
        let account = AllowedUser.Claims(tenantID: nil, objectID: nil, subject: "s", preferredUsername: { nil })
        #expect(list.match(account, membership) == match, "\(row)")
    }

    // MARK: Signing in

    /// Starts a site whose first application has these rules.
    private func run(_ rules: AccountList, _ test: (Site, Visitor) async throws -> Void) async throws {
        try await Site.run(configured: { $0.applications[0].allowed = rules }) { try await test($0, Visitor($0)) }
    }

    @Test func `a member signs in, and a person in none of the groups is told that there are groups`() async throws {
        try await run(AccountList(groups: [Self.retail])) { site, visitor in
            try await site.control(#"{"id_token_claims": {"groups": ["\#(Self.retail)"]}}"#)
            #expect(try await visitor.signIn().location == "/ios")
            let shown = try await visitor.api(.get, "/api/ios/admission").json
            #expect((shown["rule"] as? [String: String]) == ["kind": "group", "value": Self.retail])
            #expect((shown["groups"] as? [String: Any])?["source"] as? String == "token")
            try await site.control(#"{"id_token_claims": {"groups": ["\#(Self.marketing)"]}}"#)
            let other = Visitor(site)
            #expect(try await other.signIn().location?.hasPrefix("/ios?sign_in_error=access_denied") == true)
            let failure = try await other.api(.get, "/api/ios/sign-in-failure")
            #expect(failure.text.contains("admits members of certain groups") && !failure.text.contains(Self.retail))
        }
    }

    @Test func `a person who is in none of the groups any more is signed out with the next ID token`() async throws {
        try await run(AccountList(groups: [Self.retail])) { site, visitor in
            try await site.control(#"{"id_token_claims": {"groups": ["\#(Self.retail)"]}}"#)
            try await visitor.signIn()
            try await site.control(#"{"id_token_claims": {"groups": []}}"#)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200, "until the ID token is renewed")
            _ = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh": true}"#)
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is NSNull)
            #expect(site.log.all.contains { $0.contains("does not admit it") })
        }
    }

    // MARK: Too many groups

    /// Claims with too many groups, whose source is an address at the tenant that nobody should ask.
    private func claimsWithTooMany(_ site: Site) -> String {
        #"{"id_token_claims": {\#(Self.tooMany), "_claim_sources": {"src1": {"endpoint": "http://localhost:\#(site.tenantPort)/v1.0/users/trap"}}}}"#
    }

    @Test func `Graph is asked at its configured address, also about nested groups`() async throws {
        try await run(AccountList(groups: [Self.employees])) { site, visitor in
            try await site.control(claimsWithTooMany(site))
            #expect(try await visitor.signIn().location == "/ios")
            let shown = try await visitor.api(.get, "/api/ios/admission").json
            #expect((shown["rule"] as? [String: String]) == ["kind": "group", "value": Self.employees])
            #expect((shown["groups"] as? [String: Any])?["source"] as? String == "graph")
            #expect(
                site.traffic.paths.contains("/v1.0/me/getMemberObjects"))
            #expect(!site.traffic.paths.contains { $0.contains("trap") })
        }
    }

    @Test func `a person whom Graph knows in none of the groups is refused`() async throws {
        try await run(AccountList(groups: [Self.marketing])) { site, visitor in
            try await site.control(claimsWithTooMany(site))
            #expect(try await visitor.signIn().location?.hasPrefix("/ios?sign_in_error=access_denied") == true)
        }
    }

    @Test func `while Graph is away nobody new gets in, and nobody is signed out`() async throws {
        try await run(AccountList(groups: [Self.retail])) { site, visitor in
            try await site.control(claimsWithTooMany(site))
            try await visitor.signIn()
            try await site.control(#"{"graph_error": {"status": 503, "body": {}, "times": 20}}"#)
            let other = Visitor(site)
            #expect(try await other.signIn().location?.hasPrefix("/ios?sign_in_error=membership_unknown") == true)
            #expect(try await other.api(.get, "/api/ios/account").json["account"] is NSNull)
            let renewed = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh": true}"#)
            #expect(renewed.json["source"] as? String == "refreshed", "\(renewed.text)")
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is [String: Any])
            try await site.restart()
            let shown = try await visitor.api(.get, "/api/ios/admission").json
            #expect((shown["groups"] as? [String: Any])?["source"] as? String == "graph", "the answer is stored")
        }
    }

    @Test func `each new ID token brings a new answer of Graph`() async throws {
        try await run(AccountList(groups: [Self.retail])) { site, visitor in
            try await site.control(claimsWithTooMany(site))
            try await visitor.signIn()
            let asked = site.traffic.paths.count { $0.hasSuffix("getMemberObjects") }
            _ = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh": true}"#)
            #expect(site.traffic.paths.count { $0.hasSuffix("getMemberObjects") } == asked + 1)
        }
    }

    @Test func `a group that was named after the sign-in signs nobody out before Graph was asked about it`()
        async throws
    {
        try await run(AccountList(groups: [Self.retail])) { site, visitor in
            try await site.control(claimsWithTooMany(site))
            try await visitor.signIn()
            try await site.restart { $0.applications[0].allowed = AccountList(groups: [Self.marketing]) }
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            _ = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh": true}"#)
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is NSNull)
        }
    }

    @Test func `more groups than Graph returns are an explanation, and no access`() async throws {
        try await run(AccountList(groups: [Self.retail])) { site, visitor in
            try await site.control(claimsWithTooMany(site))
            try await site.control(
                #"{"graph_error": {"status": 400, "body": {"error": {"code": "Directory_ResultSizeLimitExceeded", "message": ""}}, "times": 1}}"#
            )
            #expect(try await visitor.signIn().location?.hasPrefix("/ios?sign_in_error=membership_unknown") == true)
            let failure = try await visitor.api(.get, "/api/ios/sign-in-failure")
            #expect(failure.text.contains("more groups than Microsoft Graph lists"))
        }
    }

    @Test func `an app role admits although Graph is away`() async throws {
        try await run(AccountList(groups: [Self.retail], roles: ["Tester"])) { site, visitor in
            try await site.control(
                #"{"id_token_claims": {\#(Self.tooMany), "roles": ["Tester"]}, "graph_error": {"status": 503, "body": {}, "times": 9}}"#
            )
            #expect(try await visitor.signIn().location == "/ios")
        }
    }

    // MARK: The portal

    @Test(
        arguments: [
            ("an operator", #"["Operator"]"#, "operator", "200", "200", "404"),
            ("a reader", #"["Reader"]"#, "reader", "200", "200", "access_denied"),
            ("both", #"["Reader", "Operator"]"#, "operator", "200", "200", "404"),
            ("neither", "[]", nil, "access_denied", "access_denied", "access_denied"),
        ] as [(String, String, String?, String, String, String)])
    func `app roles make operators and readers`(
        row: String, roles: String, role: String?, health: String, sessions: String, ending: String
    ) async throws {
        try await Site.run(configured: { configuration in
            configuration.applications[1].page = .portal
            configuration.applications[1].operators = AccountList(roles: ["Operator"])
            configuration.applications[1].readers = AccountList(roles: ["Reader"])
        }) { site in
            let visitor = Visitor(site)
            try await site.control(#"{"id_token_claims": {"roles": \#(roles)}}"#)
            try await visitor.signIn(app: "macos")
            let shown = try await visitor.api(.get, "/api/macos/admission").json
            #expect(shown["portal_role"] as? String == role, "\(row)")
            for (method, path, expected) in [
                (HTTPRequest.Method.get, "/api/macos/health", health), (.get, "/api/macos/sessions", sessions),
                (.delete, "/api/macos/sessions/999999", ending),
            ] {
                let answer = try await visitor.api(method, path)
                #expect((answer.code == expected) || "\(answer.status)" == expected, "\(row) \(path): \(answer.text)")
            }
        }
    }
}
