import EventLoop
import Foundation
import HTTPClient
import HTTPTypes
import TLS
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore

/// The companion's own https.
@Suite(.timeLimit(.minutes(5))) struct HTTPSTests {
    private func withFolder(_ test: (String) async throws -> Void) async throws {
        let folder = TemporaryFolder.ofProcess.appendingPathComponent("https-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await test(folder)
    }

    /// A client that trusts one certificate.
    private func withClient(
        _ certificate: OwnCertificate, connectsTo: String? = nil, _ test: (HTTPClient) async throws -> Void
    ) async throws {
        let workers = try WorkerGroup(count: 1)
        let client = HTTPClient(
            workers: workers,
            configuration: .init(
                certificateAuthorityFile: certificate.files.certificate, connectsTo: connectsTo))
        do {
            try await test(client)
        } catch {
            Issue.record(error)
        }
        await client.shutdown()
        await workers.shutdown()
    }

    @Test func `a person signs in by https, and a redirect leads there from plain http`() async throws {
        try await withFolder { folder in
            let certificate = try OwnCertificate(in: folder)
            let ports = try HeldPorts()
            let redirectPort = ports.first
            try await Site.run(
                registered: { client in
                    client.webRedirectURIs = client.webRedirectURIs.map { $0.replacing("http://", with: "https://") }
                },
                configured: { configuration in
                    configuration.tls = certificate.files
                    configuration.redirectListener = ListenAddress(host: "127.0.0.1", port: redirectPort)
                    configuration.publicURL = try PublicURL("https://localhost:\(configuration.port)")
                    let uri = configuration.publicURL.redirectURI
                    configuration.applications[0].registration.redirectURI = uri
                }
            ) { site in
                let origin = "https://localhost:\(site.port)"
                try await withClient(certificate) { client in
                    let visitor = Visitor(origin: origin, client: client)
                    #expect(try await visitor.signIn().location == "/ios")
                    #expect(visitor.cookies(named: "__Host-companion").keys.contains("__Host-companion"))
                    #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
                    #expect(try await visitor.get("/readyz").json["certificate"] as? String == "ok")
                    let metrics = try await visitor.metrics()
                    #expect(abs(metrics["companion_certificate_expires_days"] - 60) < 0.1)
                    #expect(metrics["companion_certificate_usable"] == 1)
                }
                let plain = Visitor(origin: "http://127.0.0.1:\(redirectPort)", client: site.client)
                for (method, path) in [
                    (HTTPRequest.Method.get, "/ios?a=b%20c"), (.head, "/"), (.post, "/api/ios/token"),
                ] {
                    let answer = try await plain.send(method, path)
                    #expect(answer.status == 308)
                    #expect(answer.location == origin + path)
                    #expect(answer.fields[.strictTransportSecurity] == nil)
                }
                let wrong = try await Visitor(site).get("/ios")
                #expect(wrong.status == 400)
                #expect(wrong.text.contains("https://"))
            }
        }
    }

    @Test func `a client may go to the server's address instead of the name's, and checks the name`() async throws {
        try await withFolder { folder in
            let certificate = try OwnCertificate(in: folder, for: "DNS:companion.example")
            try await Site.run(configured: { configuration in
                configuration.tls = certificate.files
                configuration.publicURL = try PublicURL("https://companion.example")
            }) { site in
                try await withClient(certificate, connectsTo: "127.0.0.1:\(site.port)") { client in
                    for (host, isThere) in [("companion.example", true), ("other.example", false)] {
                        let request = HTTPRequest(method: .get, scheme: "https", authority: host, path: "/readyz")
                        let status = try? await client.send(request).head.status
                        #expect((status == .ok) == isThere)
                    }
                }
            }
        }
    }

    @Test func `a certificate that cannot be used keeps the server from starting`() async throws {
        try await withFolder { folder in
            let (own, other) = (try OwnCertificate(in: folder), try OwnCertificate(in: folder, "other"))
            for (files, reason) in [
                (TLSFiles(certificate: folder + "/none", privateKey: own.files.privateKey), "/none cannot be read"),
                (
                    TLSFiles(certificate: own.files.certificate, privateKey: other.files.privateKey),
                    "key values mismatch"
                ),
            ] {
                let error = await #expect(throws: ServedCertificate.Unusable.self) {
                    try await Site.run(configured: { $0.tls = files }) { _ in }
                }
                #expect(error?.description.contains(reason) == true)
                #expect(error?.description.contains("tls.certificate_file") == true)
            }
        }
    }

    @Test func `new files are used without a restart, and those that do not fit are not`() async throws {
        try await withFolder { folder in
            let (log, clock) = (LogLines(), TestClock())
            let own = try OwnCertificate(in: folder)
            let served = try ServedCertificate(own.files, logger: log.logger, now: clock.now)
            let first = served.certificate.context
            served.look()
            #expect(served.certificate.context === first)
            #expect(served.problem == nil)
            // The certificate is written before its key.
            let next = try OwnCertificate(in: folder, "next", days: 90)
            try own.take(\.certificate, of: next)
            served.look()
            #expect(served.certificate.context === first)
            #expect(served.problem?.contains("key values mismatch") == true)
            #expect(log.all.isEmpty)
            // So it stays: that is reported, once.
            for _ in 0..<3 { served.look() }
            #expect(log.all.count == 1)
            #expect(log.all[0].hasPrefix("error The new certificate is not used: "))
            #expect(served.certificate.context === first)
            // Now the key is there.
            try own.take(\.privateKey, of: next)
            served.look()
            #expect(served.certificate.context !== first)
            #expect(served.problem == nil)
            #expect(log.all.count == 2 && log.all[1].hasPrefix("notice The certificate was renewed."))
            #expect(abs(served.expires.timeIntervalSinceNow - 90 * 86_400) < 60)
            // Files that are gone change nothing either.
            let second = served.certificate.context
            try FileManager.default.removeItem(atPath: own.files.privateKey)
            for _ in 0..<2 { served.look() }
            #expect(served.certificate.context === second)
            #expect(log.all.last?.contains("cannot be read") == true)
            try own.take(\.privateKey, of: next)
            served.look()
            clock.advance(91 * 86_400)
            #expect(served.problem?.hasPrefix("expired on ") == true)
        }
    }

    @Test func `the files are looked at by themselves`() async throws {
        try await withFolder { folder in
            let own = try OwnCertificate(in: folder)
            let served = try ServedCertificate(own.files, logger: LogLines().logger, now: { Date() })
            let first = served.certificate.context
            served.watch(every: .milliseconds(10))
            let next = try OwnCertificate(in: folder, "next")
            try own.take(\.certificate, of: next)
            try own.take(\.privateKey, of: next)
            #expect(await eventually { served.certificate.context !== first })
            served.stopWatching()
        }
    }
}
