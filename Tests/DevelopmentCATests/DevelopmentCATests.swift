import Cryptography
import Foundation
import TestSupport
import Testing

@testable import DevelopmentCA

@Suite(.timeLimit(.minutes(5))) struct DevelopmentCATests {
    /// Certificates have no fractions of a second.
    private static let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded())
    private static let day: TimeInterval = 86_400

    private let folder: TemporaryFolder
    private let authority: DevelopmentCA

    init() throws {
        folder = try TemporaryFolder()
        authority = DevelopmentCA(folder: folder.path)
    }

    // MARK: The certificate

    @Test(arguments: ["localhost", "fabrikam.ciamlogin.localhost", "127.0.0.1", "::1"])
    func `a client that trusts the root accepts the server`(host: String) throws {
        let made = try authority.certificate()
        #expect(try verify(String(decoding: made.chain, as: UTF8.self), for: host, in: folder) == "OK")
    }

    @Test(arguments: ["a.localhost", "127.0.0.2", "::2", "example.com"])
    func `it does not for another name`(host: String) throws {
        let made = try authority.certificate()
        #expect(try verify(String(decoding: made.chain, as: UTF8.self), for: host, in: folder).contains("mismatch"))
    }

    @Test func `it is as Apple's platforms demand`() throws {
        let made = try authority.certificate(now: Self.now)
        let server = try Issued(pem: folder.text("server.pem")).certificate
        #expect(server.end - server.start <= 825 * 86_400)
        #expect(server.start < Self.now.seconds)
        let text = try openssl("x509", "-in", folder.path + "/server.pem", "-noout", "-text").output
        let addresses = "IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1"
        #expect(text.contains("DNS:localhost, DNS:fabrikam.ciamlogin.localhost, \(addresses)"))
        #expect(text.contains("TLS Web Server Authentication"))
        #expect(text.contains("NIST CURVE: P-256"))
        #expect(text.contains("Signature Algorithm: ecdsa-with-SHA256"))
        #expect(text.contains("CA:FALSE"))
        #expect(!text.contains("*"))
        #expect(made.end == Date(timeIntervalSince1970: TimeInterval(server.end)))
    }

    @Test func `the chain is the server's certificate and the intermediate, and the key fits`() throws {
        let made = try authority.certificate()
        let chain = try Self.certificates(String(decoding: made.chain, as: UTF8.self))
        #expect(chain.count == 2)
        let root = try Certificate(pem: String(decoding: made.root, as: UTF8.self))
        #expect(chain.map(\.issuer) == [chain.last?.subject, root.subject])
        let key = try #require(PrivateKey(pem: String(decoding: made.privateKey, as: UTF8.self)))
        #expect(key.publicKey == chain.first?.publicKey)
        #expect(try folder.text("root.pem") == String(decoding: made.root, as: UTF8.self))
        #expect(made.rootFile == folder.path + "/root.pem")
        #expect(made.file == folder.path + "/server.pem")
        let file = try folder.text("server.pem")
        #expect(Self.types(file) == ["PRIVATE KEY", "CERTIFICATE", "CERTIFICATE"])
        #expect(file == String(decoding: made.privateKey + made.chain, as: UTF8.self))
        #expect(root.subject == "CN=\(made.rootName)")
        let printed = try openssl("x509", "-in", made.rootFile, "-noout", "-fingerprint", "-sha256").output
        #expect(printed.replacingOccurrences(of: ":", with: "").contains(made.rootFingerprint))
    }

    /// The types of the documents in a PEM text.
    private static func types(_ pem: String) -> [String] {
        pem.split(separator: "\n").filter { $0.hasPrefix("-----BEGIN ") }.map { String($0.dropFirst(11).dropLast(5)) }
    }

    private static func certificates(_ pem: String) throws -> [Certificate] {
        let begin = "-----BEGIN CERTIFICATE-----"
        return try pem.components(separatedBy: begin).dropFirst().map { try Certificate(pem: begin + $0) }
    }

    @Test func `what limits the intermediate is critical, so that no client may ignore it`() throws {
        _ = try authority.certificate()
        let text = try openssl("x509", "-in", folder.path + "/intermediate.pem", "-noout", "-text").output
        for extensions in ["Name Constraints", "Basic Constraints", "Key Usage"] {
            #expect(text.contains("X509v3 \(extensions): critical"), "\(extensions)")
        }
        #expect(text.contains("CA:TRUE, pathlen:0"))
        #expect(text.contains("DNS:localhost\n"))
        #expect(text.contains("IP:127.0.0.0/255.0.0.0\n"))
        #expect(text.contains("IP:0:0:0:0:0:0:0:1/FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF\n"))
        #expect(!text.contains("Excluded"))
    }

    @Test func `two roots have different names`() throws {
        let other = try TemporaryFolder()
        #expect(
            try authority.certificate().rootName != DevelopmentCA(folder: other.path).certificate().rootName)
    }

    // MARK: A stolen folder

    @Test(arguments: [
        ("example.com", "DNS:example.com"), ("localhost.example.com", "DNS:localhost.example.com"),
        ("notlocalhost", "DNS:notlocalhost"), ("a.example.com", "DNS:*.example.com"),
        ("example.com", "DNS:localhost,DNS:example.com"), ("10.0.0.1", "IP:10.0.0.1"),
        ("126.255.255.255", "IP:126.255.255.255"), ("128.0.0.1", "IP:128.0.0.1"), ("0.0.0.0", "IP:0.0.0.0"),
        ("::2", "IP:::2"), ("::ffff:127.0.0.1", "IP:::ffff:127.0.0.1"), ("::", "IP:::"),
    ])
    func `the intermediate's key is worth nothing elsewhere`(host: String, names: String) throws {
        _ = try authority.certificate()
        let forged = try Issued.server(for: names, below: folder.stolenIntermediate(), now: Self.now)
        let answer = try verify(forged.certificate.pem, for: host, in: folder)
        #expect(answer.contains("permitted subtree violation"))
    }

    @Test(arguments: [("a.localhost", "DNS:a.localhost"), ("127.1.2.3", "IP:127.1.2.3")])
    func `it signs for the loopback interface`(host: String, names: String) throws {
        _ = try authority.certificate()
        let other = try Issued.server(for: names, below: folder.stolenIntermediate(), now: Self.now)
        #expect(try verify(other.certificate.pem, for: host, in: folder) == "OK")
    }

    @Test(arguments: ["sslclient", "smimesign", "smimeencrypt", "timestampsign"])
    func `it signs for servers alone`(purpose: String) throws {
        _ = try authority.certificate()
        // The purposes of this one are not limited, so the intermediate's count.
        let stolen = try folder.stolenIntermediate()
        let forged = try Issued.server(for: Issued.loopbackNames, below: stolen, now: Self.now, purpose: nil)
        let pem = forged.certificate.pem
        #expect(try verify(pem, for: "localhost", in: folder) == "OK")
        #expect(try verify(pem, for: "localhost", in: folder, purpose: purpose) != "OK")
    }

    @Test func `it signs no other intermediate`() throws {
        _ = try authority.certificate()
        try folder.write("[ca]\nbasicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign\n", to: "extensions")
        try folder.write("[leaf]\nsubjectAltName=DNS:localhost\n", to: "leaf")
        func sign(_ name: String, by issuer: String, key: String, extensions: String) throws {
            let request = folder.path + "/request"
            #expect(
                try openssl(
                    "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                    "/CN=\(name)", "-keyout", folder.path + "/\(name).key", "-out", request
                ).status == 0)
            #expect(
                try openssl(
                    "x509", "-req", "-in", request, "-CA", issuer, "-CAkey", key, "-CAcreateserial", "-days", "30",
                    "-extfile", extensions, "-extensions",
                    URL(fileURLWithPath: extensions).lastPathComponent == "leaf"
                        ? "leaf" : "ca", "-out", folder.path + "/\(name).pem"
                ).status == 0)
        }
        let intermediate = folder.path + "/intermediate.pem"
        try sign("second", by: intermediate, key: intermediate, extensions: folder.path + "/extensions")
        try sign(
            "forged", by: folder.path + "/second.pem", key: folder.path + "/second.key",
            extensions: folder.path + "/leaf")
        let answer = try openssl(
            "verify", "-CAfile", folder.path + "/root.pem", "-untrusted", intermediate, "-untrusted",
            folder.path + "/second.pem", folder.path + "/forged.pem")
        #expect(answer.output.contains("path length constraint exceeded"))
    }

    @Test func `without a name of the new form the common name is constrained too`() throws {
        _ = try authority.certificate()
        let intermediate = folder.path + "/intermediate.pem"
        let request = folder.path + "/request"
        _ = try openssl(
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
            "/CN=example.com", "-keyout", "/dev/null", "-out", request)
        let forged = folder.path + "/forged.pem"
        _ = try openssl(
            "x509", "-req", "-in", request, "-CA", intermediate, "-CAkey", intermediate, "-CAcreateserial", "-days",
            "30", "-out", forged)
        let answer = try openssl(
            "verify", "-CAfile", folder.path + "/root.pem", "-untrusted", intermediate, "-verify_hostname",
            "example.com", forged)
        #expect(answer.output.contains("permitted subtree violation"))
    }

    // MARK: The files

    @Test func `the root's key is in no file, and the other keys are for their user alone`() throws {
        _ = try authority.certificate()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["intermediate.pem", "root.pem", "server.pem"])
        #expect(try folder.mode() == 0o700)
        #expect(try names.map(folder.mode) == [0o600, 0o644, 0o600])
        let root = try Certificate(pem: folder.text("root.pem"))
        var keys = 0
        for name in names {
            let types = Self.types(try folder.text(name)).filter { $0 != "CERTIFICATE" }
            guard !types.isEmpty else { continue }
            #expect(types == ["PRIVATE KEY"])
            keys += 1
            #expect(try #require(PrivateKey(pem: folder.text(name))).publicKey != root.publicKey)
        }
        #expect(keys == 2)
    }

    @Test func `modes do not depend on the process's mask`() throws {
        let before = umask(0)
        defer { umask(before) }
        _ = try authority.certificate()
        #expect(try ["intermediate.pem", "root.pem", "server.pem"].map(folder.mode) == [0o600, 0o644, 0o600])
    }

    @Test func `the next start finds the same certificate`() throws {
        let first = try authority.certificate()
        #expect(try DevelopmentCA(folder: folder.path).certificate() == first)
    }

    @Test func `several first starts at once make one root`() async throws {
        let authority = authority
        let roots = try await withThrowingTaskGroup(of: DevelopmentCertificate.self) { group in
            for _ in 0..<8 { group.addTask { try authority.certificate() } }
            return try await group.reduce(into: [DevelopmentCertificate]()) { $0.append($1) }
        }
        #expect(Set(roots.map(\.rootName)).count == 1)
        #expect(Set(roots.map(\.chain)).count == 1)
    }

    @Test func `a start that ended before the root was written is made up for`() throws {
        _ = try authority.certificate()
        for name in ["root.pem", "server.pem"] {
            try FileManager.default.removeItem(atPath: folder.path + "/" + name)
        }
        try folder.write("half", to: "root.pem.new")
        let made = try authority.certificate()
        #expect(try verify(String(decoding: made.chain, as: UTF8.self), for: "localhost", in: folder) == "OK")
    }

    // MARK: Renewal

    @Test func `the server's certificate is renewed 30 days before its end, below the same root`() throws {
        let first = try authority.certificate(now: Self.now)
        #expect(try authority.certificate(now: first.end - 30 * Self.day - 1) == first)
        let second = try authority.certificate(now: first.end - 30 * Self.day)
        #expect(second.end > first.end)
        #expect(second.privateKey != first.privateKey)
        #expect(second.root == first.root)
    }

    @Test func `one from the future is renewed, for a clock that was wrong`() throws {
        let first = try authority.certificate(now: Self.now + 10 * Self.day)
        let second = try authority.certificate(now: Self.now)
        #expect(second.chain != first.chain)
        #expect(try authority.certificate(now: Self.now) == second)
    }

    @Test func `no certificate outlives its issuer, and after it there is a new root`() throws {
        let first = try authority.certificate(now: Self.now)
        let end = Self.now + Issued.authorityLifetime
        let late = try authority.certificate(now: end - 31 * Self.day)
        #expect(late.root == first.root)
        #expect(late.end == end)
        let next = try authority.certificate(now: end - 30 * Self.day)
        #expect(next.rootName != first.rootName)
        #expect(next.end > end)
    }

    @Test(arguments: ["", "-----BEGIN CERTIFICATE-----", "intermediate.pem"])
    func `a damaged certificate of the server is made again`(content: String) throws {
        let first = try authority.certificate()
        try folder.write(content.hasSuffix(".pem") ? folder.text(content) : content, to: "server.pem")
        let second = try authority.certificate()
        #expect(second.root == first.root)
        #expect(try verify(String(decoding: second.chain, as: UTF8.self), for: "localhost", in: folder) == "OK")
        #expect(try folder.mode("server.pem") == 0o600)
    }

    @Test(arguments: ["other names", "the names of earlier versions", "another authority", "another key"])
    func `a certificate of the server that does not fit is made again`(fault: String) throws {
        let first = try authority.certificate()
        switch fault {
        case "other names":
            let issuer = try folder.stolenIntermediate()
            let other = try Issued.server(for: "DNS:a.localhost", below: issuer, now: Self.now)
            try folder.write(other.pem, to: "server.pem")
        case "the names of earlier versions":
            let issuer = try folder.stolenIntermediate()
            let other = try Issued.server(for: "DNS:localhost,IP:127.0.0.1,IP:::1", below: issuer, now: Self.now)
            try folder.write(other.pem, to: "server.pem")
        case "another authority":
            let other = try TemporaryFolder()
            _ = try DevelopmentCA(folder: other.path).certificate()
            try folder.write(other.text("server.pem"), to: "server.pem")
        default:
            let issuer = try folder.stolenIntermediate()
            let other = try Issued.server(for: Issued.loopbackNames, below: issuer, now: Self.now)
            let kept = try Issued(pem: folder.text("server.pem"))
            try folder.write(Issued(certificate: kept.certificate, key: other.key).pem, to: "server.pem")
        }
        let second = try authority.certificate()
        #expect(second.root == first.root && second.chain != first.chain)
        for host in ["localhost", "fabrikam.ciamlogin.localhost", "127.0.0.1", "::1"] {
            #expect(try verify(String(decoding: second.chain, as: UTF8.self), for: host, in: folder) == "OK")
        }
    }

    @Test(
        arguments: [
            ("root.pem", "text", "root.pem"), ("root.pem", "", "root.pem"),
            // A certificate that is no root of this intermediate.
            ("root.pem", "other", "intermediate.pem"),
            ("intermediate.pem", nil, "intermediate.pem"), ("intermediate.pem", "", "intermediate.pem"),
            ("intermediate.pem", "root.pem", "intermediate.pem"),
            ("intermediate.pem", "server.pem", "intermediate.pem"),
        ] as [(String, String?, String)])
    func `a damaged authority is an error, because people may trust it`(
        name: String, content: String?, damaged: String
    ) throws {
        _ = try authority.certificate()
        switch content {
        case "other":
            let other = try TemporaryFolder()
            _ = try DevelopmentCA(folder: other.path).certificate()
            try folder.write(other.text("root.pem"), to: name)
        case let file? where file.hasSuffix(".pem"): try folder.write(folder.text(file), to: name)
        case let text?: try folder.write(text, to: name)
        case nil: try FileManager.default.removeItem(atPath: folder.path + "/" + name)
        }
        #expect(throws: DevelopmentCAError.damaged(folder.path + "/" + damaged)) { try authority.certificate() }
    }

    @Test func `a folder that cannot be made or read is an error that names it`() throws {
        #expect {
            try DevelopmentCA(folder: "/dev/null/x").certificate()
        } throws: {
            "\($0)".contains("/dev/null/x") && "\($0)".contains("COMPANION_DEVELOPMENT_CA")
        }
    }
}
