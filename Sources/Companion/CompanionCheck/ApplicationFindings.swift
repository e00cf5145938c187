import CompanionCore
import Foundation
import SessionStore

/// Finds problems of one application in a configuration that is valid.
struct ApplicationFindings {
    let application: Application
    let publicURL: PublicURL

    var all: [CheckFinding] { clientID + redirectURI + secrets }

    /// Finds client IDs that Microsoft's platforms cannot have given.
    private var clientID: [CheckFinding] {
        let id = application.registration.clientID
        guard application.kind != .oidc, UUID(uuidString: id).map({ $0 == Self.placeholder }) ?? true else { return [] }
        return [
            .mistake(
                "client_id", "\(id) is not the ID of an app registration, which is a GUID and not all zeros.",
                why: "The platform knows no such application, and nobody can sign in.",
                remedy: "Copy “Application (client) ID” from the app registration.")
        ]
    }

    /// The client ID that stands in the README.
    private static let placeholder = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// Finds parts of the redirect URI that the platform never accepts, whatever is registered.
    private var redirectURI: [CheckFinding] {
        guard application.kind != .oidc, !publicURL.isSecure, publicURL.host != "localhost" else { return [] }
        return [
            .advice(
                "redirect_uri",
                "The platform accepts http redirect URIs only for the host localhost, not for \(publicURL.host).",
                why: "\(application.registration.redirectURI) can only be registered in the manifest, if at all.",
                remedy: "Set public_url to http://localhost with the same port, and open that address.")
        ]
    }

    /// Finds credential files that other users of this machine can read.
    private var secrets: [CheckFinding] {
        let paths: [String]
        switch application.credential {
        case .fixed: return []
        case .secretFile(let path, _), .federatedTokenFile(let path): paths = [path]
        // The certificate itself is public.
        case .certificateFiles(_, let privateKey): paths = [privateKey]
        }
        return paths.compactMap { path in
            Self.access(to: path, why: "Anyone who has it can act as this application at the provider.")
        }
    }

    /// Returns a finding where others than the server's user can read a secret.
    static func access(to path: String, why: String) -> CheckFinding? {
        guard let file = FileAccess(path), file.mode & 0o077 != 0 else { return nil }
        let mode = String(file.mode, radix: 8)
        if file.mode & 0o027 != 0 {
            return .mistake(
                "file_permissions", "\(file.path) is open to other users (mode \(mode)).", why: why,
                remedy: "Run chmod 600 \(file.path), as the user who runs the server, and create a new secret.")
        }
        // A group of the service's own is the usual way to keep secrets that root writes.
        return .advice(
            "file_permissions", "\(file.path) can be read by its group (mode \(mode)).", why: why,
            remedy: "This is fine when only the server is in that group; otherwise run chmod 600 \(file.path).")
    }
}
