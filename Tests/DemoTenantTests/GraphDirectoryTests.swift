import Foundation
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("Graph's directory")
struct GraphDirectoryTests {
    private static let eventual = [("ConsistencyLevel", "eventual")]
    private static let scopes = "User.Read.All GroupMember.Read.All"

    private func run(
        _ username: String = "adele@contoso.example", _ scopes: String = scopes, segment: String = "common",
        _ body: @Sendable (TestTenant, Browser, String) async throws -> Void
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            try await body(tenant, browser, try await browser.graphToken(username, scopes, segment: segment))
        }
    }

    @Test func `the next page is followed to the end, at the address that the client used`() async throws {
        try await run { (tenant, _, token) async throws in
            for (host, options) in [
                ("localhost", "$top=2&$select=id,displayName"), ("127.0.0.1", "%24top=1&%24orderby=displayName+desc"),
                ("localhost", "$top=2&$filter=startswith(userPrincipalName,'m')+or+jobTitle+eq+'Trainee'"),
            ] {
                let browser = tenant.browser(at: host)
                let origin = tenant.tenant.baseURL.replacing("localhost", with: host)
                let whole = try await browser.me(
                    token, path: "/v1.0/users?\(options.replacing(/top=\d/, with: "top=999"))")
                #expect(whole.json?["@odata.nextLink"] == nil)
                var next: String? = "/v1.0/users/?\(options)"
                var (names, pages): ([String?], Int) = ([], 0)
                while let path = next, pages < 9 {
                    let page = try await browser.me(token, path: path)
                    names += page.values("displayName")
                    pages += 1
                    next = page.member("@odata.nextLink").map { link in
                        #expect(link.hasPrefix("\(origin)/v1.0/users?"))
                        #expect(page.values("displayName").count < 3)
                        return String(link.dropFirst(origin.count))
                    }
                }
                #expect(names == whole.values("displayName") && pages > 1)
                #expect(Set(names).count == names.count)
            }
        }
    }

    @Test func `a page's position belongs to its list`() async throws {
        try await run { (tenant, browser, token) async throws in
            let link = try #require(try await browser.me(token, path: "/v1.0/users?$top=1").member("@odata.nextLink"))
            let position = try #require(link.split(separator: "$skiptoken=").last)
            let other = try #require(Base64URL.decode(position.utf8))
            let forged = String(decoding: other, as: UTF8.self).replacing(/^1/, with: "2")
            for query in [
                "$skiptoken=x", "$skiptoken=", "$skiptoken=\(Base64URL.encode(forged.utf8))",
                "$filter=accountEnabled+eq+true&$skiptoken=\(position)", "$skiptoken=\(position)&$orderby=displayName",
            ] {
                let answer = try await browser.me(token, path: "/v1.0/users?\(query)")
                #expect(answer.status == 400 && answer.graphError == "Directory_ExpiredPageToken", "\(query)")
            }
            #expect(try await browser.me(token, path: "/v1.0/groups?$skiptoken=\(position)").status == 400)
            #expect(try await browser.me(token, path: "/v1.0/users?$skiptoken=\(position)&$top=3").status == 200)
        }
    }

    @Test(
        arguments: [
            ("users?$top=999", false, 200, nil), ("users?$top=1000", false, 400, "Request_UnsupportedQuery"),
            ("users?$top=0", false, 400, "Request_UnsupportedQuery"),
            ("users?$skip=1", true, 400, "Request_BadRequest"),
            ("users?$select=nothing", false, 400, "BadRequest"), ("me?$select=nothing", false, 400, "BadRequest"),
            ("users?$select=preferredName", false, 501, "NotImplemented"),
            ("users?$select=displayName,Birthday", false, 501, "NotImplemented"),
            ("me?$select=preferredName,birthday", false, 200, nil),
            ("users?$filter=nothing+eq+'x'", false, 400, "BadRequest"),
            ("users?$orderby=nothing", false, 400, "BadRequest"),
            ("users?$orderby=jobTitle", false, 400, "Request_UnsupportedQuery"),
            ("users?$orderby=userPrincipalName", false, 200, nil),
            ("users?$orderby=displayName&$filter=accountEnabled+eq+true", false, 400, "Request_UnsupportedQuery"),
            ("users?$orderby=displayName&$filter=accountEnabled+eq+true", true, 400, "Request_UnsupportedQuery"),
            ("users?$orderby=displayName&$filter=accountEnabled+eq+true&$count=true", true, 200, nil),
            ("users?$filter=jobTitle+ne+null", false, 400, "Request_UnsupportedQuery"),
            ("users?$filter=jobTitle+ne+null", true, 400, "Request_UnsupportedQuery"),
            ("users?$filter=jobTitle+ne+null&$count=true", false, 400, "Request_UnsupportedQuery"),
            ("users?$filter=jobTitle+ne+null&$count=true", true, 200, nil),
            ("users?$filter=endswith(mail,'x')", false, 400, "Request_UnsupportedQuery"),
            ("users?$filter=not(accountEnabled+eq+true)", false, 400, "Request_UnsupportedQuery"),
            ("users?$filter=contains(displayName,'x')&$count=true", true, 400, "Request_UnsupportedQuery"),
            ("users?$search=%22displayName:meg%22", false, 400, "Request_UnsupportedQuery"),
            ("users?$search=%22displayName:meg%22", true, 200, nil), ("users?$search=meg", true, 400, "BadRequest"),
            ("users?$search=%22nothing:meg%22", true, 400, "BadRequest"),
            ("users/$count", false, 400, "Request_BadRequest"), ("users/$count", true, 200, nil),
            ("me/memberOf?$filter=displayName+eq+'x'", false, 400, "Request_UnsupportedQuery"),
            ("me/memberOf?$filter=displayName+eq+'x'&$count=true", true, 200, nil),
            ("me/memberOf?$orderby=displayName", false, 400, "Request_UnsupportedQuery"),
            ("me/memberOf?$search=%22displayName:x%22", false, 400, "Request_UnsupportedQuery"),
            ("me/memberOf?$select=displayName,roleTemplateId,mail", false, 200, nil),
            ("me/memberOf?$select=jobTitle", false, 400, "BadRequest"),
            ("me/memberOf/microsoft.graph.group", false, 200, nil),
            ("me/memberOf/microsoft.graph.user", false, 400, "BadRequest"),
            ("me/$count", true, 400, "BadRequest"), ("me?$top=1", false, 400, "BadRequest"),
            ("me?$count=true", true, 400, "BadRequest"),
            ("users/megan@contoso.example?$filter=id+eq+'x'", false, 400, "BadRequest"),
            ("me/microsoft.graph.user", false, 400, "BadRequest"),
            ("users/microsoft.graph.user", false, 200, nil),
            ("groups?$filter=securityEnabled+eq+true", false, 200, nil),
        ] as [(String, Bool, Int, String?)])
    func `query options are answered or refused as by the directory`(
        _ path: String, _ isEventual: Bool, _ status: Int, _ code: String?
    ) async throws {
        try await run { (_, browser, token) async throws in
            let answer = try await browser.me(token, path: "/v1.0/\(path)", headers: isEventual ? Self.eventual : [])
            #expect(answer.status == status && answer.graphError == code, "\(answer.text)")
        }
    }

    @Test func `people are found by id and by name, and have the selected properties alone`() async throws {
        try await run { (_, browser, token) async throws in
            for key in [
                "48d31887-5fad-4d73-a9f5-3c356e68a038", "48D31887-5FAD-4D73-A9F5-3C356E68A038", "megan@contoso.example",
                "Megan%40Contoso.example",
            ] {
                for path in ["users/\(key)", "users/\(key)/", "users('\(key)')", "users(%27\(key)%27)"] {
                    let answer = try await browser.me(token, path: "/v1.0/\(path)")
                    #expect(answer.member("displayName") == "Megan Bowen", "\(path)")
                }
            }
            let selected = try await browser.me(
                token, path: "/v1.0/users?$select=DisplayName,department,assignedLicenses&$top=1")
            #expect(
                selected.json?["value"]?.array?.first?.object?.keys.sorted() == [
                    "assignedLicenses", "department", "displayName",
                ])
            #expect(selected.json?["value"]?.array?.first?["assignedLicenses"] == [])
            #expect(selected.json?["value"]?.array?.first?["department"] == .null)
            #expect(
                selected.member("@odata.context")?.hasSuffix("#users(DisplayName,department,assignedLicenses)") == true)
            let found = try await browser.me(
                token, path: "/v1.0/users?$filter=mail%20eq%20%27megan%40contoso.example%27")
            #expect(found.values("displayName") == ["Megan Bowen"])
            let count = try await browser.me(
                token, path: "/v1.0/users?$count=true&$top=2", headers: Self.eventual)
            #expect(count.json?["@odata.count"] == 5)
            let next = try #require(count.member("@odata.nextLink")?.split(separator: "/v1.0").last)
            let second = try await browser.me(token, path: "/v1.0\(next)", headers: Self.eventual)
            #expect(second.json?["@odata.count"] == nil && second.json?["value"]?.array?.count == 2)
            #expect(try await browser.me(token, path: "/v1.0/users?$count=true").json?["@odata.count"] == nil)
            #expect(try await browser.me(token, path: "/v1.0/users/$count", headers: Self.eventual).text == "5")
            let sought = try await browser.me(
                token, path: "/v1.0/users?$search=%22displayName:bowen%22", headers: Self.eventual)
            #expect(sought.values("givenName") == ["Megan"])
        }
    }

    @Test func `memberships are direct or transitive, with directory roles, and can be cast`() async throws {
        try await run { (_, browser, token) async throws in
            let direct = try await browser.me(token, path: "/v1.0/me/memberOf")
            #expect(direct.values("displayName") == ["Retail", "Newsletter", "User Administrator"])
            #expect(direct.values("@odata.type").last == "#microsoft.graph.directoryRole")
            #expect(direct.values("roleTemplateId").last == "fe930be7-5e62-47db-91af-98c3a49a38b1")
            let all = try await browser.me(token, path: "/v1.0/me/transitiveMemberOf")
            #expect(all.values("displayName") == ["Retail", "Newsletter", "User Administrator", "All Employees"])
            let groups = try await browser.me(token, path: "/v1.0/me/transitiveMemberOf/microsoft.graph.group")
            #expect(groups.values("displayName") == ["Retail", "Newsletter", "All Employees"])
            #expect(groups.values("@odata.type") == [nil, nil, nil])
            #expect(groups.member("@odata.context")?.hasSuffix("/v1.0/$metadata#groups") == true)
            let roles = try await browser.me(
                token, path: "/v1.0/me/memberOf/microsoft.graph.directoryRole/$count", headers: Self.eventual)
            #expect(roles.text == "1")
            let megan = try await browser.me(token, path: "/v1.0/users/megan@contoso.example/memberOf")
            #expect(megan.values("displayName") == ["Marketing", "Newsletter"])
            let listed = try await browser.me(token, path: "/v1.0/groups?$filter=displayName+eq+'all+employees'")
            let id = try #require(listed.values("id").first ?? nil)
            let members = try await browser.me(token, path: "/v1.0/groups/\(id)/members")
            #expect(members.values("displayName") == ["Mira Farooq", "Marketing", "Retail"])
            #expect(
                members.values("@odata.type") == ["#microsoft.graph.user"]
                    + Array(repeating: "#microsoft.graph.group", count: 2))
            #expect(try await browser.me(token, path: "/v1.0/groups/\(id)").member("displayName") == "All Employees")
            #expect(try await browser.me(token, path: "/v1.0/groups").json?["value"]?.array?.count == 4)
            let unknown = try await browser.me(token, path: "/v1.0/groups/\(UUID())/members")
            #expect(unknown.status == 404 && unknown.graphError == "Request_ResourceNotFound")
        }
    }

    @Test func `the actions return the IDs of groups, transitively`() async throws {
        try await run { (_, browser, token) async throws in
            func post(_ action: String, _ body: JSONValue) async throws -> Answer {
                try await browser.send("POST", "/v1.0/me/\(action)", [("Authorization", "Bearer \(token)")], body.bytes)
            }
            let everything = try await browser.me(token, path: "/v1.0/me/transitiveMemberOf").values("id")
            let objects = try await post("getMemberObjects", ["securityEnabledOnly": false])
            #expect(objects.json?["value"]?.array?.map(\.string) == everything)
            #expect(objects.member("@odata.context")?.hasSuffix("$metadata#Collection(Edm.String)") == true)
            let groups = try await post("getMemberGroups", ["securityEnabledOnly": false])
            #expect(groups.json?["value"]?.array?.count == 3)
            let secure = try await post("getMemberGroups", ["securityEnabledOnly": true])
            #expect(secure.json?["value"]?.array?.count == 2)
            #expect(try await post("getMemberObjects", ["securityEnabledOnly": true]).json?["value"]?.array?.count == 2)
            let first = try #require(everything.first ?? nil)
            let asked: JSONValue = ["groupIds": [.string(UUID().uuidString), .string(first.uppercased())]]
            let checked = try await post("checkMemberGroups", asked)
            #expect(checked.json?["value"] == [.string(first.uppercased())])
            let twenty = JSONValue.array(Array(repeating: .string(first), count: 20))
            #expect(try await post("checkMemberGroups", ["groupIds": twenty]).status == 200)
            for (action, body, code) in [
                (
                    "checkMemberGroups", ["groupIds": .array(Array(repeating: .string(first), count: 21))],
                    "Request_BadRequest"
                ),
                ("checkMemberGroups", ["groupIds": ["x", 1]], "BadRequest"), ("checkMemberGroups", [:], "BadRequest"),
                ("getMemberGroups", ["securityEnabledOnly": "true"], "BadRequest"),
                ("getMemberObjects", [:], "BadRequest"), ("getMemberObjects", [], "BadRequest"),
            ] as [(String, JSONValue, String)] {
                let refused = try await post(action, body)
                #expect(refused.status == 400 && refused.graphError == code, "\(action) \(body.text)")
            }
        }
    }

    @Test func `more than 11,000 groups have no list without pages`() async throws {
        var many = DemoUser(username: "many@contoso.example", password: "demo")
        many.manyGroups = 11_001
        let user = many
        try await TestTenant.run(configured: { $0.users = [user] }) { (tenant) async throws in
            let browser = tenant.browser()
            let token = try await browser.graphToken("many@contoso.example", Self.scopes)
            let body: JSONValue = ["securityEnabledOnly": false]
            let headers = [("Authorization", "Bearer \(token)")]
            let groups = try await browser.send("POST", "/v1.0/me/getMemberGroups", headers, body.bytes)
            #expect(groups.status == 400 && groups.graphError == "Directory_ResultSizeLimitExceeded")
            let objects = try await browser.send("POST", "/v1.0/me/getMemberObjects", headers, body.bytes)
            #expect(objects.json?["value"]?.array?.count == 11_001)
            let page = try await browser.me(token, path: "/v1.0/me/memberOf?$top=999")
            #expect(page.json?["value"]?.array?.count == 999 && page.member("@odata.nextLink") != nil)
        }
    }

    @Test func `the organization is the token's tenant`() async throws {
        for (segment, name) in [("contoso.example", "Contoso"), ("tailspin.example", "Tailspin")] {
            try await run(segment: segment) { (_, browser, token) async throws in
                let answer = try await browser.me(token, path: "/v1.0/organization")
                #expect(answer.values("displayName") == [name])
                let domains = answer.json?["value"]?.array?.first?["verifiedDomains"]?.array
                #expect(domains?.first?["name"]?.string == segment)
                let id = try #require(answer.values("id").first ?? nil)
                #expect(try await browser.me(token, path: "/v1.0/organization/\(id)").member("displayName") == name)
                #expect(try await browser.me(token, path: "/v1.0/organization/\(Tenant.fabrikam)").status == 404)
            }
        }
    }

    @Test(
        arguments: [
            ("User.Read", "me", 200, nil), ("User.Read", "me/memberOf", 200, nil),
            ("User.Read", "organization", 200, nil),
            ("User.Read", "users/adele@contoso.example", 200, nil),
            ("User.Read", "users/megan@contoso.example", 403, "Authorization_RequestDenied"),
            ("User.Read", "users/nobody@contoso.example", 403, "Authorization_RequestDenied"),
            ("User.Read", "users", 403, "Authorization_RequestDenied"),
            ("User.Read", "groups", 403, "Authorization_RequestDenied"),
            ("User.Read", "me/messages", 403, "ErrorAccessDenied"),
            ("User.ReadBasic.All", "users", 200, nil), ("User.ReadBasic.All", "users/megan@contoso.example", 200, nil),
            ("User.ReadBasic.All", "users/nobody@contoso.example", 404, "Request_ResourceNotFound"),
            ("User.ReadBasic.All", "users/megan@contoso.example/memberOf", 403, "Authorization_RequestDenied"),
            ("User.Read.All", "users/megan@contoso.example/memberOf", 200, nil),
            ("GroupMember.Read.All", "users/megan@contoso.example/memberOf", 200, nil),
            ("GroupMember.Read.All", "groups", 200, nil), ("Group.Read.All", "groups", 200, nil),
            ("GroupMember.Read.All", "me", 403, "Authorization_RequestDenied"),
            ("Directory.Read.All", "groups", 200, nil), ("Directory.Read.All", "users", 200, nil),
            ("Directory.Read.All", "me", 200, nil),
            ("Directory.Read.All", "me/messages", 403, "ErrorAccessDenied"), ("Mail.Read", "me/messages", 200, nil),
            ("Mail.Read", "users/adele@contoso.example/messages", 200, nil),
            ("Mail.Read", "users/megan@contoso.example/messages", 403, "ErrorAccessDenied"),
            ("Mail.Read", "me", 403, "Authorization_RequestDenied"),
        ] as [(String, String, Int, String?)])
    func `each resource needs its least permission, or one that contains it`(
        _ scope: String, _ path: String, _ status: Int, _ code: String?
    ) async throws {
        try await run("adele@contoso.example", scope) { (_, browser, token) async throws in
            let answer = try await browser.me(token, path: "/v1.0/\(path)")
            #expect(answer.status == status && answer.graphError == code, "\(answer.text)")
        }
    }

    @Test(
        arguments: [
            (["User.Read.All"], GraphPermissions.profile, true), (["User.Read"], .profile, false),
            ([], .profile, false),
            (["User.Read.All"], .memberGroups, true), (["GroupMember.Read.All"], .memberGroups, false),
            (["User.Read.All"], .organization, false), (["Directory.Read.All"], .organization, true),
            (["Mail.Read"], .mail, true), (["User.Read.All"], .mail, false),
            (["Application.Read.All"], .applications, true),
            (["Directory.Read.All"], .applications, true), (["Application.Read.All"], .grants, false),
            (["Group.Read.All"], .groups, true), (["User.Read.All"], .checkedGroups, true),
        ])
    func `an application's own token needs roles`(_ roles: [String], _ needs: GraphPermissions, _ isEnough: Bool) {
        let caller = GraphCaller(claims: [:], account: nil, permissions: roles)
        #expect((try? needs.check(caller, isOwn: false)) != nil ? isEnough : !isEnough)
    }

    @Test(
        arguments: [
            ([], "me", 400, "BadRequest"), (["User.Read.All"], "me", 400, "BadRequest"),
            (["User.Read.All"], "me/messages", 400, "BadRequest"),
            ([], "users", 403, "Authorization_RequestDenied"),
            (["Mail.Read"], "users", 403, "Authorization_RequestDenied"),
            (["User.Read.All"], "users", 200, nil),
            (["User.Read.All"], "users/megan@contoso.example/memberOf", 200, nil),
            (["User.Read.All"], "groups", 403, "Authorization_RequestDenied"), (["Group.Read.All"], "groups", 200, nil),
            (["User.Read.All"], "users/megan@contoso.example/messages", 403, "ErrorAccessDenied"),
            (["Mail.Read"], "users/megan@contoso.example/messages", 200, nil),
            (["Mail.Read"], "users/nobody@contoso.example/messages", 404, "Request_ResourceNotFound"),
            (["Application.Read.All"], "applications", 200, nil),
            (["Application.Read.All"], "oauth2PermissionGrants", 403, "Authorization_RequestDenied"),
            (["Directory.Read.All"], "oauth2PermissionGrants", 200, nil),
            (["Directory.Read.All"], "organization", 200, nil),
        ] as [([String], String, Int, String?)])
    func `a program reads what its roles allow, and has no me`(
        _ roles: [String], _ path: String, _ status: Int, _ code: String?
    ) async throws {
        try await TestTenant.run(
            configured: { $0.clients[0].applicationRoles = ["https://graph.microsoft.com": roles] }
        ) { (tenant) async throws in
            let browser = tenant.browser()
            let token = try await browser.ownToken(["scope": "https://graph.microsoft.com/.default"])
            let answer = try await browser.me(token.member("access_token"), path: "/v1.0/\(path)")
            #expect(answer.status == status && answer.graphError == code, "\(answer.text)")
        }
    }

    @Test func `failures from the control page happen to all of Graph`() async throws {
        try await run { (_, browser, token) async throws in
            _ = try await browser.control([
                "graph_error": [
                    "status": 429, "body": ["error": ["code": "TooManyRequests"]], "headers": ["Retry-After": "9"],
                ]
            ])
            let throttled = try await browser.me(token, path: "/v1.0/users")
            #expect(throttled.status == 429 && throttled["Retry-After"] == "9" && throttled["request-id"] != nil)
            _ = try await browser.control(["missing_scope": "Mail.Read"])
            let missing = try await browser.me(token, path: "/v1.0/groups")
            #expect(missing.status == 403 && missing["WWW-Authenticate"]?.contains("insufficient_scope") == true)
            _ = try await browser.control(["missing_scope": .null, "claims_challenge": true])
            let challenged = try await browser.me(token, path: "/v1.0/users")
            #expect(challenged.status == 401 && challenged["WWW-Authenticate"]?.contains("insufficient_claims") == true)
            #expect(try await browser.count("graph_me") == 0)
        }
    }

    @Test func `getMemberGroups needs two permissions`() async throws {
        let body: JSONValue = ["securityEnabledOnly": true]
        for (scopes, status) in [
            ("User.Read", 403), ("GroupMember.Read.All", 403), ("User.Read GroupMember.Read.All", 200),
            ("User.Read Group.Read.All", 200), ("Directory.Read.All", 200),
        ] {
            try await run("adele@contoso.example", scopes) { (_, browser, token) async throws in
                let headers = [("Authorization", "Bearer \(token)")]
                let answer = try await browser.send("POST", "/v1.0/me/getMemberGroups", headers, body.bytes)
                #expect(answer.status == status, "\(scopes)")
            }
        }
    }

    @Test func `personal accounts have no directory`() async throws {
        try await run("alex@outlook.example", "User.ReadBasic.All Mail.Read") { (_, browser, token) async throws in
            for path in ["users", "me/memberOf", "organization", "groups"] {
                let answer = try await browser.me(token, path: "/v1.0/\(path)")
                #expect(answer.status == 404 && answer.graphError == "", "\(path)")
            }
            for path in ["me", "users/alex@outlook.example", "me/messages", "me/photo"] {
                #expect(try await browser.me(token, path: "/v1.0/\(path)").status == 200, "\(path)")
            }
        }
    }

    @Test func `all properties of a personal account come, and the context names the selected ones`() async throws {
        try await run("alex@outlook.example", "User.Read") { (_, browser, token) async throws in
            let me = try await browser.me(token, path: "/v1.0/me?$select=mail,displayName")
            #expect(me.member("surname") == "Wilber" && me.member("givenName") == "Alex")
            #expect(me.member("@odata.context")?.hasSuffix("#users(mail,displayName)/$entity") == true)
            #expect(try await browser.me(token, path: "/v1.0/me?$select=nothing").graphError == "BadRequest")
        }
    }

    @Test func `a customer of the external tenant reads their own profile alone`() async throws {
        try await run("customer@fabrikam.example", "User.Read", segment: "fabrikam.example") {
            (_, browser, token) async throws in
            #expect(try await browser.me(token).member("userPrincipalName") == "customer@fabrikam.example")
            #expect(try await browser.me(token, path: "/v1.0/users").status == 403)
            let mail = try await browser.me(token, path: "/v1.0/me/messages")
            #expect(mail.status == 403 && mail.graphError == "ErrorAccessDenied")
        }
    }
}
