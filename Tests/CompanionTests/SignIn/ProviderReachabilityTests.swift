import EventLoop
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import OpenIDConnect
import Synchronization
import TestSupport
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// Whether a provider answers is asked before a browser is sent to it.
@Suite struct ProviderReachabilityTests {
    @Test func `a provider that has just answered is not asked whether it answers`() async throws {
        try await Site.run { site in
            let before = try await site.count("discovery")
            #expect(try await Visitor(site).get("/auth/ios/sign-in").status == 302)
            #expect(try await site.count("discovery") == before + 1, "the metadata was fetched, and nothing else")
            #expect(try await Visitor(site).get("/auth/ios/sign-in").status == 302)
            #expect(try await site.count("discovery") == before + 2, "what is known is not new any more")
        }
    }

    @Test func `a sign-in that could not leave is a failed step of its session, with its correlation ID`()
        async throws
    {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await site.control(#"{"provider_down": "all"}"#)
            #expect(try await visitor.get("/auth/ios/sign-in").location?.contains("provider_unavailable") == true)
            let events = try await visitor.api(.get, "/api/ios/events").json["events"] as? [[String: Any]]
            let last = try #require(events?.last)
            #expect(last["step"] as? String == "authorize")
            #expect(last["outcome"] as? String == "provider_unavailable")
            #expect(last["attempt"] is Int && last["correlation_id"] is String)
        }
    }

    @Test func `many sign-ins that begin at once ask the provider only once`() async throws {
        let provider = SlowProvider()
        let workers = try WorkerGroup(count: 1)
        let server = HTTPServer(
            configuration: ServerConfiguration(), workers: workers, responder: provider, logger: Logger(label: "slow"))
        provider.url.withLock { $0 = "http://localhost:" }
        let port = try await server.start()
        provider.url.withLock { $0 += "\(port)" }
        try await Site.run(configured: { configuration in
            configuration.limits.signInsPerMinute = 0
            if let authority = try? Authority("http://localhost:\(port)", kind: .oidc) {
                configuration.applications[1].authority = authority
            }
        }) { site in
            #expect(try await Visitor(site).get("/auth/macos/sign-in").status == 302)
            // On a machine that stalls, the question is given up before it is answered, and says nothing.
            var isJudged = false
            for _ in 0..<20 where !isJudged {
                let (start, before) = (ContinuousClock.now, provider.asked.withLock { $0 })
                let (statuses, asked) = try await Self.signInsAtOnce(at: site, with: provider)
                guard start.duration(to: .now) < ProviderClient.patience else { continue }
                isJudged = true
                #expect(statuses == Array(repeating: 302, count: Self.visitors))
                #expect(asked - before == 1, "while the first question is open")
                // Who sends a request after the answer asks again.
                #expect(provider.asked.withLock { $0 } - before < Self.visitors)
            }
            #expect(isJudged)
        }
        await server.stop(grace: .zero)
        await workers.shutdown()
    }

    private static let visitors = 30

    /// Lets the provider answer when all of them are there.
    ///
    /// - Returns: their statuses, and how often the provider was asked until it answered.
    private static func signInsAtOnce(at site: Site, with provider: SlowProvider) async throws
        -> (statuses: [Int], asked: Int)
    {
        provider.isHolding.withLock { $0 = true }
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<visitors {
                group.addTask { try await Visitor(site).get("/auth/macos/sign-in").status }
            }
            let visitor = Visitor(site)
            let areThere = await eventually {
                ((try? await visitor.metrics())?["companion_http_connections"] ?? 0) > Double(visitors)
            }
            // These are sent behind theirs, and answered.
            for _ in 0..<20 { _ = try? await visitor.metrics() }
            let asked = provider.asked.withLock { $0 }
            provider.isHolding.withLock { $0 = false }
            #expect(areThere)
            let statuses: [Int] = try await group.reduce(into: []) { $0.append($1) }
            return (statuses, asked)
        }
    }
}

/// A provider that holds its metadata back.
private final class SlowProvider: Responder {
    let url = Mutex("")
    let asked = Mutex(0)
    let isHolding = Mutex(false)

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        asked.withLock { $0 += 1 }
        let url = url.withLock { $0 }
        let metadata: JSONValue = [
            "issuer": .string(url), "authorization_endpoint": .string(url + "/authorize"),
            "token_endpoint": .string(url + "/token"), "jwks_uri": .string(url + "/keys"),
        ]
        return .handler(maxBodyBytes: 0) { _ in
            _ = await eventually { !self.isHolding.withLock { $0 } }
            return Response(status: .ok, headerFields: [.contentType: "application/json"], body: metadata.bytes)
        }
    }
}
