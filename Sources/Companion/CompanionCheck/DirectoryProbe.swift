import CompanionCore
import CompanionSignIn
import Foundation
import HTTPClient
import HTTPTypes
import OpenIDConnect
import SessionStore
import WebFormats

/// Reads an application's registration from Graph with the application's own token (`app_only`), and compares it with the
/// configuration. The permission `Application.Read.All` is the narrowest that exists for it.
struct DirectoryProbe: Sendable {
    /// The reason why a registration cannot be compared.
    enum Obstacle: Error {
        /// The token is not allowed to read it; the status.
        case forbidden(Int)
        /// There is no token, or no usable answer.
        case unavailable(String)
    }

    let client: HTTPClient
    let directory: ProviderDirectory
    let now: @Sendable () -> Date

    /// Returns the registration, and the names of Graph's delegated permissions as far as they are known.
    func registration(
        of application: Application
    ) async throws(Obstacle) -> (RegisteredApplication, graphScopes: [String: String]?) {
        guard let me = application.graph else { throw .unavailable("the cloud's Graph is not known") }
        let token = try await token(of: application)
        let id = application.registration.clientID
        let answer = try await get("/applications(appId='\(id)')?$select=\(RegisteredApplication.select)", me, token)
        guard let registered = RegisteredApplication(answer) else {
            throw .unavailable("the answer is no application")
        }
        let graph = try? await get(
            "/servicePrincipals(appId='\(RegistrationFindings.graphID)')?$select=oauth2PermissionScopes", me, token)
        let scopes = graph?["oauth2PermissionScopes"]?.array?.compactMap { scope -> (String, String)? in
            guard let id = scope["id"]?.string, let value = scope["value"]?.string else { return nil }
            return (id.lowercased(), value)
        }
        return (registered, scopes.map { Dictionary($0) { one, _ in one } })
    }

    /// Returns the delegated permissions that an administrator has granted for everyone; nil if the token may not read them
    /// (`Directory.Read.All`).
    func grantedScopes(of application: Application) async -> Set<String>? {
        guard let me = application.graph, let token = try? await token(of: application) else { return nil }
        let id = application.registration.clientID
        let principal = try? await get("/servicePrincipals(appId='\(id)')?$select=id", me, token)
        guard let key = principal?["id"]?.string, UUID(uuidString: key) != nil,
            let grants = try? await get("/servicePrincipals/\(key)/oauth2PermissionGrants", me, token)["value"]?.array
        else { return nil }
        let all = grants.filter { $0["consentType"]?.string == "AllPrincipals" }
        return Set(all.flatMap { ($0["scope"]?.string ?? "").split(separator: " ").map(String.init) })
    }

    /// The configured credential; nil if it cannot be read, which another finding reports.
    func credential(of application: Application) -> ClientAuthentication? {
        try? ClientCredentials.read(application.credential, now: now, randomBytes: SessionStore.secureRandomBytes)
    }

    private func token(of application: Application) async throws(Obstacle) -> String {
        let tokens = AppOnlyTokens(
            directory: directory,
            credentials: ClientCredentials(now: now, randomBytes: SessionStore.secureRandomBytes), now: now
        ) { [client] in try await client.send($0) }
        do {
            return try await tokens.token(of: application).secret
        } catch {
            throw .unavailable(Problem(any: error).detail.english)
        }
    }

    private func get(_ path: String, _ me: Endpoint, _ token: String) async throws(Obstacle) -> JSONValue {
        let root = me.path.hasSuffix("/") ? String(me.path.dropLast()) : me.path
        var request = HTTPRequest(
            method: .get, scheme: me.scheme, authority: me.authority,
            path: String(root.dropLast("/me".count)) + path.replacing("'", with: "%27"))
        request.headerFields[.accept] = "application/json"
        request.headerFields[.authorization] = "Bearer \(token)"
        let answer: HTTPClientResponse
        do throws(HTTPClientError) {
            answer = try await client.send(request)
        } catch {
            throw .unavailable(error.reason)
        }
        if [401, 403].contains(answer.status.code) { throw .forbidden(answer.status.code) }
        guard answer.status == .ok, let json = JSONValue(parsing: answer.body) else {
            throw .unavailable("Graph returned \(answer.status.code)")
        }
        return json
    }
}
