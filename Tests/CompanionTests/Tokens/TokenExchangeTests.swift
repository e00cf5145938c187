import OpenIDConnect
import SessionStore
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// The exchange with a token endpoint and the checks of its answer end in time.
@Suite struct TokenExchangeTests {
    /// An exchange with a provider that answers at once, so that only the checks of the answer take time.
    private static func exchange<Tokens: Sendable>(
        _ limit: Duration, _ read: @escaping @Sendable () async throws -> Tokens
    ) async throws -> Tokens {
        var tokens: Tokens?
        try await Site.run { site in
            let metrics = Metrics(applications: [], routes: [], workers: 1, now: site.clock.now)
            let exchange = TokenExchange(
                provider: ProviderClient(client: site.client, metrics: metrics),
                throttle: TokenThrottle(now: site.clock.now), times: RefreshTimes(checks: limit))
            let authority = try #require(site.configuration.applications.first).authority
            let client = TokenThrottle.Client(
                tokenEndpoint: try #require(Endpoint("http://localhost:\(site.tenantPort)/token")), id: "client")
            tokens = try await exchange.run(
                authority.discoveryRequest, by: client, .refresh(accountID: "1", session: SessionKey(1))
            ) { _ in try await read() }
        }
        return try #require(tokens)
    }

    @Test(.timeLimit(.minutes(1))) func `checks that do not end are given up`() async throws {
        await #expect(throws: OpenIDError.self) {
            try await Self.exchange(.seconds(1)) { try await Task.sleep(for: .seconds(3600)) }
        }
    }

    @Test func `an answer that has come gets one more second when the process stood still`() async throws {
        let late = await Patience.outcome(before: .now - .seconds(30)) {
            try await Task.sleep(for: .milliseconds(200))
            return "answer"
        }
        #expect(try late?.get() == "answer")
        let slow = await Patience.outcome(before: .now + .milliseconds(50)) {
            try await Task.sleep(for: .seconds(3600))
        }
        #expect(slow == nil)
    }

    @Test func `the exchange returns or throws what checks in time return or throw`() async throws {
        #expect(try await Self.exchange(.seconds(60)) { "tokens" } == "tokens")
        await #expect(throws: CancellationError.self) {
            try await Self.exchange(.seconds(60)) { throw CancellationError() }
        }
    }
}
