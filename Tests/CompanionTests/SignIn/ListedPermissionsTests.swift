import Foundation
import Testing

@testable import CompanionCommand
@testable import CompanionCore
@testable import TenantDirectory
@testable import TenantServer

/// The demo's pages and missions with a registration that lists its permissions, and with one of them forgotten
/// (t2-authz-08). The Xcode projects are tried so in Tests/Interop.
@Suite struct ListedPermissionsTests {
    /// All that the demo's pages and missions ask for.
    private static let listed: [String: Set<String>] = [
        Scopes.graphIdentifier: ["group.read.all", "mail.read", "user.read", "user.readbasic.all"],
        OwnAPI.external.audience: [OwnAPI.external.scope],
        OwnAPI.b2c.audience: [OwnAPI.b2c.scope],
        OwnAPI.payroll.audience: [OwnAPI.payroll.scope],
    ]

    private static func api(of scope: String) -> String {
        scope.lastIndex(of: "/").map { String(scope[..<$0]) } ?? Scopes.graphIdentifier
    }

    /// The site as the demo.
    private static func run(_ permissions: [String: Set<String>], _ test: (Site) async throws -> Void) async throws {
        try await Site.run(
            registered: {
                $0.id = DemoApplications.clientID
                $0.permissions = permissions.mapValues(Array.init)
            },
            furnished: { tenant, configuration in
                try configuration.serve(
                    DemoApplications.all(
                        tenant: tenant, secret: Site.secret, redirectURI: configuration.publicURL.redirectURI,
                        isShared: false))
                configuration.apis = [DemoApplications.graph(of: tenant), DemoApplications.payroll(of: tenant)]
                    .compactMap(\.self)
                configuration.demoControlURL = tenant.baseURL + "/control"
            }, configured: { _ in }, test)
    }

    @Test func `the list has what the pages ask for, and nothing else`() async throws {
        try await Self.run(Self.listed) { site in
            let scopes =
                site.configuration.applications.flatMap(\.registration.scopes)
                + site.configuration.apis.flatMap { $0.scopes.values.joined() }
            let asked = Dictionary(grouping: scopes, by: Self.api).mapValues { scopes in
                Set(scopes.map { ($0.split(separator: "/").last ?? "").lowercased() })
            }
            #expect(asked == Self.listed)
        }
    }

    @Test(arguments: [nil] + listed.keys.sorted() as [String?])
    func `every page works with the list, and what needs a forgotten API is refused`(_ forgotten: String?) async throws
    {
        try await Self.run(Self.listed.filter { $0.key != forgotten }) { site in
            var refused = 0
            for application in site.configuration.applications {
                let (visitor, id) = (Visitor(site), application.id)
                // The kiosk takes no sign-in of the same second as an earlier one.
                site.clock.advance(1)
                let person =
                    switch application.page {
                    case .external: "customer@fabrikam.example"
                    case .b2c: "b2cuser@fabrikamb2c.example"
                    default: "adele@contoso.example"
                    }
                func signIn(_ query: String = "", asking scopes: [String]) async throws -> Bool {
                    let isListed = !scopes.contains { Self.api(of: $0) == forgotten }
                    let end = try await visitor.signIn(app: id, query: query, username: person).location ?? ""
                    #expect(end.contains("sign_in_error=") == !isListed, "\(id): \(end)")
                    if !isListed {
                        refused += 1
                        let said = try await visitor.api(.get, "/api/\(id)/sign-in-failure").text
                        #expect(said.contains(application.page == .b2c ? "90205" : "650057"), "\(id): \(said)")
                    }
                    return isListed
                }
                let own = application.registration.scopes
                let isSignedIn = try await signIn(asking: own)
                #expect(try await (visitor.api(.get, "/api/\(id)/me").status == 200) == isSignedIn, "\(id)")
                guard isSignedIn else { continue }
                if application.page == .b2c { _ = try await signIn("policy=edit_profile", asking: own) }
                for api in site.configuration.apis where api.applications.contains(id) {
                    for pattern in api.paths {
                        let path = pattern.description.replacing("*", with: person)
                        let address = "/api/\(id)/call?api=\(api.name)&path=\(path)"
                        var answer = try await visitor.api(.get, address)
                        // The permission, and an authentication context.
                        for _ in 0..<2 where answer.status != 200 {
                            guard let action = answer.json["action"] as? [String: String] else { break }
                            let query = try #require(action["url"]?.split(separator: "?").last)
                            _ = try await signIn(String(query), asking: api.scopes[pattern] ?? own)
                            answer = try await visitor.api(.get, address)
                        }
                        let isListed = !(api.scopes[pattern] ?? own).contains { Self.api(of: $0) == forgotten }
                        #expect((answer.json["status"] as? Int == 200) == isListed, "\(path): \(answer.text)")
                        // Its token is refused, and no sign-in is offered.
                        if !isListed {
                            refused += 1
                            #expect(answer.text.contains("650057"), "\(path): \(answer.text)")
                        }
                    }
                }
            }
            #expect((refused > 0) == (forgotten != nil))
        }
    }

