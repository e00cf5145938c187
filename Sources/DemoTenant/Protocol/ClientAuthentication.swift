import Foundation
import HTTPTypes
import HTTPWire
import WebFormats

/// The client of a token request.
extension GrantRequest {
    /// The client that the request names, and the secret that it sends, in the form or by HTTP Basic.
    private func namedClient() throws(PlatformError) -> (client: DemoClient, secret: String?) {
        let basic = try basicCredentials(exchange.request.head)
        guard let id = basic?.id ?? fields.text("client_id") else { throw .missingParameter("client_id") }
        ClientNote.change { $0.clientID = id }
        let client = try platform.registrations.client(id: id, at: segment)
        if basic != nil, let other = fields.text("client_id"), other.lowercased() != client.id.lowercased() {
            throw .malformedRequest
        }
        return (client, basic?.secret ?? fields.text("client_secret"))
    }

    private var assertion: String? { fields.text("client_assertion") }
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
        let hasCredential = secret != nil || assertion != nil
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

    /// Checks the assertion, or else the secret.
    private func check(_ secret: String?, of client: DemoClient) throws(PlatformError) {
        if let assertion {
            guard fields.text("client_assertion_type") == ClientAssertion.type,
                platform.isAccepted(assertion, of: client, at: exchange)
            else { throw .assertionInvalid }
        } else if secret != client.secret {
            throw .secretWrong(client)
        }
    }

    /// Parses the credentials (RFC 6749 §2.3.1). Both halves are form-encoded before base64.
    private func basicCredentials(_ head: RequestHead) throws(PlatformError) -> (id: String, secret: String)? {
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
