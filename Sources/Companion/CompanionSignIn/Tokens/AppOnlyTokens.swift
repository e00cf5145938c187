package import CompanionCore
import Expiring
package import Foundation
package import OpenIDConnect
import Synchronization

/// The tokens that applications have of their own, for Graph. They are kept in memory and apart from people's tokens: no
/// session, no database and no page ever has one.
package final class AppOnlyTokens: Sendable {
    /// A token is not used in the last minutes before it expires.
    private static let margin: TimeInterval = 300
    /// After a failure the provider is not asked again for this time, in seconds.
    private static let pause: TimeInterval = 10

    private enum Known {
        case token(AppOnlyToken)
        case failure(Problem)
    }

    private let directory: ProviderDirectory
    private let credentials: ClientCredentials
    private let send: @Sendable (ProviderRequest) async throws -> ProviderResponse
    private let now: @Sendable () -> Date
    private let known = Mutex(ExpiringMap<String, Known>(maxCount: 1000))
    private let requests = SingleFlight<String, AppOnlyToken>()

    /// - Parameters:
    ///   - send: sends a request to a provider.
    ///   - now: the wall clock.
    package init(
        directory: ProviderDirectory, credentials: ClientCredentials, now: @escaping @Sendable () -> Date,
        send: @escaping @Sendable (ProviderRequest) async throws -> ProviderResponse
    ) {
        self.directory = directory
        self.credentials = credentials
        self.now = now
        self.send = send
    }

    /// Returns an application's own token.
    ///
    /// - Throws: ``Problem`` `access_denied` if the application may have none (`app_only`), or the provider's error.
    package func token(of application: Application) async throws -> AppOnlyToken {
        guard let authority = application.appOnlyAuthority, let me = application.graph else {
            throw Problem(
                .accessDenied,
                "This application has no token of its own. The operator allows it with app_only in the configuration.")
        }
        switch known.withLock({ $0.value(for: application.id, now: now()) }) {
        case .token(let token): return token
        case .failure(let problem): throw problem
        case nil: break
        }
        return try await requests.run(application.id) { [self] in
            do {
                let metadata = try await directory.metadata(for: authority)
                let request = try ClientCredentialsRequest(
                    scope: MicrosoftGraph.defaultScope(at: me), metadata: metadata,
                    client: try credentials.client(of: application))
                let token = try request.token(from: try await send(request.providerRequest), now: now)
                keep(.token(token), of: application, until: token.expiresOn.addingTimeInterval(-Self.margin))
                return token
            } catch {
                let problem = Problem(any: error)
                keep(.failure(problem), of: application, until: now().addingTimeInterval(Self.pause))
                throw problem
            }
        }
    }

    private func keep(_ value: Known, of application: Application, until end: Date) {
        known.withLock { _ = $0.set(value, for: application.id, until: end, now: now()) }
    }
}