    // MARK: Missions

    /// A mission as the page's script has it.
    struct Mission {
        let id: Substring
        /// The failure of the demo, and the option of the sign-in, that it begins with.
        let failure: Substring?
        let signIn: (name: Substring, value: Substring)?
        /// The steps by which the page sees that it has happened.
        let steps: [String]

        init(_ text: some StringProtocol) {
            let text = String(text)
            id = text.prefix { $0 != "\"" }
            failure = text.firstMatch(of: /failure: "(\w+)"/)?.1
            signIn = text.firstMatch(of: /signIn: \{ (\w+): "([^"]+)" \}/).map { ($0.1, $0.2) }
            let wanted = text.firstMatch(of: /happened\(events, ([^)]+)\)/)?.1 ?? ""
            steps = wanted.matches(of: /"([^"]+)"/).map { String($0.1) }
        }

        static func all() throws -> [Mission] {
            let path = Site.publicFolder + "/scripts/tutorial/missions.js"
            let script = try String(contentsOfFile: path, encoding: .utf8)
            let list = script.components(separatedBy: "export const missions = [")[1].prefix { $0 != "]" }
            let missions = list.components(separatedBy: "id: \"").dropFirst().map { Mission($0) }
            #expect(!missions.isEmpty && missions.count == list.ranges(of: "isDone:").count)
            return missions
        }

        /// Whether the steps are among the session's, in this order.
        func hasHappened(in events: some Sequence<String>) -> Bool {
            events.reduce(steps[...]) { $0.first == $1 ? $0.dropFirst() : $0 }.isEmpty
        }
    }

    @Test func `every mission of the demo can be done with the list`() async throws {
        try await Self.run(Self.listed) { site in
            for mission in try Mission.all() {
                let visitor = Visitor(site)
                switch mission.id {
                case "redirect_uri":
                    let begun = try await Self.begin(mission.failure, for: visitor)
                    let page = try await visitor.get(try #require(begun.json["location"] as? String))
                    #expect(page.text.contains("AADSTS50011"))
                // The app is one of the projects, and the file check asks nobody. Each of the others begins with a sign-in.
                case "native_app", "keychain", "first_sign_in": continue
                default:
                    try await visitor.signIn()
                    let before = try await Self.events(of: visitor)
                    // A revocation is later than what it ends.
                    site.clock.advance(1)
                    if let failure = mission.failure {
                        #expect(try await Self.begin(failure, for: visitor).status == 204)
                        try await Self.call(visitor, at: site)
                    } else {
                        let (name, value) = try #require(mission.signIn, "\(mission.id) begins with nothing")
                        let isLeft = mission.steps.contains { !$0.hasSuffix(" ok") }
                        try await visitor.signIn(
                            query: "\(name)=\(value)",
                            username: name == "login_hint" ? String(value) : "adele@contoso.example",
                            consent: isLeft ? "cancel" : "accept")
                    }
                    let events = try await Self.events(of: visitor).dropFirst(before.count)
                    #expect(!mission.steps.isEmpty && mission.hasHappened(in: events), "\(mission.id): \(events)")
                    #expect(try await Self.begin(nil, for: visitor).status == 204)
                }
            }
        }
    }

    private static func begin(_ failure: Substring?, for visitor: Visitor) async throws -> Visitor.Answer {
        let name = failure.map { "\"\($0)\"" } ?? "null"
        return try await visitor.api(.post, "/api/demo/mission", body: "{\"app\": \"ios\", \"failure\": \(name)}")
    }

    private static func events(of visitor: Visitor) async throws -> [String] {
        let events = try await visitor.api(.get, "/api/ios/events").json["events"] as? [[String: Any]] ?? []
        return events.map { "\($0["step"] as? String ?? "") \($0["outcome"] as? String ?? "")" }
    }

    /// Calls Graph as the page does: with a silent request before it, the sign-in that one of them asks for, and after
    /// the pause that Graph asks for.
    private static func call(_ visitor: Visitor, at site: Site) async throws {
        for _ in 0..<3 {
            var answer = try await visitor.api(.post, "/api/ios/token")
            if answer.status == 200 { answer = try await visitor.api(.get, "/api/ios/me") }
            if let action = answer.json["action"] as? [String: Any], let url = action["url"] as? String {
                _ = try await visitor.follow(url, username: "adele@contoso.example")
            } else if answer.status == 429 {
                site.clock.advance(11)
            } else {
                return
            }
        }
    }
}
