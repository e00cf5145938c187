package import CompanionCore
import Foundation
package import HTTPClient
package import OpenIDConnect
package import SessionStore

/// Everything needed to communicate with the applications' identity providers: their metadata, the clients'
/// credentials, the token exchange, and the protocol's clocks and random source.
package struct Providers: Sendable {
    package let client: ProviderClient
    package let directory: ProviderDirectory
    package let credentials: ClientCredentials
    let exchange: TokenExchange
    package let clocks: Clocks
    package let randomBytes: @Sendable (Int) -> [UInt8]

    /// The time limit for fetching metadata and keys, which are small. For tokens see ``TokenExchange``.
    private static let publicationTimeout: Duration = .seconds(7)

    /// - Parameters:
    ///   - applications: the applications whose authorities stay cached as long as this object lives.
    ///   - times: the time limits of an exchange.
    ///   - randomBytes: a secure source.
    package init(
        applications: [Application], client: HTTPClient, metrics: Metrics, times: RefreshTimes, clocks: Clocks,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        let client = ProviderClient(client: client, metrics: metrics, now: clocks.steady)
        self.client = client
        directory = ProviderDirectory(
            configured: Set(applications.flatMap(\.configuredAuthorities)),
            transport: { try await client.send($0, timeout: Providers.publicationTimeout) }, now: clocks.wall)
        credentials = ClientCredentials(now: clocks.wall, randomBytes: randomBytes)
        exchange = TokenExchange(provider: client, throttle: TokenThrottle(now: clocks.steady), times: times)
        self.clocks = clocks
        self.randomBytes = randomBytes
    }
}

extension Application {
    /// The authorities that the configuration names: the application's own, its user flows and its listed tenants.
    fileprivate var configuredAuthorities: [Authority] {
        [authority] + userFlows.values + registration.allowedTenants.compactMap { try? authority.withTenant($0) }
    }
}
