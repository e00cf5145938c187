package import Foundation
package import OpenIDConnect
import SessionStore
import Synchronization

/// The source of an application's credential. Files are read again after they have changed, so that a secret can be
/// renewed while the server runs.
package enum ClientCredential: Sendable {
    /// A secret from the environment, or no secret, known from the start.
    case fixed(ClientAuthentication)
    /// A file with the secret.
    case secretFile(String, method: ClientAuthentication.SecretMethod?)
    /// A certificate and its private key, both as PEM.
    case certificateFiles(certificate: String, privateKey: String)
    /// A file with a token from another identity system, which renews the token itself.
    case federatedTokenFile(String)
}

extension ClientCredential {
    /// The kind of a credential.
    package enum Kind: String, Sendable {
        /// A public client has no credential.
        case none
        case secret, certificate, federated
    }

    /// The kind, which is known even while a file cannot be read.
    package var kind: Kind {
        switch self {
        case .fixed(.publicClient): .none
        case .fixed(.secret), .secretFile: .secret
        case .fixed(.certificate), .certificateFiles: .certificate
        case .fixed(.assertion), .federatedTokenFile: .federated
        }
    }

    /// Whether a credential is configured.
    package var isConfigured: Bool { kind != .none }
}

/// The current credentials of all applications.
package final class ClientCredentials: Sendable {
    /// The reason why a credential cannot be read.
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

    /// Returns the application's client with its current credential.
    ///
    /// - Returns: the client in the form that endpoints with client authentication require.
    /// - Throws: ``Problem`` `provider_rejected_client` if the credential cannot be read. The operator must fix this;
    ///   no one is signed out.
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

    /// Returns whether an application's credential can be read now, and its expiry date, if known. A credential that
    /// was read earlier remains in use, but is lost at a restart.
    package func condition(of application: Application) -> (isUsable: Bool, expires: Date?) {
        do throws(Failure) {
            let (authentication, isUsable) = try present(application.id, application.credential)
            switch authentication {
            case .publicClient, .assertion: return (isUsable, nil)
            case .certificate(let certificate): return (isUsable, certificate.notValidAfter)
            case .secret: return (isUsable, application.clientSecretExpires)
            }
        } catch {
            return (false, application.clientSecretExpires)
        }
    }

    /// Returns the authentication from the credential, and whether its files can be read in their present state.
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
            // The files may be in the middle of a replacement, so the previous credential stays in use.
            if let before { return (before.authentication, false) }
            throw error
        }
    }

    /// Reads a credential. Each failure names the file and the remedy.
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
