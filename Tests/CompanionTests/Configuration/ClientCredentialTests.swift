import Cryptography
import Foundation
import TenantDirectory
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore

/// The four ways to prove who the application is, at a tenant that checks them.
@Suite struct ClientCredentialTests {
    private func folder() throws -> String {
        let path = TemporaryFolder.ofProcess.appendingPathComponent("credential-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    /// A certificate as an operator makes one.
    static func makeCertificate(in folder: String) throws {
        let made = try openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=Companion", "-keyout",
            folder + "/key.pem", "-out", folder + "/certificate.pem")
        #expect(made.status == 0, "\(made.output)")
    }

    private func registered(_ folder: String) throws -> DemoClient.Certificate {
        let pem = try String(contentsOfFile: folder + "/certificate.pem", encoding: .utf8)
        let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        let thumbprint = Data(SHA256.hash(data: try #require(Data(base64Encoded: base64)))).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        let key = try #require(PrivateKey(pem: String(contentsOfFile: folder + "/key.pem", encoding: .utf8)))
        return DemoClient.Certificate(thumbprint: thumbprint, publicKeyPEM: key.publicKey.pem)
    }

    @Test func `a certificate signs in and refreshes, each time with an assertion of its own`() async throws {
        let folder = try folder()
        try Self.makeCertificate(in: folder)
        let certificate = try registered(folder)
        try await Site.run(
            registered: { client in
                client.secret = nil
                client.certificate = certificate
            },
            configured: { configuration in
                configuration.applications[0].credential = .certificateFiles(
                    certificate: folder + "/certificate.pem", privateKey: folder + "/key.pem")
            }
        ) { site in
            let visitor = Visitor(site)
            #expect(try await visitor.signIn().location == "/ios")
            for _ in 0..<2 {
                let token = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
                #expect(token.json["source"] as? String == "refreshed", "\(token.text)")
            }
            // Another certificate than the registered one is the operator's fault, and signs nobody out.
            try Self.makeCertificate(in: folder)
            let refused = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(refused.code == "provider_rejected_client")
            #expect((refused.json["explanation"] as? [String: String])?["number"] == "AADSTS700027")
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test func `a secret whose file is gone goes on working, and is reported as not usable`() async throws {
        let folder = try folder()
        let file = folder + "/secret"
        func write() throws { try Data("the-client-secret-of-the-test".utf8).write(to: URL(fileURLWithPath: file)) }
        try write()
        try await Site.run(configured: { $0.applications[0].credential = .secretFile(file, method: nil) }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let series = #"companion_credential_usable{app="ios"}"#
            #expect(try await visitor.metrics()[series] == 1)
            try FileManager.default.removeItem(atPath: file)
            #expect(try await visitor.metrics()[series] == 0)
            let token = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(token.json["source"] as? String == "refreshed", "\(token.text)")
            try write()
            #expect(try await visitor.metrics()[series] == 1)
        }
    }

    @Test func `a federated token is read again when it was renewed`() async throws {
        let folder = try folder()
        let file = folder + "/token"
        try Data("an-old-token".utf8).write(to: URL(fileURLWithPath: file))
        try await Site.run(
            registered: { client in
                client.secret = nil
                client.federatedToken = "the-renewed-token"
            }, configured: { $0.applications[0].credential = .federatedTokenFile(file) }
        ) { site in
            let visitor = Visitor(site)
            #expect(try await visitor.signIn().location?.contains("provider_rejected_client") == true)
            try Data("the-renewed-token\n".utf8).write(to: URL(fileURLWithPath: file))
            #expect(try await visitor.signIn().location == "/ios")
        }
    }

    @Test func `a public client needs no secret, and may not have one`() async throws {
        try await Site.run(
            registered: { client in
                (client.nativeRedirectURIs, client.webRedirectURIs) = (client.webRedirectURIs, [])
                client.secret = nil
            },
            configured: { $0.applications[0].credential = .fixed(.publicClient) }
        ) { site in
            let visitor = Visitor(site)
            #expect(try await visitor.signIn().location == "/ios")
            let other = Visitor(site)
            #expect(try await other.signIn(app: "macos").location?.contains("provider_rejected_client") == true)
            let failure = try await other.api(.get, "/api/macos/sign-in-failure").json["failure"] as? [String: Any]
            #expect((failure?["explanation"] as? [String: String])?["number"] == "AADSTS700025")
        }
    }

    @Test func `a secret goes into the Authorization field where that is configured`() async throws {
        try await Site.run(configured: {
            $0.applications[0].credential = .fixed(.secret("the-client-secret-of-the-test", method: .basic))
        }) { site in
            let answer = try await Visitor(site).signIn()
            #expect(answer.location == "/ios")
        }
    }
}
