import CompanionCore
import Expiring
import Foundation
import OpenIDConnect
import Synchronization

/// Decides whether a request may be sent to the provider in advance for this browser; throws ``Problem`` `throttled` if its
/// address has used up its share.
package typealias PushPermission = @Sendable () throws -> Void

/// Makes the addresses at providers to which browsers leave.
struct AuthorizationAddresses: Sendable {
    let providers: Providers
    /// The authorities that accept a request for `offline_access` only if it asks for consent.
    let consents: AuthorityMemory
    /// The authorities that cannot take requests in advance now.
    let failing: AuthorityMemory

    /// Returns the address for a request. If the provider takes the parameters in advance, they are sent there; if that
    /// does not work now and is not required, they are in the address.
    ///
    /// - Parameter request: asks for consent in the end, if the provider refused it in advance without.
    /// - Throws: ``Problem``, ``OpenIDError``.
    func address(
        for request: inout AuthorizationRequest, at metadata: ProviderMetadata, _ application: Application,
        _ secrets: AuthorizationAttempt, _ mayPush: PushPermission
    ) async throws -> String {
        let plain = request.url(metadata: metadata, registration: application.registration, attempt: secrets)
        guard application.pushedAuthorization == .auto,
            let first = try pushed(request, at: metadata, application, secrets),
            first.isRequired || !failing.includes(metadata.authority)
        else { return plain }
        do {
            try mayPush()
        } catch {
            guard !first.isRequired else { throw error }
            return plain
        }
        do throws(OpenIDError) {
            return try await push(first)
        } catch {
            if error.isRequestRefused,
                request.mayLackConsent(metadata: metadata, registration: application.registration)
            {
                var asking = request
                asking.asksForConsent = true
                if let second = try pushed(asking, at: metadata, application, secrets), (try? mayPush()) != nil,
                    let address = try? await push(second)
                {
                    consents.note(metadata.authority)
                    request = asking
                    return address
                }
            }
            guard error.isTransient, !first.isRequired else { throw error }
            failing.note(metadata.authority)
            return plain
        }
    }

    private func pushed(
        _ request: AuthorizationRequest, at metadata: ProviderMetadata, _ application: Application,
        _ secrets: AuthorizationAttempt
    ) throws -> PushedAuthorizationRequest? {
        try PushedAuthorizationRequest(
            request, metadata: metadata, client: try providers.credentials.client(of: application), attempt: secrets)
    }

    private func push(_ pushed: PushedAuthorizationRequest) async throws(OpenIDError) -> String {
        let answer = try await providers.client.send(pushed.providerRequest, timeout: ProviderClient.patience)
        return try pushed.url(from: answer, now: providers.clocks.wall)
    }
}

/// The authorities of which sign-ins have shown something, which is taken for granted for a while.
final class AuthorityMemory: Sendable {
    private let known = Mutex(ExpiringMap<Authority, Void>(maxCount: 1000))
    private let seconds: TimeInterval
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - seconds: the time after which it is tried again.
    ///   - now: a monotonic clock.
    init(seconds: TimeInterval, now: @escaping @Sendable () -> Date) {
        self.seconds = seconds
        self.now = now
    }

    /// Remembers an authority.
    func note(_ authority: Authority) {
        let now = now()
        _ = known.withLock { $0.set((), for: authority, until: now.addingTimeInterval(seconds), now: now) }
    }

    /// Whether an authority has been remembered.
    func includes(_ authority: Authority) -> Bool {
        known.withLock { $0.value(for: authority, now: now()) } != nil
    }
}

extension OpenIDError {
    /// Whether the provider has refused the authorization request as such (RFC 6749 section 4.1.2.1).
    var isRequestRefused: Bool { code == .providerRejectedRequest && providerError == "invalid_request" }
}
