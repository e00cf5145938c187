import Cryptography
import Foundation
import HTTPTypes
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// The requests that strangers may send without end, at the address of others or at thirty addresses of their own.
/// `OccupiedPlacesTests` has the same for connections. Each row is one of the table of limits in SECURITY.md.
@Suite struct StrangersTests {
    enum Nuisance: String, CaseIterable, CustomTestStringConvertible {
        case resumed = "made-up handles of posted answers"
        case resumedAgain = "a handle without its cookie, over and over"
        case posted = "posts of one answer"
        case noCookie = "made-up answers without a sign-in"
        case madeUpCodes = "made-up answers to a few sign-ins"
        case wrongTokens = "wrong tokens of programs"

        var testDescription: String { rawValue }
    }

    /// The requests of the strangers, and the share of an address: half of it at once.
    private static let (requests, perMinute) = (120, 100)

    @Test(arguments: Nuisance.allCases, [1, 30])
    func `20 of 20 others get in beside strangers`(_ what: Nuisance, addresses: Int) async throws {
        try await Site.run(configured: { configuration in
            configuration.applications[1].page = .portal
            configuration.trustedProxies = ["127.0.0.1"].compactMap(AddressRange.init)
            configuration.limits.callbacksPerMinute = Self.perMinute
            configuration.limits.programRequestsPerMinute = Self.perMinute
            configuration.apiTokens = [
                APIToken(
                    name: "right", sha256: Array(SHA256.hash(data: Data("right".utf8))), scopes: [.metrics],
                    expires: nil)
            ]
        }) { site in
            let person = Visitor(site)
            _ = try await person.walkToCallback()
            var strangers: [Stranger] = []
            for _ in 0..<6 { strangers.append(try await Stranger(site)) }
            for number in 0..<Self.requests {
                // Without a front's word the address is that of the others.
                var fields: HTTPFields = [.accept: "application/json"]
                if addresses > 1 { fields[.xForwardedFor] = "203.0.113.\(number % addresses)" }
                try await strangers[number % strangers.count].act(what, number, fields)
            }
            for number in 0..<20 {
                let other = person.knownToProvider()
                if what == .wrongTokens {
                    let answer = try await other.send(.get, "/metrics", headers: [.authorization: "Bearer right"])
                    #expect(answer.status == 200, "\(number): \(answer.text)")
                } else {
                    let answer = try await other.signIn(query: "login_hint=adele@contoso.example")
                    #expect(answer.location == "/ios", "\(number)")
                }
            }
        }
    }
}

/// A browser that has begun one sign-in.
private struct Stranger {
    let visitor: Visitor
    let state: String
    /// The handle of its posted answer.
    let resume: String

    init(_ site: Site) async throws {
        visitor = Visitor(site)
        state = try await visitor.leave()
        resume = try #require(try await Self.post(Visitor(site), state).location)
    }

    private static func post(_ visitor: Visitor, _ state: String, _ fields: HTTPFields = [:]) async throws
        -> Visitor.Answer
    {
        var fields = fields
        fields[.contentType] = "application/x-www-form-urlencoded"
        return try await visitor.send(.post, "/auth/callback", headers: fields, body: "state=\(state)&code=y")
    }

    func act(_ what: StrangersTests.Nuisance, _ number: Int, _ fields: HTTPFields) async throws {
        switch what {
        case .resumed:
            _ = try await visitor.send(.get, "/auth/callback?resume=made-up-\(number)", headers: fields)
        case .resumedAgain:
            let other = visitor.copy()
            for name in other.cookies(named: other.attempts).keys { other.setCookie(name, nil) }
            _ = try await other.send(.get, resume, headers: fields)
        case .posted: _ = try await Self.post(visitor, state, fields)
        case .noCookie:
            _ = try await visitor.send(.get, "/auth/callback?state=x\(number)&code=y", headers: fields)
        case .madeUpCodes:
            _ = try await visitor.send(.get, "/auth/callback?state=\(state)&code=y\(number)", headers: fields)
        case .wrongTokens:
            var fields = fields
            fields[.authorization] = "Bearer wrong\(number)"
            _ = try await visitor.send(.get, "/metrics", headers: fields)
        }
    }
}
