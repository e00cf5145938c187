import StoreTesting
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn
@testable import OpenIDConnect

/// The exchange with a token endpoint and the checks of its answer end in time.
@Suite struct TokenExchangeTests {
    /// Checks a response, as often as the limit allows.
    private static func check<Tokens: Sendable>(
        _ limit: Duration, _ check: @escaping @Sendable () async throws(OpenIDError) -> Tokens
    ) async throws -> Tokens {
        var tokens: Tokens?
        try await Site.run { site in
            let metrics = Metrics(applications: [], routes: [], workers: 1, now: site.clock.now)
            let exchange = TokenExchange(
                provider: ProviderClient(client: site.client, metrics: metrics, now: site.clock.now),
                throttle: TokenThrottle(now: site.clock.now),
                times: RefreshTimes(checks: limit, recheck: .milliseconds(10)))
            let answer = TokenAnswer(refreshToken: nil, isUnchecked: true, bytes: 0, check)
            tokens = try await exchange.check(answer)
        }
        return try #require(tokens)
    }

    @Test(.timeLimit(.minutes(5))) func `checks that do not end are given up`() async throws {
        await #expect(throws: OpenIDError.self) {
            try await Self.check(.seconds(1)) { () async throws(OpenIDError) in
                try? await Task.sleep(for: .seconds(3600))
            }
        }
    }

    @Test(arguments: [
        ("an unknown key", OpenIDError(.unknownKey), 3), ("keys that are not to be had", ProviderClient.unreachable, 3),
        ("a wrong clock", OpenIDError(.issuedInFuture), 1), ("a wrong signature", OpenIDError(.signature), 1),
        ("another person", OpenIDError(.otherAccount), 1),
    ])
    func `a check is repeated while the keys are not to be had, and for no other reason`(
        row: String, error: OpenIDError, times: Int
    ) async throws {
        let count = Shared(0)
        let outcome = try? await Self.check(.seconds(60)) { () async throws(OpenIDError) in
            count.change { $0 += 1 }
            guard count.value == 3 else { throw error }
            return "tokens"
        }
        #expect(count.value == times, "\(row)")
        #expect(outcome == (times == 3 ? "tokens" : nil), "\(row)")
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
}
