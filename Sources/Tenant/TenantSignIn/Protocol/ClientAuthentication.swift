import Foundation
import HTTPTypes
import HTTPWire
import TenantControl
import TenantDirectory
import WebFormats

/// The client of a token request.
extension GrantRequest {
    /// The client that the request names, and the secret that it sends, in the form or by HTTP Basic.
    func namedClient() throws(PlatformError) -> (client: DemoClient, secret: String?) {
        let basic = try Self.basicCredentials(exchange.request.head)
        guard let id = basic?.id ?? fields.text("client_id") else { throw .missingParameter("client_id") }
        ClientNote.change { $0.clientID = id }
        let client = try platform.registrations.client(id: id, at: segment)
        if basic != nil, let other = fields.text("client_id"), other.lowercased() != client.id.lowercased() {
            throw .malformedRequest
        }
        // An empty secret is none, in the header as in the form.
        let secret = basic.flatMap { $0.secret.isEmpty ? nil : $0.secret } ?? fields.text("client_secret")
        return (client, secret)
    }

    /// Whether the client authenticates itself with an assertion.
    var hasAssertion: Bool { fields.text("client_assertion") != nil }
    /// The way in which a confidential client proves itself, as tokens name it.
    var clientProof: String { hasAssertion ? "2" : "1" }
    private var isScript: Bool { exchange.request.head[.origin] != nil }

    /// Returns the client after it has authenticated itself as the class of the redirect URI demands to which the code
    /// was issued.
    ///
    /// - Parameter grant: The client and the class of the code or refresh token. Without one, or with one of another
    ///   client, the registration decides.
    func authenticatedClient(
        redeeming grant: (clientID: String, redirectClass: DemoClient.RedirectClass?)? = nil
    ) throws(PlatformError) -> DemoClient {
        let (client, secret) = try namedClient()
        let hasCredential = secret != nil || hasAssertion
        switch grant.flatMap({ $0.clientID == client.id ? $0.redirectClass : nil }) {
        case .spa where isScript && !hasCredential: return client
        case .spa where !isScript: throw .scriptExpected
        case _ where isScript: throw .scriptNotExpected
        case nil where client.isPublic, .native:
            guard !hasCredential else { throw .secretNotAllowed }
            return client
        default: break
        }
        guard hasCredential else { throw .secretMissing }
        try check(secret, of: client)
        return client
    }

    /// Returns the client of a request for its own token, which needs a credential whatever its redirect URIs are.
    func confidentialClient() throws(PlatformError) -> DemoClient {
        let (client, secret) = try namedClient()
        guard secret != nil || hasAssertion else { throw .credentialMissing }
        guard !isScript else { throw .scriptNotExpected }
        try check(secret, of: client)
        return client
    }

    /// Throws unless the client may get tokens as a public client, which no redirect URI says of this request.
    func checkPublicFlow(of client: DemoClient, _ secret: String?) throws(PlatformError) {
        guard !isScript else { throw .scriptNotExpected }
        guard secret == nil, !hasAssertion else { throw .secretNotAllowed }
        guard client.allowsPublicFlows else { throw .secretMissing }
    }

    /// Checks the assertion, or else the secret.
    private func check(_ secret: String?, of client: DemoClient) throws(PlatformError) {
        if let assertion = fields.text("client_assertion") {
            guard fields.text("client_assertion_type") == ClientAssertion.type else { throw .assertionInvalid }
            try platform.check(assertion, of: client, at: segment, now: now)
        } else if let secret, let kept = client.secrets.first(where: { $0.matches(secret) }) {
            guard kept.start <= now, now < kept.end else { throw .secretExpired(client) }
        } else if secret != client.secret {
            throw .secretWrong(client)
        } else if let end = client.secretExpires, end <= now {
            throw .secretExpired(client)
        }
    }

    /// Parses the credentials (RFC 6749 §2.3.1). Both halves are form-encoded before base64.
    static func basicCredentials(_ head: RequestHead) throws(PlatformError) -> (id: String, secret: String)? {
        guard let field = head[.authorization] else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic" else { return nil }
        guard let data = Data(base64Encoded: String(parts[1]).trimmingCharacters(in: .whitespaces)),
            let colon = data.firstIndex(of: UInt8(ascii: ":")),
            let id = try? PercentDecoding.decode(data[..<colon], plusIsSpace: true),
            let secret = try? PercentDecoding.decode(data[(colon + 1)...], plusIsSpace: true)
        else { throw .malformedRequest }
        return (id, secret)
    }
}

extension PlatformError {
    fileprivate static let credentialMissing = Self(
        error: "invalid_client", number: 7_000_216,
        message: "'client_assertion', 'client_secret' or 'request' is required for the 'client_credentials' grant "
            + "type.",
        status: .unauthorized)
}
