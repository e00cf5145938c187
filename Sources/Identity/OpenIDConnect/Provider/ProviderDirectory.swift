import FoundationEssentials

/// The metadata and signing keys of identity providers. They are fetched when needed and kept for 24 hours. All callers
/// that wait share one fetch, and after a failure nothing is fetched for 10 seconds, or for a shorter time when a response
/// that this server has asked for cannot be checked. Of authorities that a request names, such as tenants, the most
/// recently used are kept, and a limited number of new ones is fetched per minute.
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
    ///   - maxNewcomers: the number of unknown other authorities that requests may name per minute. All but the first
    ///     60 are kept for requesters that have named none in the minute.
    ///   - maxNewcomersOfOne: the number of those that one requester may name.
    ///   - keyRefetchInterval: the interval in which an unknown `kid` makes the keys be fetched again, twice at most.
    ///   - transport: sends requests.
    ///   - now: the wall clock, which also checks ID tokens.
    public init(
        configured: Set<Authority>? = nil, maxNewcomers: Int = 600, maxNewcomersOfOne: Int = 10,
        keyRefetchInterval: Duration = .seconds(300),
        transport: @escaping Transport, now: @escaping ProviderClock
    ) {
        self.configured = configured
        self.now = now
        let bounds = CacheBounds(newcomers: maxNewcomers, newcomersOfOne: maxNewcomersOfOne)
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
    ///
    /// - Parameter requester: a name for the address or session whose request names the authority. Nil if the
    ///   configuration, an account or a sealed sign-in does; then no limit applies.
    /// - Throws: also `throttled` if the requester has named too many unknown authorities.
    public func metadata(for authority: Authority, requester: String? = nil) async throws(OpenIDError)
        -> ProviderMetadata
    {
        let source: FetchCache<Authority, ProviderMetadata>.Source =
            if isConfigured(authority) {
                .configuration
            } else if let requester {
                .request(requester: requester)
            } else {
                .server
            }
        return try await metadataCache.value(for: authority, from: source).value
    }

    /// Returns the metadata of a configured authority as they were last fetched; nil if they have not been.
    public func knownMetadata(of authority: Authority) -> ProviderMetadata? { metadataCache.known(authority) }

    /// Returns the provider's keys, which may be cached.
    public func signingKeys(of metadata: ProviderMetadata) async throws(OpenIDError) -> SigningKeySet {
        try await keyCache.value(for: metadata.keysEndpoint, from: source(ofKeys: metadata)).value
    }

    /// Returns the key for a token's header, which must be in the newest document. An unknown `kid` fetches the keys again:
    /// once per interval, and once more after 10 seconds, if anyone may have sent the token; after 1, 2, 4, 8, 16 and then 30
    /// seconds if the provider itself has just issued it.
    ///
    /// - Parameter isOurs: whether the token came from the provider's token endpoint, as the response to a request of
    ///   ours.
    public func key(
        id: String?, algorithm: SigningAlgorithm, of metadata: ProviderMetadata, isOurs: Bool = false
    ) async throws(OpenIDError) -> SigningKey {
        let source = source(ofKeys: metadata)
        let need: FetchCache<Endpoint, SigningKeySet>.Need = isOurs ? .ownResponse : .request
        let known = try await keyCache.value(for: metadata.keysEndpoint, from: source, need: need)
        do throws(OpenIDError) {
            return try known.value.key(id: id, algorithm: algorithm)
        } catch {
            guard error.idTokenFault == .unknownKey,
                let newer = try await keyCache.value(
                    for: metadata.keysEndpoint, from: source, after: known.generation, need: need)
            else { throw error }
            return try newer.value.key(id: id, algorithm: algorithm)
        }
    }

    private func isConfigured(_ authority: Authority) -> Bool { configured?.contains(authority) ?? true }

    /// Keys are needed for a token, and no request leads to one before its authority has passed the checks.
    private func source(ofKeys metadata: ProviderMetadata) -> FetchCache<Endpoint, SigningKeySet>.Source {
        isConfigured(metadata.authority) ? .configuration : .server
    }

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
