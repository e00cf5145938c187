import EventLoop
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import OpenIDConnect
import Synchronization
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore

/// The outcome of a call whose token the API refuses.
@Suite struct RefusedTokenTests {
    @Test func `a refused call takes the newer token that another call has fetched meanwhile`() async throws {
        let api = HeldAPI()
        let workers = try WorkerGroup(count: 1)
        let server = HTTPServer(
            configuration: ServerConfiguration(), workers: workers, responder: api, logger: Logger(label: "api"))
        let port = try await server.start()
        try await Site.run(configured: { $0.applications[0].api = Endpoint("http://localhost:\(port)/me") }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let other = visitor.copy()
            async let refused = other.api(.get, "/api/ios/me")
            #expect(await eventually { !api.tokens.withLock { $0.isEmpty } }, "the first call has come")
            let renewed = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(renewed.json["source"] as? String == "refreshed")
            let refreshes = try await site.count("token_refresh")
            api.refuseFirstCall()
            #expect(try await refused.status == 200)
            #expect(try await site.count("token_refresh") == refreshes)
            #expect(Set(api.tokens.withLock { $0 }).count == 2, "the second try came with the other token")
        }
        await server.stop(grace: .zero)
        await workers.shutdown()
    }
}

/// An API that holds its answer to the first call, and then refuses it; all later calls are answered.
private final class HeldAPI: Responder {
    let tokens = Mutex<[String]>([])
    private let (releases, release) = AsyncStream.makeStream(of: Void.self)

    func refuseFirstCall() { release.finish() }

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        let isFirst = tokens.withLock { tokens in
            tokens.append(head[.authorization] ?? "")
            return tokens.count == 1
        }
        guard isFirst else { return .response(.json(["displayName": "Adele"])) }
        return .handler(maxBodyBytes: 0) { [releases] _ in
            for await _ in releases {}
            return Response(status: .unauthorized)
        }
    }
}
