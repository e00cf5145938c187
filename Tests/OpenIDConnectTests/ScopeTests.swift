import Foundation
import Testing

@testable import OpenIDConnect

/// The scopes and the consent of an authorization request at other providers than Microsoft's.
@Suite("Scopes")
struct ScopeTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var kind = Authority.Kind.oidc
        let supported: [String]?
        var written: [String]?
        let scope: String
    }

    static let all = ["openid", "profile", "email", "offline_access"]

    @Test(arguments: [
        Row(
            testDescription: "a provider that lists offline_access", supported: all,
            scope: "openid profile offline_access"),
        Row(testDescription: "a provider that does not", supported: ["openid", "profile"], scope: "openid profile"),
        Row(testDescription: "a provider that lists nothing", supported: nil, scope: "openid profile"),
        Row(testDescription: "no scopes, written", supported: all, written: [], scope: "openid"),
        Row(testDescription: "one scope, written", supported: all, written: ["email"], scope: "email openid"),
        Row(
            testDescription: "offline_access, written", supported: ["openid"],
            written: ["openid", "offline_access"], scope: "openid offline_access"),
        Row(
            testDescription: "Microsoft, whatever it lists", kind: .workforce, supported: ["openid"],
            scope: "openid profile offline_access"),
        Row(
            testDescription: "Microsoft, written", kind: .workforce, supported: all, written: ["mail.read"],
            scope: "mail.read openid profile offline_access"),
    ])
    func `offline_access is requested where the provider lists it or the operator writes it`(_ row: Row) async throws {
        let (metadata, registration) = try await parts(row)
        let url = AuthorizationRequest().url(metadata: metadata, registration: registration, attempt: attempt)
        #expect(parameter("scope", of: url) == row.scope)
        #expect(parameter("prompt", of: url) == nil)
    }

    @Test(
        arguments: [
            (nil, "consent"), (.login, "login consent"), (.selectAccount, "select_account consent"),
            (.consent, nil), (Prompt.none, nil), (.create, nil),
        ] as [(Prompt?, String?)])
    func `consent is asked for beside the prompt, where a person can be asked`(
        _ prompt: Prompt?, _ expected: String?
    ) async throws {
        let (metadata, registration) = try await parts(Row(testDescription: "", supported: Self.all, scope: ""))
        var request = AuthorizationRequest(prompt: prompt)
        #expect(
            request.mayLackConsent(metadata: metadata, registration: registration) == (expected != nil))
        guard let expected else { return }
        request.asksForConsent = true
        #expect(!request.mayLackConsent(metadata: metadata, registration: registration))
        let url = request.url(metadata: metadata, registration: registration, attempt: attempt)
        #expect(parameter("prompt", of: url) == expected)
    }

    @Test(arguments: [
        Row(testDescription: "without offline_access", supported: ["openid"], scope: ""),
        Row(testDescription: "at Microsoft's", kind: .workforce, supported: all, scope: ""),
    ])
    func `consent is not missing`(_ row: Row) async throws {
        let (metadata, registration) = try await parts(row)
        #expect(!AuthorizationRequest().mayLackConsent(metadata: metadata, registration: registration))
    }

    private func parts(_ row: Row) async throws -> (ProviderMetadata, ClientRegistration) {
        let provider = try TestProvider(
            row.kind == .oidc ? KindTests.provider : "\(origin)/common", kind: row.kind,
            discovery: row.supported.map { ["scopes_supported": $0] } ?? [:])
        let registration = ClientRegistration(
            clientID: clientID, redirectURI: "https://a.example", scopes: row.written ?? [],
            scopesAreComplete: row.written != nil)
        return (try await provider.directory().metadata(for: provider.authority), registration)
    }

    private func parameter(_ name: String, of url: String) -> String? {
        URLComponents(string: url)?.queryItems?.first { $0.name == name }?.value
    }
}
