import EventLoop
import Foundation
import HTTPTypes
import Testing

@testable import HTTPClient

@Suite(.timeLimit(.minutes(5)), .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")))
struct TLSTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The certificate's subject alternative name.
        let name: String
        let isExpired: Bool
        let isTrusted: Bool
        /// A part of the failure's text; nil when there must be no failure.
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
        arguments: certificates)
    func `a certificate is accepted only from a trusted authority, for this host and in its time`(row: Row) async throws
    {
        let server = try OpenSSLServer(subjectAlternativeName: row.name, isExpired: row.isExpired)
        let group = try WorkerGroup(count: 1)
        let client = HTTPClient(
            workers: group,
            configuration: .init(certificateAuthorityFile: row.isTrusted ? server.certificate.file : nil))
        let get = request(server.port, "/page", host: "localhost", scheme: "https")
        if let expected = row.failure {
            let error = await client.failure(get)
            #expect(error == HTTPClientError(kind: .tls, reason: "localhost:\(server.port): \(expected)"))
        } else {
            let response = try await client.send(get)
            #expect(response.status == .ok && response.text == "hello")
        }
        await client.shutdown()
        await group.shutdown()
        server.stop()
    }

    @Test func `a body that ends with the connection is refused over TLS, because it may have been cut`() async throws {
        let server = try OpenSSLServer(isEndless: true)
        let group = try WorkerGroup(count: 1)
        let client = HTTPClient(
            workers: group, configuration: .init(certificateAuthorityFile: server.certificate.file))
        let error = await client.failure(request(server.port, host: "localhost", scheme: "https"))
        #expect(
            error
                == HTTPClientError(
                    kind: .other, reason: "localhost:\(server.port): the answer does not say where it ends"))
        await client.shutdown()
        await group.shutdown()
        server.stop()
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx")))
    func `HTTP/1.1 is spoken where HTTP/2 is offered, on kept connections, and large bodies come`() async throws {
        try await Self.withNginx { client, server in
            let large = try client.prepare(request(server.port, "/large", host: "localhost", scheme: "https"))
            for _ in 0..<20 {
                let text = try await client.send(request(server.port, host: "localhost", scheme: "https")).text
                #expect(text == "HTTP/1.1 on connection 1 .")
                let body = try await client.send(large).body
                #expect(body == Array(String(repeating: "0123456789", count: 50_000).utf8))
            }
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx")))
    func `a new connection resumes the TLS session of the one before`() async throws {
        try await Self.withNginx { client, server in
            for (number, reused) in [(1, "."), (2, "r"), (3, "r")] {
                let post = request(server.port, method: .post, host: "localhost", scheme: "https")
                let text = try await client.send(post, body: [1]).text
                #expect(text == "HTTP/1.1 on connection \(number) \(reused)")
            }
        }
    }

    private static func withNginx(_ test: (HTTPClient, NginxServer) async throws -> Void) async throws {
        let server = try await NginxServer()
        let group = try WorkerGroup(count: 1)
        let client = HTTPClient(
            workers: group, configuration: .init(certificateAuthorityFile: server.certificate.file))
        try await test(client, server)
        await client.shutdown()
        await group.shutdown()
        server.stop()
    }

    @Test func `TLS to a server that does not speak it is a TLS failure`() async throws {
        try await withClient(answer: { _ in ok("") }) { client, server in
            let error = await client.failure(request(server.port, "/?code=SECRET", scheme: "https"))
            #expect(error?.kind == .tls)
            #expect(error?.reason.hasPrefix("127.0.0.1:\(server.port): ") == true)
            #expect(error?.reason.hasSuffix("wrong version number") == true)
        }
    }

    @Test func `a missing certificate authority file is a TLS failure that names it`() async throws {
        let server = try OpenSSLServer()
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
