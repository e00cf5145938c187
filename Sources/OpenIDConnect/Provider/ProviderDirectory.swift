import FoundationEssentials
import HTTPTypes

/// The metadata and signing keys of identity providers. They are fetched when needed and kept for 24 hours. All callers
/// that wait share one fetch, and after a failure nothing is fetched for 10 seconds. Of authorities that no operator
/// configured, such as tenants that a request names, the most recently used are kept, and a limited number of new ones
/// is fetched per minute.
public final class ProviderDirectory: Sendable {
    /// Sends a request and returns the whole response. It follows no redirects, limits time and size, and throws
    /// ``OpenIDError/init(unreachable:)`` when there is no response.
    public typealias Transport = @Sendable (ProviderRequest) async throws -> ProviderResponse

    private let metadataCache: FetchCache<Authority, ProviderMetadata>
    private let keyCache: FetchCache<Endpoint, SigningKeySet>
    private let configured: Set<Authority>?
    let now: ProviderClock

    /// - Parameters:
    ///   - configured: the authorities that are kept for as long as this object; nil: all, if no one else can name any.
    ///   - maxOthers: the number of other authorities that are kept.
    ///   - maxNewcomers: the number of unknown other authorities that are fetched per minute.
    ///   - keyRefetchInterval: the shortest interval at which an unknown `kid` makes the keys be fetched again.
    ///   - transport: sends requests.
    ///   - now: the wall clock, which also checks ID tokens.
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

    /// Returns the checked metadata of an authority.
    public func metadata(for authority: Authority) async throws(OpenIDError) -> ProviderMetadata {
        try await metadataCache.value(for: authority, isConfigured: isConfigured(authority)).value
    }

    /// Returns the provider's keys, which may be cached.
    public func signingKeys(of metadata: ProviderMetadata) async throws(OpenIDError) -> SigningKeySet {
        try await keyCache.value(for: metadata.keysEndpoint, isConfigured: isConfigured(metadata.authority)).value
    }

    /// Returns the key for a token's header. An unknown `kid` fetches the keys again, at most once per interval.
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
            // The text of another error may quote the request.
            throw OpenIDError(unreachable: "The identity provider cannot be reached: try again later.")
        }
    }
}
