import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("Graph's query options")
struct GraphQueryTests {
    private static let megan = GraphEntity(
        type: .user,
        members: [
            "displayName": "Megan O'Hara", "mail": "megan@contoso.example", "accountEnabled": true,
            "createdDateTime": "2025-03-03T09:00:00Z", "businessPhones": ["1"], "jobTitle": .null,
        ])

    @Test(
        arguments: [
            ("displayName eq 'Megan O''Hara'", true), ("displayname EQ 'megan o''hara'", true),
            ("displayName eq 'Megan'", false), ("accountEnabled eq true", true), ("accountEnabled eq false", false),
            ("startswith(displayName,'meg')", true), ("startsWith( displayName , 'O' )", false),
            ("endswith(mail,'@contoso.example')", true), ("contains(displayName,'gan o')", true),
            ("not startswith(displayName,'A')", true), ("not(accountEnabled eq true)", false),
            ("not not accountEnabled eq true", true), ("jobTitle eq null", true), ("jobTitle ne null", false),
            ("displayName ne null", true), ("jobTitle eq 'Boss'", false), ("jobTitle ne 'Boss'", true),
            ("createdDateTime ge 2025-03-03T09:00:00Z and createdDateTime lt 2026-01-01T00:00:00Z", true),
            ("createdDateTime gt 2025-03-03T09:00:00Z", false), ("createdDateTime le 2025-03-02T09:00:00Z", false),
            ("mail in ('a','megan@contoso.example')", true), ("mail in ('a')", false),
            ("mail eq 'x' or accountEnabled eq true and displayName eq 'x'", false),
            ("(mail eq 'x' or accountEnabled eq true) and startswith(mail,'m')", true),
            ("department eq null", true), ("from/emailAddress eq null", true),
        ])
    func `a filter means what it says`(_ text: String, _ isMet: Bool) throws {
        #expect(try GraphFilter(parsing: text).matches(Self.megan) == isMet)
    }

    @Test(
        arguments: [
            ("", "BadRequest"), ("displayName", "BadRequest"), ("displayName eq", "BadRequest"),
            ("displayName eq 'Megan", "BadRequest"), ("displayName eq Megan", "BadRequest"),
            ("displayName is 'x'", "BadRequest"), ("eq 'x'", "BadRequest"), ("'x' eq displayName", "BadRequest"),
            ("(displayName eq 'x'", "BadRequest"), ("displayName eq 'x')", "BadRequest"),
            ("displayName eq 'x' and", "BadRequest"), ("displayName eq 'x' mail eq 'y'", "BadRequest"),
            ("startswith(displayName)", "BadRequest"), ("startswith(displayName,'x'", "BadRequest"),
            ("startswith('x',displayName)", "BadRequest"), ("length(displayName) eq 1", "BadRequest"),
            ("mail in ()", "BadRequest"), ("mail in 'x'", "BadRequest"), ("accountEnabled eq 'true'", "BadRequest"),
            ("displayName eq 5", "BadRequest"), ("businessPhones eq '1'", "Request_UnsupportedQuery"),
            ("groupTypes/any(c:c eq 'Unified')", "Request_UnsupportedQuery"),
            (String(repeating: "(", count: 500), "BadRequest"), (String(repeating: "not ", count: 100), "BadRequest"),
            (String(repeating: "not(", count: 40), "BadRequest"),
            (String(repeating: "mail eq 'x' or ", count: 60) + "mail eq 'y'", "BadRequest"),
        ])
    func `a filter that is none is refused`(_ text: String, _ code: String) {
        let error = #expect(throws: GraphError.self) { try GraphFilter(parsing: text).matches(Self.megan) }
        #expect(error?.code == code)
    }

    @Test(
        arguments: [
            ("$top=0", "BadRequest", false), ("$top=-1", "BadRequest", true), ("$top=+1", "BadRequest", true),
            ("$top=%2B1", "BadRequest", true), ("$top=99999999999999999999", "BadRequest", true),
            ("$top=", "BadRequest", true), ("$top=1&$top=2", "BadRequest", true), ("$top=1&top=2", "BadRequest", true),
            ("$count=1", "BadRequest", true), ("$expand=manager", "BadRequest", true),
            ("$apply=x", "BadRequest", true), ("$orderby=displayName%20up", "BadRequest", true),
            ("$orderby=displayName%20desc%20x", "BadRequest", true), ("$filter=%zz", "BadRequest", true),
            ("$select=%ff", "BadRequest", true), ("format=json&x=1&&=&unknown", "", false),
        ])
    func `an option that is malformed, repeated or unknown is refused`(
        _ query: String, _ code: String, _ isRefused: Bool
    ) {
        guard isRefused else {
            #expect(throws: Never.self) { try GraphQuery(query) }
            return
        }
        let error = #expect(throws: GraphError.self) { try GraphQuery(query) }
        #expect(error?.code == code)
    }

    @Test func `options have their dollar or not, in any case, encoded or not`() throws {
        let plain = try GraphQuery("$select=id,mail&$top=5&$count=true&$orderby=mail desc,id")
        for spelling in [
            "%24select=id%2Cmail&%24top=5&%24count=true&%24orderby=mail%20desc%2Cid",
            "select=id,+mail,&top=5&count=TRUE&orderBy=mail+desc,+id+asc",
        ] {
            let query = try GraphQuery(spelling)
            #expect(query.select == plain.select && query.top == 5 && query.count && query.orderBy == plain.orderBy)
        }
        #expect(plain.orderBy.map(\.isDescending) == [true, false])
    }

    @Test func `the next page is asked for as Graph writes it, without the position of this one`() throws {
        let query = try GraphQuery("%24select=id,displayName&$filter=startswith(mail,'a+b')&x=1&$skiptoken=y")
        #expect(
            query.text
                == "$select=id%2cdisplayName&$filter=startswith%28mail%2c%27a%20b%27%29&x=1")
    }

    @Test func `a path has its keys in parentheses or as segments, and what is asked of a collection at its end`() {
        for (path, parts) in [
            ("users/x", ["users", "x"]), ("users('x')", ["users", "x"]),
            ("users('o''x')/photo", ["users", "o'x", "photo"]),
            ("applications(appId='x')", ["applications", "appId='x'"]), ("me/", ["me"]), ("", []),
            ("('x')", ["('x')"]), ("users()", ["users", ""]), ("users('", ["users('"]), ("$count", ["$count"]),
        ] {
            let path = GraphPath(path.split(separator: "/", omittingEmptySubsequences: false).map(String.init))
            #expect(path.parts == parts && path.cast == nil && !path.isCount)
        }
        let counted = GraphPath(["me", "memberOf", "microsoft.graph.group", "$count"])
        #expect(counted.parts == ["me", "memberOf"] && counted.cast == "group" && counted.isCount)
    }
}
