package import CompanionCore
import Foundation
package import HTTPClient
package import OpenIDConnect
package import SessionStore

/// All that it takes to speak with the applications' identity providers: what they publish, what proves who we are, the
/// exchange for tokens, and the clock and the randomness of the protocol.
package struct Providers: Sendable {
    package let client: ProviderClient
    package let directory: ProviderDirectory
    package let credentials: ClientCredentials
    let exchange: TokenExchange
    package let clocks: Clocks
    package let randomBytes: @Sendable (Int) -> [UInt8]

    /// For what providers publish, which is small; see ``TokenExchange`` for what must not wait longer.
    private static let publicationTimeout: Duration = .seconds(7)

    /// - Parameters:
    ///   - applications: those whose authorities are known for as long as this lives.
    ///   - times: how long an exchange may take.
    ///   - randomBytes: a secure source.
    package init(
        applications: [Application], client: HTTPClient, metrics: Metrics, times: RefreshTimes, clocks: Clocks,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        let client = ProviderClient(client: client, metrics: metrics)
        self.client = client
        directory = ProviderDirectory(
            configured: Set(applications.flatMap { [$0.authority] + $0.userFlows.values }),
            transport: { try await client.send($0, timeout: Providers.publicationTimeout) }, now: clocks.wall)
        credentials = ClientCredentials(now: clocks.wall, randomBytes: randomBytes)
        exchange = TokenExchange(provider: client, throttle: TokenThrottle(now: clocks.steady), times: times)
        self.clocks = clocks
        self.randomBytes = randomBytes
    }
}
