import Cryptography
import Foundation
import HTTPTypes
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore

/// `Public/openapi.json` says what the route table has.
@Suite struct OpenAPITests {
    private static func document() throws -> JSONValue {
        let file = Site.root.appendingPathComponent("Public/openapi.json")
        return try #require(JSONValue(parsing: [UInt8](Data(contentsOf: file))))
    }

    /// The methods by path. Each GET is answered to HEAD too.
    private static var routes: [String: Set<String>] {
        Dictionary(
            Route.table.map { route in
                (route.pattern, Set(route.allow.components(separatedBy: ", ")).subtracting(["HEAD"]))
            }, uniquingKeysWith: { $0.union($1) })
    }

    @Test func `it has the paths and methods of the route table, and no others`() throws {
        let paths = try #require(Self.document()["paths"]?.object)
        let documented = paths.mapValues { Set(($0.object ?? [:]).keys.map { $0.uppercased() }) }
        #expect(documented == Self.routes)
    }

    @Test func `each operation names who may call it, its parameters, and its answers`() throws {
        let paths = try #require(Self.document()["paths"]?.object)
        var ids: Set<String> = []
        for route in Route.table {
            for (method, operation) in paths[route.pattern]?.object ?? [:] {
                let id = try #require(operation["operationId"]?.string)
                #expect(ids.insert(id).inserted, "\(id) occurs twice")
                let schemes = Set((operation["security"]?.array ?? []).flatMap { ($0.object ?? [:]).keys })
                #expect(schemes.contains("program") == (route.programScope != nil), "\(method) \(route.pattern)")
                let scopes = (operation["security"]?.array ?? []).compactMap { $0["program"]?.array?.first?.string }
                #expect(scopes == [route.programScope?.rawValue].compactMap(\.self), "\(method) \(route.pattern)")
                if case .program = route.caller { #expect(schemes == ["program"]) }
                let answers = try #require(operation["responses"]?.object)
                #expect(answers.count > 1 && answers["default"] != nil, "\(id)")
                let places = route.pattern.matches(of: /\{(\w+)\}/).map { String($0.1) }
                let named = (operation["parameters"]?.array ?? []).compactMap { $0["$ref"]?.string }
                for place in places { #expect(named.contains("#/components/parameters/\(place)"), "\(id)") }
            }
        }
    }

    @Test func `anyone can read it`() async throws {
        try await Site.run { site in
            let answer = try await Visitor(site).get("/openapi.json")
            #expect(answer.status == 200 && answer.fields[.contentType] == "application/json")
            #expect(answer.json["openapi"] as? String == "3.1.0")
        }
    }
}

/// The routes and the roles of those who call them.
@Suite struct RolesTests {
    /// Who asks. Each has what the ones before have not.
    enum Asker: String, CaseIterable, Sendable {
        case nobody, signedIn, reader, `operator`, check, sessions, metrics
        case sessionsRead = "sessions_read"
    }

    /// Returns who gets past the checks of a route.
    private static func admitted(_ route: Route, _ method: HTTPRequest.Method) -> Set<Asker> {
        let people: Set<Asker> = [.signedIn, .reader, .operator]
        var admitted: Set<Asker> = []
        if case .program = route.caller {
        } else if case .handler(let handler, _)? = route.source(for: method) {
            switch handler {
            case .visit where changesAccounts.contains("\(method) \(route.pattern)"): admitted = people
            case .call, .session, .application, .visit: admitted = people.union([.nobody])
            case .signedIn: admitted = people
            case .operating(.reader, _): admitted = [.reader, .operator]
            case .operating(.operator, _): admitted = [.operator]
            }
        } else {
            admitted = people.union([.nobody])
        }
        switch route.programScope {
        case .check: admitted.insert(.check)
        case .sessions: admitted.insert(.sessions)
        case .sessionsRead: admitted.formUnion([.sessions, .sessionsRead])
        case .metrics: admitted.insert(.metrics)
        case nil: break
        }
        return admitted
    }

    /// Handlers that get a visit with or without an account, and demand one for what the body says.
    private static let changesAccounts: Set<String> = [
        "PUT /api/{app}/account", "DELETE /api/{app}/accounts/{id}", "POST /api/{app}/token",
    ]

    /// Only a portal's operators may ask for these. A new address of that kind has to be listed here.
    private static let ofOperators: Set<String> = [
        "GET /api/{app}/health", "GET /api/{app}/sessions", "DELETE /api/{app}/sessions/{key}",
        "POST /api/{app}/app-only",
        "POST /api/{app}/check",
    ]

    @Test func `what is for operators is the same list in the table and here`() {
        var found: Set<String> = []
        for route in Route.table {
            for method in route.allow.components(separatedBy: ", ").compactMap({ HTTPRequest.Method($0) })
            where method != .head && !Self.admitted(route, method).contains(.signedIn) {
                found.insert("\(method) \(route.pattern)")
            }
        }
        #expect(found == Self.ofOperators)
    }

    @Test func `each route lets in those whom it is for and nobody else, and no other site`() async throws {
        try await Site.run(configured: { configuration in
            configuration.applications[1].page = .portal
            configuration.applications[1].operators = AccountList(roles: ["Operator"])
            configuration.applications[1].readers = AccountList(roles: ["Reader"])
            configuration.applications[1].prompt = nil
            configuration.apiTokens = APIToken.Scope.allCases.map { scope in
                APIToken(name: scope.rawValue, sha256: Self.hash(scope.rawValue), scopes: [scope], expires: nil)
            }
            configuration.limits.programRequestsPerMinute = 0
        }) { site in
            var visitors: [Asker: Visitor] = [.nobody: Visitor(site)]
            for (asker, roles) in [(Asker.signedIn, "[]"), (.reader, #"["Reader"]"#), (.operator, #"["Operator"]"#)] {
                try await site.control(#"{"id_token_claims": {"roles": \#(roles)}}"#)
                let visitor = Visitor(site)
                try await visitor.signIn(app: "macos")
                visitors[asker] = visitor
            }
            for route in Route.table where route.pattern.hasPrefix("/api/{app}/") || route.pattern == "/metrics" {
                for method in route.allow.components(separatedBy: ", ").compactMap({ HTTPRequest.Method($0) })
                where method != .head {
                    let path = route.pattern.replacing("{app}", with: "macos").replacing("{key}", with: "424242")
                        .replacing("{id}", with: "nobody")
                    for asker in Asker.allCases {
                        let answer = try await ask(visitors[asker] ?? Visitor(site), asker, method, path)
                        let isRefused = [
                            "interaction_required", "session_expired", "access_denied", "invalid_token",
                            "insufficient_scope", "cross_site_request",
                        ].contains(answer.code)
                        let expected = Self.admitted(route, method).contains(asker)
                        // A program without the right scope is told so; at pages' addresses a token is nobody's.
                        let isProgram = [.check, .sessions, .sessionsRead, .metrics].contains(asker)
                        if isProgram, route.programScope == nil { continue }
                        #expect(
                            isRefused != expected, "\(asker) \(method) \(path): \(answer.status) \(answer.code ?? "")")
                    }
                    try await expectNoOtherSite(route, method, path, visitors)
                }
            }
        }
    }

    /// Another site's page may send an operator's cookies, and gets nowhere.
    private func expectNoOtherSite(
        _ route: Route, _ method: HTTPRequest.Method, _ path: String, _ visitors: [Asker: Visitor]
    ) async throws {
        guard case .ourPages = route.caller, let visitor = visitors[.operator] else { return }
        for fields in [
            [.secFetchSite: "cross-site"], [.secFetchSite: "same-site", .xCompanion: "1"],
            [.origin: "https://evil.example", .xCompanion: "1", .secFetchSite: "cross-site"],
        ] as [HTTPFields] {
            let answer = try await visitor.send(method, path, headers: fields.merging([.accept: "application/json"]))
            #expect(answer.code == "cross_site_request", "\(method) \(path): \(answer.status)")
        }
    }

    private func ask(
        _ visitor: Visitor, _ asker: Asker, _ method: HTTPRequest.Method, _ path: String
    ) async throws -> Visitor.Answer {
        switch asker {
        case .nobody, .signedIn, .reader, .operator:
            return try await visitor.api(method, path, body: Self.body(path, method))
        case .check, .sessions, .sessionsRead, .metrics:
            return try await visitor.send(
                method, path, headers: [.accept: "application/json", .authorization: "Bearer \(asker.rawValue)"])
        }
    }

    private static func body(_ path: String, _ method: HTTPRequest.Method) -> String {
        method == .put ? #"{"id": "nobody"}"# : path.hasSuffix("/app-only") ? #"{"application": "none"}"# : ""
    }

    private static func hash(_ text: String) -> [UInt8] { Array(SHA256.hash(data: Data(text.utf8))) }
}

extension HTTPFields {
    fileprivate func merging(_ more: HTTPFields) -> HTTPFields {
        var all = self
        for field in more { all[field.name] = field.value }
        return all
    }
}
