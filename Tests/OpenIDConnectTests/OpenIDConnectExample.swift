import OpenIDConnect

/// Signs one person in at Entra ID. `exchange` sends a request over https, without following redirects, and returns the whole
/// answer; `browse` opens a URL in the person's browser and returns the query with which it comes to the redirect URI.
func signIn(
    clientID: String, exchange: @escaping ProviderDirectory.Transport, browse: (String) async throws -> String
) async throws -> String {
    let authority = try Authority("https://login.microsoftonline.com/common")
    let registration = ClientRegistration(
        clientID: clientID, redirectURI: "http://localhost:8080/callback", scopes: ["User.Read"])
    let client = AuthenticatedClient(registration, authentication: .publicClient)

    // A process has one directory: it keeps metadata and keys for all sign-ins.
    let directory = ProviderDirectory(transport: exchange, now: { .now })
    let metadata = try await directory.metadata(for: authority)

    // A web server keeps the attempt with the browser's session until the callback comes.
    let attempt = AuthorizationAttempt(randomBytes: randomBytes)
    let request = AuthorizationRequest(prompt: .selectAccount)
    let query = try await browse(request.url(metadata: metadata, registration: registration, attempt: attempt))

    let callback = try Callback(query: query).validated(against: attempt, metadata: metadata)
    let codeRequest = try CodeRequest(redeeming: callback, client: client)
    let answer = try await exchange(codeRequest.providerRequest)
    let signedIn = try await codeRequest.answer(from: answer, directory: directory).tokens()

    // Each check of the ID token has passed. `signedIn.tokens` has the access token and the refresh token.
    let claims = signedIn.idTokenClaims
    let groups = claims["groups"]?.array?.compactMap(\.string) ?? []
    return "\(claims.username ?? claims.subject), groups: \(groups.joined(separator: ", "))"
}

private func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in generator.next() }
}
