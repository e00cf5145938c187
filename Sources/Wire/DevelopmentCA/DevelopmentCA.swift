import Cryptography
public import Foundation
import WebFormats

/// A folder with a root that people can trust, and certificates below it for this machine's own names.
///
/// The root's key exists only while it signs the intermediate, and is never written. The intermediate may sign for
/// `localhost` and loopback addresses alone, so a copy of the folder impersonates nothing else. Three files: `root.pem`;
/// `intermediate.pem` and `server.pem`, which have keys and therefore mode 0600.
public struct DevelopmentCA: Sendable, Equatable {
    /// The time before its end at which a certificate is replaced.
    public static let renewal: TimeInterval = 30 * 86_400

    /// The folder, which is created if it does not exist.
    public let folder: String

    /// Names the folder, without touching it.
    public init(folder: String) {
        self.folder = folder
    }

    /// The root's file.
    public var rootFile: String { folder + "/root.pem" }
    var intermediateFile: String { folder + "/intermediate.pem" }
    var serverFile: String { folder + "/server.pem" }

    /// Returns the server's certificate, after making whatever is missing or ends within ``renewal``. One process at a
    /// time does this in a folder.
    ///
    /// - Parameter now: The time.
    /// - Throws: Why the folder cannot be used. A damaged root or intermediate is never replaced, because what people
    ///   trust would silently be worth nothing.
    public func certificate(now: Date = Date()) throws(DevelopmentCAError) -> DevelopmentCertificate {
        let files = try LockedFolder(folder)
        let (root, intermediate) = try authority(now: now, files)
        let server: Issued
        if let text = try files.read(serverFile), let kept = try? Issued(pem: text),
            kept.serves(below: intermediate, now)
        {
            server = kept
        } else {
            do {
                server = try Issued.server(for: Issued.loopbackNames, below: intermediate, now: now)
            } catch {
                throw .cannotIssue("\(error)")
            }
            try files.write(server.pem + intermediate.certificate.pem, to: serverFile, mode: 0o600)
        }
        return DevelopmentCertificate(server: server, intermediate: intermediate, root: root, in: self)
    }

    /// Returns the root and the intermediate.
    private func authority(
        now: Date, _ files: borrowing LockedFolder
    ) throws(DevelopmentCAError) -> (root: Certificate, intermediate: Issued) {
        if let text = try files.read(rootFile) {
            guard let root = try? Certificate(pem: text) else { throw .damaged(rootFile) }
            guard let kept = try files.read(intermediateFile).flatMap({ try? Issued(pem: $0) }),
                kept.isIssued(by: root.publicKey)
            else { throw .damaged(intermediateFile) }
            if kept.certificate.end > (now + Self.renewal).seconds { return (root, kept) }
        }
        do {
            let (root, intermediate) = try Issued.authority(now: now)
            // The root is written last: with it the folder counts as complete.
            try files.write(intermediate.pem, to: intermediateFile, mode: 0o600)
            try files.write(root.pem, to: rootFile, mode: 0o644)
            return (root, intermediate)
        } catch let error as DevelopmentCAError {
            throw error
        } catch {
            throw .cannotIssue("\(error)")
        }
    }
}

/// A server's certificate for this machine's own names, and the root to trust for it.
public struct DevelopmentCertificate: Sendable, Equatable {
    /// PEM: the server's certificate and the intermediate.
    public let chain: [UInt8]
    /// PEM.
    public let privateKey: [UInt8]
    /// The file with the key and the chain, for whatever reads files.
    public let file: String
    /// The root, PEM.
    public let root: [UInt8]
    /// The file of the root.
    public let rootFile: String
    /// The root's common name, by which lists of certificates show it. No other root has it.
    public let rootName: String
    /// The SHA-256 of the root's DER, as 64 upper-case hexadecimal digits.
    public let rootFingerprint: String
    /// When the server's certificate ends.
    public let end: Date

    init(server: Issued, intermediate: Issued, root: Certificate, in folder: DevelopmentCA) {
        chain = Array((server.certificate.pem + intermediate.certificate.pem).utf8)
        privateKey = Array(server.key.pem.utf8)
        self.root = Array(root.pem.utf8)
        rootFile = folder.rootFile
        file = folder.serverFile
        rootName = String(root.subject.trimmingPrefix("CN="))
        rootFingerprint = Hex.encode(SHA256.hash(data: root.der)).uppercased()
        end = Date(timeIntervalSince1970: TimeInterval(server.certificate.end))
    }
}

/// The reason why there is no certificate.
public enum DevelopmentCAError: Error, Equatable, CustomStringConvertible {
    /// The folder or one of its files cannot be read or written.
    case files(path: String, reason: String)
    /// A file is missing or is not what was written, or does not belong to the others.
    case damaged(String)
    /// A certificate could not be made.
    case cannotIssue(String)

    /// The error with its remedy.
    public var description: String {
        switch self {
        case .files(let path, let reason):
            "\(path) cannot be used for the development certificate: \(reason). Name another folder with COMPANION_DEVELOPMENT_CA."
        case .damaged(let path):
            "\(path) is missing or damaged. Remove root.pem, intermediate.pem and server.pem beside it, start again, and trust the new root."
        case .cannotIssue(let reason): "The development certificate could not be made: \(reason)"
        }
    }
}
