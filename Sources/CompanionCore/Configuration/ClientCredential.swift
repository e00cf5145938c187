package import Foundation
package import OpenIDConnect
import SessionStore
import Synchronization

/// Where an application's proof of who it is comes from. Files are read again when they have changed, so that a secret
/// can be renewed while the server runs.
package enum ClientCredential: Sendable {
    /// Known from the start: a secret of the environment, or none.
    case fixed(ClientAuthentication)
    /// A file that holds the secret.
    case secretFile(String, method: ClientAuthentication.SecretMethod?)
    /// A certificate and its private key, both PEM.
    case certificateFiles(certificate: String, privateKey: String)
    /// A file that holds a token of another identity system, which renews it by itself.
    case federatedTokenFile(String)
}

/// The credentials of all applications as they are now.
package final class ClientCredentials: Sendable {
    /// Why a credential cannot be read.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private struct Known {
        var stamps: [FileStamp]
        var authentication: ClientAuthentication
    }

    private let now: @Sendable () -> Date
    private let randomBytes: @Sendable (Int) -> [UInt8]
    private let known = Mutex<[String: Known]>([:])

    package init(now: @escaping @Sendable () -> Date, randomBytes: @escaping @Sendable (Int) -> [UInt8]) {
        self.now = now
        self.randomBytes = randomBytes
    }

    /// The application's client with its credential as it is now.
    ///
    /// - Returns: what the endpoints take at which the client proves who it is.
    /// - Throws: ``Problem`` `provider_rejected_client` when the credential cannot be read: the operator's fault, which
    ///   signs nobody out.
    package func client(of application: Application) throws(Problem) -> AuthenticatedClient {
        do {
            return AuthenticatedClient(
                application.registration,
                authentication: try present(application.id, application.credential).authentication)
        } catch {
            throw Problem(
                .providerRejectedClient,
                "The companion could not authenticate to the identity provider. Tell the operator.",
                reason: "\(application.id): \(error)")
        }
    }

    /// Whether an application's credential can be read now, and when it ends as far as anybody has said. One that was read
    /// before serves on, but a restart would not find it.
    package func condition(of application: Application) -> (isUsable: Bool, expires: Date?) {
        do throws(Failure) {
            let (authentication, isUsable) = try present(application.id, application.credential)
            switch authentication {
            case .publicClient: return (isUsable, nil)
            case .certificate(let certificate): return (isUsable, certificate.notValidAfter)
            case .secret, .assertion: return (isUsable, application.clientSecretExpires)
            }
        } catch {
            return (false, application.clientSecretExpires)
        }
    }

    /// What proves who the application is, and whether its files could be read as they are now.
    private func present(
        _ id: String, _ credential: ClientCredential
    ) throws(Failure) -> (authentication: ClientAuthentication, isReadable: Bool) {
        let paths: [String]
        switch credential {
        case .fixed(let authentication): return (authentication, true)
        case .secretFile(let path, _), .federatedTokenFile(let path): paths = [path]
        case .certificateFiles(let certificate, let privateKey): paths = [certificate, privateKey]
        }
        let stamps = paths.compactMap(FileStamp.init)
        let before = known.withLock { $0[id] }
        if let before, before.stamps == stamps { return (before.authentication, true) }
        do {
            let authentication = try ClientCredentials.read(credential, now: now, randomBytes: randomBytes)
            known.withLock { $0[id] = Known(stamps: stamps, authentication: authentication) }
            return (authentication, true)
        } catch {
            // Half of a pair that is being replaced, or a file that is away for a moment: the old one may still do.
            if let before { return (before.authentication, false) }
            throw error
        }
    }

    /// Reads a credential; each failure says which file and what to do.
    package static func read(
        _ credential: ClientCredential, now: @escaping @Sendable () -> Date = { Date() },
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = { _ in [] }
    ) throws(Failure) -> ClientAuthentication {
        switch credential {
        case .fixed(let authentication): return authentication
        case .secretFile(let path, let method): return .secret(try text(path), method: method)
        case .federatedTokenFile(let path): return .assertion(try text(path))
        case .certificateFiles(let certificate, let privateKey):
            let (certificatePEM, privateKeyPEM) = (try text(certificate), try text(privateKey))
            do throws(ClientCertificate.Failure) {
                return .certificate(
                    try ClientCertificate(
                        certificatePEM: certificatePEM, privateKeyPEM: privateKeyPEM, now: now, randomBytes: randomBytes
                    ))
            } catch {
                throw Failure(description: "\(certificate): \(error.reason)")
            }
        }
    }

    private static func text(_ path: String) throws(Failure) -> String {
        guard let data = FileManager.default.contents(atPath: path),
            let text = String(bytes: data, encoding: .utf8)?.trimmingCharacters(in: .whitespacesAndNewlines),
            !text.isEmpty
        else { throw Failure(description: "\(path) cannot be read or is empty") }
        return text
    }
}
