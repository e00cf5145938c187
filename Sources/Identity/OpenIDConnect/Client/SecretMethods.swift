import Expiring
public import FoundationEssentials
import HTTPTypes
import Synchronization
import WebFormats

/// A request to an endpoint at which the client authenticates, with its secret in the other of two places.
struct SecretAlternative: Sendable, Redacted {
    /// A client at its provider.
    struct Client: Sendable, Hashable {
        let authority: Authority
        let id: String
    }

    let client: Client
    /// The methods of the request itself, and of the other one.
    let methods: (first: ClientAuthentication.SecretMethod, second: ClientAuthentication.SecretMethod)
    private let head: HTTPRequest
    private let body: [UInt8]

    init(
        client: Client, methods: (ClientAuthentication.SecretMethod, ClientAuthentication.SecretMethod),
        other: ProviderRequest
    ) {
        self.client = client
        self.methods = methods
        (head, body) = (other.head, other.body)
    }

    /// The request with the other method.
    var request: ProviderRequest { ProviderRequest(head: head, body: body) }
}

/// The methods by which clients have authenticated, where their providers announce two. An unsuitable one is refused with
/// `invalid_client` before anything else is looked at (RFC 6749 section 3.2.1), so that the other can be tried. Some providers
/// do not decode the field's values, as section 2.3.1 demands, and take a secret with special characters in the form alone.
public final class SecretMethods: Sendable {
    private enum Knowledge {
        case accepted(ClientAuthentication.SecretMethod)
        /// Both were refused.
        case hopeless
    }

    /// A method is forgotten after a day, in seconds.
    private static let memory: TimeInterval = 24 * 3600
    /// A client that both methods have failed has one try for a request during this time, in seconds.
    private static let pause: TimeInterval = 60

    private let known = Mutex(ExpiringMap<SecretAlternative.Client, Knowledge>(maxCount: 1000))

    /// Creates an empty memory.
    public init() {}

    /// Sends a request by the method that is known to work, otherwise by its own. If the provider refuses the client,
    /// the request is sent once more, by the other method.
    ///
    /// - Parameters:
    ///   - now: the time on a monotonic clock.
    ///   - send: sends one request.
    /// - Returns: the response. After two refusals it is the first one.
    /// - Throws: the error of the first `send`.
    public func send<Failure: Error>(
        _ request: ProviderRequest, now: Date,
        by send: (ProviderRequest) async throws(Failure) -> ProviderResponse
    ) async throws(Failure) -> ProviderResponse {
        guard let alternative = request.alternative else { return try await send(request) }
        let (client, methods) = (alternative.client, alternative.methods)
        let knowledge = known.withLock { $0.value(for: client, now: now) }
        var order = [(methods.first, request), (methods.second, alternative.request)]
        if case .accepted(methods.second) = knowledge { order.reverse() }
        let first = try await send(order[0].1)
        guard first.refusesClient else {
            if first.provesClient { note(.accepted(order[0].0), of: client, for: Self.memory, now) }
            return first
        }
        if case .hopeless = knowledge { return first }
        let second: ProviderResponse
        do throws(Failure) {
            second = try await send(order[1].1)
        } catch {
            return first
        }
        guard second.provesClient else {
            if second.refusesClient { note(.hopeless, of: client, for: Self.pause, now) }
            return first
        }
        note(.accepted(order[1].0), of: client, for: Self.memory, now)
        // A failure of the second try may be a consequence of the first one, for example a code that it has spent.
        return second.head.status.kind == .successful ? second : first
    }

    private func note(_ knowledge: Knowledge, of client: SecretAlternative.Client, for time: TimeInterval, _ now: Date)
    {
        known.withLock { _ = $0.set(knowledge, for: client, until: now.addingTimeInterval(time), now: now) }
    }
}

extension ProviderResponse {
    /// The OAuth error of a response that is not about the provider's own state.
    private var oauthError: String? {
        guard case .failure(let answer) = try? ProviderAnswer(self, now: { .distantPast }) else { return nil }
        return answer.error
    }

    /// Whether the client has not authenticated. Some providers, such as Glewlwyd, confuse the two errors.
    fileprivate var refusesClient: Bool { oauthError.map(["invalid_client", "unauthorized_client"].contains) ?? false }

    /// Whether the client has authenticated: by success, or by an error that is found only after that.
    fileprivate var provesClient: Bool {
        head.status.kind == .successful || oauthError != nil && !refusesClient
    }
}
