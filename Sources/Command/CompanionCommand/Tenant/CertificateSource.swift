import CompanionCore
import DevelopmentCA
import Foundation

/// Where a server's certificate comes from.
enum CertificateSource: Equatable {
    /// Nowhere: plain http.
    case none
    /// The files of a certificate and its key.
    case files(TLSFiles)
    /// The certificates for this machine's own names, in this folder.
    case development(DevelopmentCA)

    /// Returns the present certificate, which is made or renewed first if it is of our own; nil for plain http.
    func read() throws -> (chain: [UInt8], privateKey: [UInt8], development: DevelopmentCertificate?)? {
        switch self {
        case .none: return nil
        case .files(let files):
            do {
                let pair = try files.read()
                return (pair.chain, pair.privateKey, nil)
            } catch {
                throw CommandFailure("\(error); check the path and its permissions")
            }
        case .development(let authority):
            let made = try authority.certificate()
            return (made.chain, made.privateKey, made)
        }
    }
}

extension DevelopmentCA {
    /// Names the folder that is configured, or chosen by the environment.
    init(_ settings: CompanionConfiguration, _ environment: [String: String]) {
        self.init(
            folder: Self.folder(
                configured: settings.developmentCA, environment: environment, besides: settings.database.localPath))
    }
}
