import Foundation
import TestSupport
import Testing

@testable import HTTPClient

/// A key and a certificate that vouches for itself, in a folder of their own that goes with it.
final class TestCertificate {
    let folder: URL
    let key: String
    let file: String

    init(subjectAlternativeName: String, isExpired: Bool) throws {
        folder = TemporaryFolder.ofProcess.appending(path: "tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        key = folder.appending(path: "key.pem").path
        file = folder.appending(path: "certificate.pem").path
        let configuration = folder.appending(path: "config")
        try """
        [ca]
        default_ca = self
        [self]
        database = \(folder.path)/index
        serial = \(folder.path)/serial
        new_certs_dir = \(folder.path)
        default_md = sha256
        policy = any
        x509_extensions = extensions
        [any]
        commonName = supplied
        [extensions]
        subjectAltName = \(subjectAlternativeName)
        """.write(to: configuration, atomically: false, encoding: .utf8)
        try "".write(to: folder.appending(path: "index"), atomically: false, encoding: .utf8)
        try "01".write(to: folder.appending(path: "serial"), atomically: false, encoding: .utf8)
        let signingRequest = folder.appending(path: "request.pem").path
        let asked = try openssl(
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=test",
            "-keyout", key, "-out", signingRequest)
        try #require(asked.status == 0, "\(asked.output)")
        let made = try openssl(
            "ca", "-selfsign", "-batch", "-config", configuration.path, "-in", signingRequest, "-keyfile", key, "-out",
            file, "-startdate", "20200101000000Z", "-enddate", isExpired ? "20200102000000Z" : "20990101000000Z")
        try #require(made.status == 0, "\(made.output)")
    }

    deinit { TemporaryFolder.remove(folder) }
}

/// `openssl s_server`. It answers `/page` with a short text, or each request with a status page that ends when the connection
/// does.
final class OpenSSLServer {
    let port: Int
    let certificate: TestCertificate
    private let process: Process

    init(
        subjectAlternativeName: String = "DNS:localhost", isExpired: Bool = false, isEndless: Bool = false
    ) throws {
        certificate = try TestCertificate(subjectAlternativeName: subjectAlternativeName, isExpired: isExpired)
        process = command(
            "/usr/bin/openssl",
            [
                "s_server", "-accept", "127.0.0.1:0", isEndless ? "-www" : "-HTTP", "-key", certificate.key, "-cert",
                certificate.file,
            ])
        process.currentDirectoryURL = certificate.folder
        try "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".write(
            to: certificate.folder.appending(path: "page"), atomically: false, encoding: .utf8)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // "ACCEPT 127.0.0.1:PORT" says that it listens, and where.
        var printed = ""
        while Self.port(in: printed) == nil {
            let more = try output.fileHandleForReading.text(until: "\n")
            if more.isEmpty { break }
            printed += more
        }
        port = try #require(Self.port(in: printed))
    }

    /// SIGKILL: on Linux a child of Foundation's inherits a mask that blocks SIGTERM.
    func stop() { kill(process.processIdentifier, SIGKILL) }

    private static func port(in text: String) -> Int? {
        text.firstMatch(of: /ACCEPT 127\.0\.0\.1:([0-9]+)\s/).flatMap { Int($0.1) }
    }
}

/// nginx with HTTP/2, answering with the protocol, the connection's number, and `r` where it has resumed a TLS session.
final class NginxServer {
    let port: Int
    private let ports: HeldPorts
    let certificate: TestCertificate
    private let process: Process

    init() async throws {
        certificate = try TestCertificate(subjectAlternativeName: "DNS:localhost", isExpired: false)
        ports = try HeldPorts()
        port = ports.first
        let folder = certificate.folder.path
        try """
        daemon off;
        master_process off;
        pid \(folder)/pid;
        error_log \(folder)/error.log;
        events {}
        http {
            access_log off;
            ssl_session_cache shared:sessions:1m;
            client_body_temp_path \(folder);
            server {
                listen 127.0.0.1:\(port) ssl http2;
                ssl_certificate \(certificate.file);
                ssl_certificate_key \(certificate.key);
                location / { return 200 "$server_protocol on connection $connection $ssl_session_reused"; }
                location /large { root \(folder); }
            }
        }
        """.write(toFile: "\(folder)/nginx.conf", atomically: false, encoding: .utf8)
        try String(repeating: "0123456789", count: 50_000).write(
            toFile: "\(folder)/large", atomically: false, encoding: .utf8)
        process = command("/usr/sbin/nginx", ["-p", folder, "-c", "\(folder)/nginx.conf"])
        try process.run()
        // It writes its process id when it listens.
        let (server, pid) = (process, "\(folder)/pid")
        try #require(await eventually { !server.isRunning || FileManager.default.fileExists(atPath: pid) })
        try #require(process.isRunning)
    }

    func stop() { kill(process.processIdentifier, SIGKILL) }
}

private func command(_ path: String, _ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    return process
}
