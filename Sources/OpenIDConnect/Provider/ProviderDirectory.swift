import FoundationEssentials
import HTTPTypes

/// What is known about identity providers: metadata and signing keys, fetched when needed, kept for 24 hours, one fetch
/// for all who wait, never asked again within 10 seconds of a failure. Of authorities that no operator configured, as
/// tenants that a request names, those used last are kept, and a limited number of new ones is fetched in a minute.
public final class ProviderDirectory: Sendable {
    /// Sends a request and returns the whole answer. It follows no redirects, limits time and size, and throws
    /// ``OpenIDError/init(unreachable:)`` when there is no answer.
    public typealias Transport = @Sendable (ProviderRequest) async throws -> ProviderResponse

    private let metadataCache: FetchCache<Authority, ProviderMetadata>
    private let keyCache: FetchCache<Endpoint, SigningKeySet>
    private let configured: Set<Authority>?
    let now: ProviderClock

    /// - Parameters:
    ///   - configured: the authorities that are known for as long as this lives; nil: all, where nobody else can name any.
    ///   - maxOthers: how many other authorities are kept.
    ///   - maxNewcomers: how many other authorities that are not known are fetched in a minute.
    ///   - keyRefetchInterval: at most once in this time an unknown `kid` makes the keys be fetched anew.
    ///   - transport: how requests are sent.
    ///   - now: the wall clock; ID tokens are checked by it too.
    public init(
        configured: Set<Authority>? = nil, maxOthers: Int = 100, maxNewcomers: Int = 60,
        keyRefetchInterval: Duration = .seconds(300),
        transport: @escaping Transport, now: @escaping ProviderClock
    ) {
        self.configured = configured
        self.now = now
        let bounds = CacheBounds(others: maxOthers, newcomers: maxNewcomers)
        metadataCache = FetchCache(onDemandInterval: 0, bounds: bounds, now: now) { authority throws(OpenIDError) in
            try ProviderMetadata(
                parsing: await Self.send(authority.discoveryRequest, by: transport), of: authority, now: now)
        }
        let onDemandInterval = TimeInterval(keyRefetchInterval.components.seconds)
        keyCache = FetchCache(onDemandInterval: onDemandInterval, bounds: bounds, now: now) {
            endpoint throws(OpenIDError) in
            try SigningKeySet(parsing: await Self.send(.get(endpoint), by: transport), now: now)
        }
    }

    /// The checked metadata of an authority.
    public func metadata(for authority: Authority) async throws(OpenIDError) -> ProviderMetadata {
        try await metadataCache.value(for: authority, isConfigured: isConfigured(authority)).value
    }

    /// The provider's keys, as cached.
    public func signingKeys(of metadata: ProviderMetadata) async throws(OpenIDError) -> SigningKeySet {
        try await keyCache.value(for: metadata.keysEndpoint, isConfigured: isConfigured(metadata.authority)).value
    }

    /// The key for a token's header. An unknown `kid` fetches the keys anew, at most once per interval.
    public func key(
        id: String?, algorithm: SigningAlgorithm, of metadata: ProviderMetadata
    ) async throws(OpenIDError) -> SigningKey {
        let isConfigured = isConfigured(metadata.authority)
        let known = try await keyCache.value(for: metadata.keysEndpoint, isConfigured: isConfigured)
        do throws(OpenIDError) {
            return try known.value.key(id: id, algorithm: algorithm)
        } catch {
            guard error.idTokenFault == .unknownKey,
                let newer = try await keyCache.value(
                    for: metadata.keysEndpoint, isConfigured: isConfigured, after: known.generation)
            else { throw error }
            return try newer.value.key(id: id, algorithm: algorithm)
        }
    }

    private func isConfigured(_ authority: Authority) -> Bool { configured?.contains(authority) ?? true }

    private static func send(
        _ request: ProviderRequest, by transport: Transport
    ) async throws(OpenIDError) -> ProviderResponse {
        do {
            return try await transport(request)
        } catch let error as OpenIDError {
            throw error
        } catch {
            // Another error's text may quote the request.
            throw OpenIDError(unreachable: "The identity provider cannot be reached: try again later.")
        }
    }
}
