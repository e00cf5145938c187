import CompanionCore
import Cryptography
import Foundation
import OpenIDConnect
import TenantDirectory
import WebFormats

extension TenantFile {
    /// Returns the registrations of all applications, behind those that are there already.
    ///
    /// - Throws: every mistake, with the place of the application that has it.
    static func clients(
        _ applications: [Application], beside: [DemoClient] = []
    ) throws(ConfigurationMistakes) -> [DemoClient] {
        var mistakes = ConfigurationMistakes()
        var clients = beside
        for application in applications {
            let client = application.checked(&mistakes)
            if clients.contains(where: { $0.id == client.id }) {
                mistakes.add(
                    application.source, "has the client ID \(client.id), as another application; use one of them")
            } else if clients.contains(where: { $0.name == client.name }) {
                mistakes.add(application.source, "has the name \(client.name), as another application; choose another")
            }
            clients.append(client)
        }
        guard mistakes.all.isEmpty else { throw mistakes }
        return clients
    }
}

extension TenantFile.Application {
    init(name: String, web: [String] = [], spa: [String] = [], native: [String] = [], source: String) {
        client = DemoClient(
            id: DemoClient.id(for: (native + web + spa).first ?? name), name: name, web: web, spa: spa,
            native: native.map { Self.nativeURI($0) ?? $0 })
        self.native = native
        self.source = source
    }

    /// The application of an option `--native`: a bundle ID or a redirect URI. It may use native authentication, as no
    /// option could switch it on.
    init(native text: String) {
        self.init(name: text, native: [text], source: text.isEmpty ? "--native" : "--native \(text)")
        client.hasNativeAuthentication = true
    }

    /// Returns the registration with the secret and the certificate of its files.
    fileprivate func checked(_ mistakes: inout ConfigurationMistakes) -> DemoClient {
        var client = client
        if UUID(uuidString: client.id) == nil {
            mistakes.add(
                source,
                "has the client ID \(client.id), which is not a GUID such as \(DemoClient.id(for: client.name))")
        }
        for text in native where Self.nativeURI(text) == nil {
            mistakes.add(
                source,
                text.isEmpty
                    ? "is empty; it needs a bundle ID such as com.contoso.tasks, or a redirect URI"
                    : "has “\(text)”, which is neither a bundle ID such as com.contoso.tasks nor a redirect URI")
        }
        for text in client.webRedirectURIs + client.spaRedirectURIs where !Self.isWebURI(text) {
            mistakes.add(source, "has “\(text)”, which is no redirect URI: https://, or http:// for localhost")
        }
        if !client.webRedirectURIs.isEmpty, secretFile == nil, certificateFile == nil, !isAtRunTime {
            mistakes.add(
                source,
                "is a web application, which proves itself with a secret or a certificate; name its file (secret_file, --secret-file, certificate_file)"
            )
        }
        do {
            if let secretFile,
                case .secret(let secret, _) = try ClientCredentials.read(.secretFile(secretFile, method: nil))
            {
                client.secret = secret
            }
            if let certificateFile { client.certificate = try DemoClient.Certificate(file: certificateFile) }
        } catch {
            mistakes.add(source, "cannot be proved: \(error)")
        }
        if client.secret != nil { client.secretExpires = secretExpires }
        return client
    }

    /// Returns the redirect URI for a bundle ID, or the text if it is a redirect URI; nil if it is neither.
    private static func nativeURI(_ text: String) -> String? {
        if text.contains("://") { return URLComponents(string: text)?.scheme == nil ? nil : text }
        let isBundleID = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && $0.allSatisfy { UInt8(ascii: "-") == $0 || $0.isAlphanumeric }
        }
        return isBundleID ? DemoClient.redirectURI(ofBundle: text) : nil
    }

    private static func isWebURI(_ text: String) -> Bool {
        guard let url = URLComponents(string: text), let host = url.host, !host.isEmpty, url.fragment == nil else {
            return false
        }
        return url.scheme == "https" || url.scheme == "http" && Loopback.contains(host)
    }
}

extension UInt8 {
    fileprivate var isAlphanumeric: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}

extension DemoClient.Certificate {
    /// Reads the certificate of an application, PEM.
    fileprivate init(file: String) throws {
        guard let text = FileManager.default.contents(atPath: file).map({ String(decoding: $0, as: UTF8.self) }),
            let certificate = try? Cryptography.Certificate(pem: text), let key = certificate.publicKey,
            key.kind == .rsa
        else { throw CommandFailure("\(file) is not a certificate with an RSA key, in PEM") }
        self.init(thumbprint: Base64URL.encode(SHA256.hash(data: certificate.der)), publicKeyPEM: key.pem)
        (der, subject) = (certificate.der, certificate.subject)
        start = Date(timeIntervalSince1970: TimeInterval(certificate.start))
        end = Date(timeIntervalSince1970: TimeInterval(certificate.end))
    }
}
