import OpenIDConnect
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCheck
@testable import CompanionCore

/// The check knows the other APIs that pages may call.
@Suite struct APIFindingsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let base: String
        var scopes: [String: [String]] = [:]
        var api: String? = "https://graph.microsoft.com/v1.0/me"
        let expected: [String]
        var says = ""
    }

    @Test(arguments: [
        Row(
            testDescription: "Graph with scopes for each path", base: "https://graph.microsoft.com/v1.0",
            scopes: ["/me/messages": ["Mail.Read"], "/users/*": ["User.ReadBasic.All"]], expected: []),
        Row(
            testDescription: "Graph with a path that has no scopes", base: "https://graph.microsoft.com/v1.0",
            scopes: ["/me/messages": ["Mail.Read"]], expected: ["advice apis"], says: "does not name /users/*."),
        Row(
            testDescription: "a path with an empty list", base: "https://graph.microsoft.com/v1.0",
            scopes: ["/me/messages": [], "/users/*": ["User.ReadBasic.All"]], expected: ["advice apis"],
            says: "does not name /me/messages."),
        Row(
            testDescription: "another host without scopes", base: "https://partner.example/v1",
            expected: ["mistake apis"],
            says: "partner.example gets access tokens that are for other APIs, from app, at /me/messages, /users/*."),
        Row(
            testDescription: "another host with scopes of its own", base: "https://partner.example/v1",
            scopes: ["/me/messages": ["api://partner/read"], "/users/*": ["api://partner/read"]], expected: []),
        Row(
            testDescription: "a provider's token at Graph", base: "https://graph.microsoft.com/v1.0", api: nil,
            expected: ["mistake apis"], says: "for other APIs, from app"),
        Row(
            testDescription: "a host without https", base: "http://partner.example/v1",
            scopes: ["/me/messages": ["api://partner/read"], "/users/*": ["api://partner/read"]],
            expected: ["mistake apis"], says: "which is not https"),
        Row(
            testDescription: "this machine without https", base: "http://localhost:8081/v1",
            api: "http://localhost:8081/me", expected: ["advice apis"]),
    ])
    func `an API that could get a token that is not for it is found`(row: Row) throws {
        let paths = try ["/me/messages", "/users/*"].map { try #require(APIPathPattern($0)) }
        let scopes = paths.compactMap { path in row.scopes[path.description].map { (path, $0) } }
        let api = AllowedAPI(
            name: "other", base: try #require(Endpoint(row.base)), paths: paths,
            scopes: Dictionary(uniqueKeysWithValues: scopes), applications: ["app"])
        let isGeneric = row.api == nil
        let application = Application(
            id: "app", page: .portal, title: "App",
            authority: try isGeneric
                ? Authority("https://id.example.com", kind: .oidc)
                : Authority("https://login.microsoftonline.com/common"),
            registration: ClientRegistration(clientID: "a", redirectURI: "b", scopes: []),
            credential: .fixed(.publicClient), api: row.api.flatMap(Endpoint.init))
        var configuration = CompanionConfiguration(port: 8080, applications: [application])
        configuration.apis = [api]
        var other = application
        other.id = "other"
        // Another application's tokens do not go there, whatever its own API is.
        let found = APIFindings(apis: [api], applications: [application, other]).all
        #expect(found.map { "\($0.severity) \($0.subject)" } == row.expected)
        #expect(
            row.says.isEmpty || found.contains { $0.what.english.contains(row.says) }, "\(found.map(\.what.english))")
        #expect(found.allSatisfy { $0.item == "other" && $0.why != nil && $0.remedy != nil })
        #expect(
            ConfigurationFindings(configuration: configuration, now: .now).general.filter { $0.subject == "apis" }
                == found)
    }
}
