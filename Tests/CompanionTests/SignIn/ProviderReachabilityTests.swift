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
            let (visitors, before) = (30, provider.asked.withLock { $0 })
            provider.isHolding.withLock { $0 = true }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<visitors {
                    group.addTask { try await Visitor(site).get("/auth/macos/sign-in").status }
                }
                // The provider answers when all of them are there.
                let visitor = Visitor(site)
                #expect(
                    await eventually {
                        ((try? await visitor.metrics())?["companion_http_connections"] ?? 0) > Double(visitors)
                    })
                provider.isHolding.withLock { $0 = false }
                for try await status in group { #expect(status == 302) }
            }
            // Some have connected but not sent their request yet: they ask again.
            #expect(provider.asked.withLock { $0 } - before <= visitors / 3)
        }
        await server.stop(grace: .zero)
        await workers.shutdown()
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
            while self.isHolding.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(5)) }
            return Response(status: .ok, headerFields: [.contentType: "application/json"], body: metadata.bytes)
        }
    }
}
