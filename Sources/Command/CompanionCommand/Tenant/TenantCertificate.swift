import DevelopmentCA
import EventLoop
import Logging
import TLS

/// The certificate that a tenant serves, with the plain address of its root.
struct TenantCertificate {
    let certificate: ServerCertificate
    /// The certificate that was made here; nil for a person's own.
    let development: DevelopmentCertificate?
    private let source: CertificateSource

    /// Reads or makes the certificate; nil for plain http.
    init?(_ source: CertificateSource) throws {
        guard let files = try source.read() else { return nil }
        certificate = try ServerCertificate(chain: files.chain, privateKey: files.privateKey)
        development = files.development
        self.source = source
    }

    /// Serves the root, if the certificate was made here.
    func serveRoot(
        host: String, after port: Int, workers: WorkerGroup, logger: Logger
    ) async throws -> RootServer? {
        guard let root = development?.root else { return nil }
        return try await RootServer.start(root, host: host, after: port, workers: workers, logger: logger)
    }

    /// Reads the certificate once a day, which renews it before its end. Returns when the task is cancelled.
    func renew(_ logger: Logger) async {
        while (try? await Task.sleep(for: .seconds(86_400))) != nil {
            do {
                guard let next = try source.read() else { return }
                try certificate.replace(chain: next.chain, privateKey: next.privateKey)
            } catch {
                logger.error("The certificate was not renewed: \(error)")
            }
        }
    }
}
