import Foundation
import HTTPTypes
import WebFormats

extension ProviderRequest {
    /// Returns a POST to an endpoint at which the client authenticates.
    ///
    /// - Parameter alwaysNamesClient: whether the client ID is in the form even if a header field has it.
    static func authenticated(
        _ endpoint: Endpoint, metadata: ProviderMetadata, client: AuthenticatedClient,
        form: [(name: String, value: String)], alwaysNamesClient: Bool = false
    ) throws(OpenIDError) -> ProviderRequest {
        let clientID = client.registration.clientID
        let name = [(name: "client_id", value: clientID)]
        switch client.authentication {
        case .publicClient: return .post(endpoint, form: name + form)
        case .certificate(let certificate):
            let assertion = try certificate.assertion(clientID: clientID, audience: metadata.tokenEndpoint)
            return .post(endpoint, form: name + assertionFields(assertion) + form)
        case .assertion(let assertion): return .post(endpoint, form: name + assertionFields(assertion) + form)
        case .secret(let secret, let configured):
            func request(_ method: ClientAuthentication.SecretMethod) -> ProviderRequest {
                switch method {
                case .post: return .post(endpoint, form: name + [("client_secret", secret)] + form)
                case .basic:
                    var request = ProviderRequest.post(endpoint, form: (alwaysNamesClient ? name : []) + form)
                    // RFC 6749 section 2.3.1: both are form-encoded first, so that a colon in them is no separator.
                    let credentials = FormEncoding.escaped(clientID) + ":" + FormEncoding.escaped(secret)
                    request.head.headerFields[.authorization] =
                        "Basic " + Data(credentials.utf8).base64EncodedString()
                    return request
                }
            }
            if let configured { return request(configured) }
            let methods = metadata.usableSecretMethods(for: secret, of: clientID)
            var first = request(methods.first)
            if let second = methods.second {
                first.alternative = SecretAlternative(
                    client: SecretAlternative.Client(authority: metadata.authority, id: clientID),
                    methods: (methods.first, second), other: request(second))
            }
            return first
        }
    }

    private static func assertionFields(_ assertion: String) -> [(name: String, value: String)] {
        [
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", assertion),
        ]
    }
}

extension ProviderMetadata {
    /// The methods for a secret unless one is configured. Microsoft's platforms take it in the form. Other providers
    /// announce their methods. A client that is registered without a method authenticates by the `Authorization` field
    /// (OpenID Connect Registration section 2), which is therefore the first; a provider that announces the form, too,
    /// may have registered that.
    ///
    /// The field has both values encoded (RFC 6749 section 2.3.1). Some providers, such as Glewlwyd, do not decode them, so
    /// that values which the encoding changes go into the form first.
    func usableSecretMethods(for secret: String, of clientID: String)
        -> (first: ClientAuthentication.SecretMethod, second: ClientAuthentication.SecretMethod?)
    {
        guard authority.kind == .oidc else { return (.post, nil) }
        guard let secretMethods, secretMethods.contains("client_secret_post") else { return (.basic, nil) }
        guard secretMethods.contains("client_secret_basic") else { return (.post, nil) }
        let isEncoded = [secret, clientID].contains { FormEncoding.escaped($0) != $0 }
        return isEncoded ? (.post, .basic) : (.basic, .post)
    }
}
