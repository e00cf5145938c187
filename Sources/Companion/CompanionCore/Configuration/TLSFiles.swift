import Foundation
package import SessionStore

/// The files of the certificate with which the server speaks https itself. A renewal writes new ones while it runs.
package struct TLSFiles: Sendable, Equatable {
    /// PEM: the server's certificate first, then those that issued it.
    package var certificate: String
    /// PEM, without a password.
    package var privateKey: String

    package init(certificate: String, privateKey: String) {
        self.certificate = certificate
        self.privateKey = privateKey
    }

    /// A file that is missing, or that the user who runs the server may not read.
    package struct Unreadable: Error, CustomStringConvertible {
        /// A sentence for a log.
        package let description: String
    }

    /// Reads both files.
    package func read() throws(Unreadable) -> (chain: [UInt8], privateKey: [UInt8]) {
        (try Self.bytes(certificate), try Self.bytes(privateKey))
    }

    /// Values that change when a file does.
    package var stamps: [FileStamp?] { [FileStamp(certificate), FileStamp(privateKey)] }

    private static func bytes(_ path: String) throws(Unreadable) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Unreadable(description: "\(path) cannot be read")
        }
        return Array(data)
    }
}
