import EventLoop
import Foundation
import HTTPTypes
import Testing

@testable import HTTPClient

@Suite(.timeLimit(.minutes(1)), .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")))
struct TLSTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The certificate's subject alternative name.
        let name: String
        let isExpired: Bool
        let isTrusted: Bool
        /// What the failure says; nil when there must be none.
        let failure: String?
    }

    static let certificates = [
        Row(testDescription: "trusted", name: "DNS:localhost", isExpired: false, isTrusted: true, failure: nil),
        Row(
            testDescription: "nobody vouches", name: "DNS:localhost", isExpired: false, isTrusted: false,
            failure: "SSL certificate problem: self-signed certificate"),
        Row(
            testDescription: "another host's", name: "DNS:other.example", isExpired: false, isTrusted: true,
            failure: "SSL: no alternative certificate subject name matches target host name 'localhost'"),
        Row(
            testDescription: "expired", name: "DNS:localhost", isExpired: true, isTrusted: true,
            failure: "SSL certificate problem: certificate has expired"),
    ]

    @Test(
        "A certificate is accepted when an authority that we trust vouches for this host, now; otherwise it is a TLS failure",
        arguments: certificates)
    func certificate(row: Row) async throws {
        try await Self.check(row) {
            try await $0.send($1)
        } failure: {
            await $0.failure($1)
        }
    }

    @Test(arguments: certificates)
    func `a frequent request holds certificates to the same rules`(row: Row) async throws {
        try await Self.check(row) {
            try await $0.send($0.frequent($1))
        } failure: {
            await $0.frequentFailure($1)
        }
    }

    private static func check(
        _ row: Row, send: (HTTPClient, HTTPRequest) async throws -> HTTPClientResponse,
        failure: (HTTPClient, HTTPRequest) async -> HTTPClientError?
    ) async throws {
        let server = try await OpenSSLServer(subjectAlternativeName: row.name, isExpired: row.isExpired)
        let group = try WorkerGroup(count: 1)
        let client = HTTPClient(
            workers: group,
            configuration: .init(certificateAuthorityFile: row.isTrusted ? server.certificate.file : nil))
        let get = request(server.port, "/?code=SECRET", host: "localhost", scheme: "https")
        if let expected = row.failure {
            let error = await failure(client, get)
            #expect(error == HTTPClientError(kind: .tls, reason: "localhost:\(server.port): \(expected)"))
        } else {
            let response = try await send(client, get)
            #expect(response.status == .ok)
            #expect(response.timings.secured > .zero)
        }
        await client.shutdown()
        await group.shutdown()
        server.stop()
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx")))
    func `frequent requests speak HTTP/1.1 where HTTP/2 is offered, keep their connection, and take large bodies`()
        async throws
    {
        let server = try await NginxServer()
        let group = try WorkerGroup(count: 1)
        let client = HTTPClient(
            workers: group, configuration: .init(certificateAuthorityFile: server.certificate.file))
        let small = try client.frequent(request(server.port, host: "localhost", scheme: "https"))
        let large = try client.frequent(request(server.port, "/large", host: "localhost", scheme: "https"))
        for _ in 0..<20 {
            let text = try await client.send(small).text
            #expect(text == "HTTP/1.1 on connection 1")
            let body = try await client.send(large).body
            #expect(body == Array(String(repeating: "0123456789", count: 50_000).utf8))
        }
        await client.shutdown()
        await group.shutdown()
        server.stop()
    }

    @Test func `TLS spoken to a server that does not is a TLS failure of a frequent request too`() async throws {
        try await withClient(answer: { _ in ok("") }) { client, server in
            let error = await client.frequentFailure(request(server.port, scheme: "https"))
            #expect(error?.kind == .tls)
            #expect(error?.reason.hasSuffix("wrong version number") == true)
        }
    }

    @Test("TLS spoken to a server that does not is a TLS failure")
    func plainServer() async throws {
        try await withClient(answer: { _ in ok("") }) { client, server in
            let error = await client.failure(request(server.port, "/?code=SECRET", scheme: "https"))
            #expect(error?.kind == .tls)
            #expect(error?.reason.hasPrefix("127.0.0.1:\(server.port): ") == true)
            #expect(error?.reason.hasSuffix("wrong version number") == true)
        }
    }

    @Test(
        "HTTP/2 is used where the peer has it, and one connection carries requests made at once",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx")))
    func http2() async throws {
        let server = try await NginxServer()
        let group = try WorkerGroup(count: 1)
        let client = HTTPClient(
            workers: group, configuration: .init(certificateAuthorityFile: server.certificate.file))
        let get = request(server.port, host: "localhost", scheme: "https")
        let answers = try await withThrowingTaskGroup(of: String.self) { tasks in
            for _ in 0..<50 {
                tasks.addTask {
                    try await client.send(get).text
                }
            }
            return try await tasks.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(answers == ["HTTP/2.0 on connection 1"])
        await client.shutdown()
        await group.shutdown()
        server.stop()
    }

    @Test("A certificate authority file that is not there is a TLS failure that names it")
    func missingAuthorities() async throws {
        let server = try await OpenSSLServer()
        let group = try WorkerGroup(count: 1)
        let client = HTTPClient(
            workers: group, configuration: .init(certificateAuthorityFile: "/nonexistent/authorities.pem"))
        let error = await client.failure(request(server.port, host: "localhost", scheme: "https"))
        #expect(error?.kind == .tls)
        #expect(error?.reason.contains("/nonexistent/authorities.pem") == true)
        await client.shutdown()
        await group.shutdown()
        server.stop()
    }
}
