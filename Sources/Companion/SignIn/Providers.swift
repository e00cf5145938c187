import Foundation
import HTTPClient
import OpenIDConnect

/// All that it takes to speak with the applications' identity providers: what they publish, what proves who we are, the
/// exchange for tokens, and the clock and the randomness of the protocol.
struct Providers: Sendable {
    let client: ProviderClient
    let directory: ProviderDirectory
    let credentials: ClientCredentials
    let exchange: TokenExchange
    let now: @Sendable () -> Date
    let randomBytes: @Sendable (Int) -> [UInt8]

    /// For what providers publish, which is small; see ``TokenExchange`` for what must not wait longer.
    private static let publicationTimeout: Duration = .seconds(7)

    /// - Parameters:
    ///   - applications: those whose authorities are known for as long as this lives.
    ///   - now: the wall clock.
    ///   - randomBytes: a secure source.
    init(
        applications: [Application], client: HTTPClient, metrics: Metrics, now: @escaping @Sendable () -> Date,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        let client = ProviderClient(client: client, metrics: metrics)
        self.client = client
        directory = ProviderDirectory(
            configured: Set(applications.flatMap { [$0.authority] + $0.userFlows.values }),
            transport: { try await client.send($0, timeout: Providers.publicationTimeout) }, now: now)
        credentials = ClientCredentials(now: now, randomBytes: randomBytes)
        exchange = TokenExchange(provider: client, throttle: TokenThrottle(now: now))
        self.now = now
        self.randomBytes = randomBytes
    }
}
