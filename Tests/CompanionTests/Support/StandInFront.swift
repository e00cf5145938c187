import EventLoop
import Foundation
import HTTPClient
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import Synchronization
import TLS
import TestSupport

@testable import Companion
@testable import CompanionCore

/// A proxy that speaks TLS with browsers and plain http with a companion, to which it says what a test wants.
final class StandInFront: Responder {
    /// They belong to one connection, or the client writes them itself.
    private static let ofConnection: Set = [
        "host", "connection", "content-length", "transfer-encoding", "te", "accept-encoding", "user-agent",
    ]

    private let more: HTTPFields
    private let companion = Mutex<HTTPClient?>(nil)

    private init(saying more: HTTPFields) { self.more = more }

    /// Runs a test with a companion behind it, for which it is the public URL.
    ///
    /// - Parameters:
    ///   - more: the fields that the proxy adds to each request.
    ///   - test: gets the companion, the public origin, and a client that trusts the proxy's certificate.
    static func run(saying more: HTTPFields, _ test: (Site, String, HTTPClient) async throws -> Void) async throws {
        let folder = TemporaryFolder.ofProcess.appendingPathComponent("front-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { TemporaryFolder.remove(folder) }
        let files = try OwnCertificate(in: folder.path).files
        let pair = try files.read()
        var serving = ServerConfiguration()
        serving.certificate = try ServerCertificate(chain: pair.chain, privateKey: pair.privateKey)
        let front = StandInFront(saying: more)
        let workers = try WorkerGroup(count: 1)
        let server = HTTPServer(
            configuration: serving, workers: workers, responder: front, logger: Logger(label: "front"))
        let origin = "https://localhost:\(try await server.start())"
        let browser = HTTPClient(workers: workers, configuration: .init(certificateAuthorityFile: files.certificate))
        let result: Result<Void, any Error>
        do {
            try await Site.run(
                registered: { $0.webRedirectURIs = ["\(origin)/auth/callback", "\(origin)/auth/signed-out"] },
                configured: { configuration in
                    configuration.publicURL = try PublicURL(origin)
                    configuration.trustedProxies = ["127.0.0.0/8"].compactMap(AddressRange.init)
                    for index in configuration.applications.indices {
                        configuration.applications[index].registration.redirectURI = origin + "/auth/callback"
                    }
                }
            ) { site in
                let client = HTTPClient(workers: workers, configuration: .init(connectsTo: "localhost:\(site.port)"))
                front.companion.withLock { $0 = client }
                try await test(site, origin, browser)
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await browser.shutdown()
        await front.companion.withLock { $0 }?.shutdown()
        await server.stop(grace: .zero)
        await workers.shutdown()
        try result.get()
    }

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        .handler(maxBodyBytes: 1 << 16) { [self] request in
            var fields = more
            for field in head.headerFields where !Self.ofConnection.contains(field.name.canonicalName) {
                fields.append(field)
            }
            let onward = HTTPRequest(
                method: head.method, scheme: "http", authority: "internal.localhost:8080", path: head.target,
                headerFields: fields)
            guard let answer = try? await companion.withLock({ $0 })?.send(onward, body: request.body) else {
                return Response(status: .badGateway)
            }
            return Response(status: answer.status, headerFields: answer.head.headerFields, body: answer.body)
        }
    }
}
