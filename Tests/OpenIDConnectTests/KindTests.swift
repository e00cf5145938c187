import Foundation
import Testing

@testable import OpenIDConnect

/// The differences between the kinds of identity platform: authorities, issuers, and tokens.
@Suite("Kinds of identity platform")
struct KindTests {
    static let b2c = "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_susi"
    static let provider = "https://id.example.com/realms/one"

    // MARK: Authorities

    @Test(
        arguments: [
            (
                .external, "https://contoso.ciamlogin.com", "https://contoso.ciamlogin.com/contoso.onmicrosoft.com",
                "/contoso.onmicrosoft.com/v2.0"
            ),
            (
                .external, "https://Contoso.ciamlogin.com/", "https://contoso.ciamlogin.com/contoso.onmicrosoft.com",
                "/contoso.onmicrosoft.com/v2.0"
            ),
            (
                .external, "https://contoso.ciamlogin.com/\(tenantID)", "https://contoso.ciamlogin.com/\(tenantID)",
                "/\(tenantID)/v2.0"
            ),
            (
                .external, "https://login.contoso.example/\(tenantID)", "https://login.contoso.example/\(tenantID)",
                "/\(tenantID)/v2.0"
            ),
            (
                .external, "http://localhost:8081/fabrikam.example", "http://localhost:8081/fabrikam.example",
                "/fabrikam.example/v2.0"
            ),
            (.b2c, b2c, b2c.lowercased(), "/tfp/contoso.onmicrosoft.com/b2c_1_susi/v2.0"),
            (
                .b2c, "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_susi",
                "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_susi",
                "/contoso.onmicrosoft.com/b2c_1_susi/v2.0"
            ),
            (.oidc, provider, provider, "/realms/one"),
            (.oidc, "https://id.example.com/", "https://id.example.com", ""),
            (.oidc, "https://id.example.com:8443/a/b/", "https://id.example.com:8443/a/b", "/a/b"),
            (.oidc, "http://127.0.0.1:4593/api/oidc", "http://127.0.0.1:4593/api/oidc", "/api/oidc"),
        ] as [(Authority.Kind, String, String, String)])
    func `authorities of each kind are read`(
        _ kind: Authority.Kind, _ text: String, _ canonical: String, _ discovery: String
    ) throws {
        let authority = try Authority(text, kind: kind)
        #expect(authority.description == canonical)
        #expect(authority.discoveryRequest.head.path == discovery + "/.well-known/openid-configuration")
        #expect(try Authority(canonical, kind: kind) == authority)
    }

    @Test(
        arguments: [
            (.external, "https://login.contoso.example", "names the tenant"),
            (.external, "https://login.microsoftonline.com/common", "not an external tenant's host"),
            (.external, "https://contoso.b2clogin.com/contoso.onmicrosoft.com", "not an external tenant's host"),
            (.external, "https://contoso.ciamlogin.com/common", "the external tenant alone"),
            (.external, "https://contoso.ciamlogin.com/a.example/b", "the external tenant alone"),
            (.external, "http://contoso.ciamlogin.com", "must be https"),
            (.external, "https://con_toso.ciamlogin.com", "letters, digits and - only"),
            (.b2c, "https://contoso.b2clogin.com/contoso.onmicrosoft.com", "the tenant and the user flow"),
            (.b2c, "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com", "the tenant and the user flow"),
            (.b2c, "https://contoso.b2clogin.com/contoso/b2c_1_susi", "the tenant and the user flow"),
            (.b2c, "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c%201", "letters, digits, _ and -"),
            (.b2c, "https://contoso.ciamlogin.com/contoso.onmicrosoft.com/b2c_1_susi", "belongs to an external tenant"),
            (.oidc, "id.example.com", "not a URL"),
            (.oidc, "http://id.example.com", "must be https"),
            (.oidc, "https://id.example.com/?a=b", "has a query"),
        ] as [(Authority.Kind, String, String)])
    func `authorities of another shape or kind are refused with advice on what to write`(
        _ kind: Authority.Kind, _ text: String, _ reason: String
    ) {
        #expect {
            try Authority(text, kind: kind)
        } throws: { error in
            (error as? AuthorityError)?.reason.contains(reason) ?? false
        }
    }

    @Test func `a user flow's authority leads to the tenant's others, and a workforce one to other tenants`() throws {
        let susi = try Authority(Self.b2c, kind: .b2c)
        let edit = try susi.withPolicy("B2C_1_Edit")
        #expect(edit.description == "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_edit")
        #expect(edit.policy == "b2c_1_edit")
        #expect(throws: AuthorityError.self) { try susi.withPolicy("../common") }
        #expect(throws: AuthorityError.self) { try Authority(Self.provider, kind: .oidc).withPolicy("b2c_1_edit") }
        let common = try Authority("\(origin)/common")
        #expect(try common.withTenant("Tailspin.example").description == "\(origin)/tailspin.example")
        for name in ["a/b", "", "../common", "tailspin", "common", "Organizations", "consumers"] {
            #expect(throws: AuthorityError.self, "\(name)") { try common.withTenant(name) }
        }
        #expect(throws: AuthorityError.self) { try susi.withTenant("tailspin.example") }
    }

    // MARK: Issuers

    @Test(
        arguments: [
            (.external, "https://contoso.ciamlogin.com", "https://\(tenantID).ciamlogin.com/\(tenantID)/v2.0", true),
            (
                .external, "https://login.contoso.example/\(tenantID)",
                "https://login.contoso.example/\(tenantID)/v2.0", true
            ),
            (
                .external, "https://contoso.ciamlogin.com/\(otherTenantID)",
                "https://\(tenantID).ciamlogin.com/\(tenantID)/v2.0", false
            ),
            (.external, "https://contoso.ciamlogin.com", "http://\(tenantID).ciamlogin.com/\(tenantID)/v2.0", false),
            (
                .external, "https://contoso.ciamlogin.com",
                "https://contoso.ciamlogin.com/contoso.onmicrosoft.com/v2.0", false
            ),
            (.external, "https://contoso.ciamlogin.com", "https://\(tenantID).ciamlogin.com/{tenantid}/v2.0", false),
            (.b2c, b2c, "https://contoso.b2clogin.com/\(tenantID)/v2.0/", true),
            (.b2c, b2c, "https://contoso.b2clogin.com/tfp/\(tenantID)/b2c_1_susi/v2.0/", true),
            (.b2c, b2c, "https://contoso.b2clogin.com/tfp/\(tenantID)/b2c_1_edit/v2.0/", false),
            (.b2c, b2c, "https://fabrikam.b2clogin.com/\(tenantID)/v2.0/", false),
            (.b2c, b2c, "https://contoso.b2clogin.com/contoso.onmicrosoft.com/v2.0/", false),
            (.b2c, b2c, "https://contoso.b2clogin.com/\(tenantID)/v1.0/", false),
            (.oidc, provider, provider, true),
            (.oidc, provider, provider + "/", true),
            (.oidc, provider, "https://id.example.com/realms/two", false),
            (.oidc, provider, "https://id.example.com", false),
            (.oidc, provider, "http://id.example.com/realms/one", false),
        ] as [(Authority.Kind, String, String, Bool)])
    func `only a matching issuer of the discovery document is accepted`(
        _ kind: Authority.Kind, _ authority: String, _ issuer: String, _ isAccepted: Bool
    ) async throws {
        let provider = try TestProvider(authority, kind: kind, discovery: ["issuer": issuer])
        let error = await openIDError { () async throws(OpenIDError) in
            try await provider.directory().metadata(for: provider.authority)
        }
        #expect(error?.code == (isAccepted ? nil : .invalidMetadata))
    }

    // MARK: Tokens

    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var kind: Authority.Kind
        var authority: String
        /// The discovery document's, and the token's unless changed.
        var issuer: String
        /// Nil: accepted.
        var fault: IDTokenFault?
        var allowedTenants: [String] = []
        var change: @Sendable (inout TestToken) -> Void = { _ in }
    }

    private static func external(
        _ name: String, _ fault: IDTokenFault? = nil, allowedTenants: [String] = [],
        change: @escaping @Sendable (inout TestToken) -> Void = { _ in }
    ) -> Row {
        Row(
            testDescription: "external: " + name, kind: .external, authority: "https://contoso.ciamlogin.com",
            issuer: "https://\(tenantID).ciamlogin.com/\(tenantID)/v2.0", fault: fault, allowedTenants: allowedTenants,
            change: change)
    }

    private static func b2c(
        _ name: String, _ fault: IDTokenFault? = nil, named: Bool = false,
        change: @escaping @Sendable (inout TestToken) -> Void = { _ in }
    ) -> Row {
        Row(
            testDescription: "b2c: " + name, kind: .b2c, authority: b2c,
            issuer: named
                ? "https://contoso.b2clogin.com/tfp/\(tenantID)/b2c_1_susi/v2.0/"
                : "https://contoso.b2clogin.com/\(tenantID)/v2.0/", fault: fault, change: change)
    }

    private static func oidc(
        _ name: String, _ fault: IDTokenFault? = nil, allowedTenants: [String] = [],
        change: @escaping @Sendable (inout TestToken) -> Void = { _ in }
    ) -> Row {
        Row(
            testDescription: "oidc: " + name, kind: .oidc, authority: provider, issuer: provider, fault: fault,
            allowedTenants: allowedTenants,
            change: { token in
                for name in ["tid", "oid", "sid", "login_hint"] { token.claims[name] = nil }
                change(&token)
            })
    }

    static let rows: [Row] = [
        external("as the platform makes it"),
        external("without tid", change: { $0.claims["tid"] = nil }),
        external("of another tenant", .tenant, change: { $0.claims["tid"] = otherTenantID }),
        external("whose tid is no GUID", .tenant, change: { $0.claims["tid"] = "contoso" }),
        external(
            "with the authority's host as issuer", .issuer,
            change: { $0.claims["iss"] = "https://contoso.ciamlogin.com/\(tenantID)/v2.0" }),
        external("of a workforce issuer", .issuer, change: { $0.claims["iss"] = "\(origin)/\(tenantID)/v2.0" }),
        external("of an allowed tenant", allowedTenants: [tenantID]),
        external("of a tenant that is not allowed", .tenant, allowedTenants: [otherTenantID]),
        external(
            "without tid where tenants are listed", .tenant, allowedTenants: [tenantID],
            change: { $0.claims["tid"] = nil }),
        external("for two audiences", .audience, change: { $0.claims["aud"] = [clientID, "other"] }),
        b2c("with tfp", change: { $0.claims["tfp"] = "B2C_1_susi" }),
        b2c("with acr", change: { $0.claims["acr"] = "b2c_1_susi" }),
        b2c(
            "without tid",
            change: { token in
                token.claims["tfp"] = "B2C_1_susi"
                token.claims["tid"] = nil
            }),
        b2c("of another user flow", .policy, change: { $0.claims["tfp"] = "B2C_1_edit" }),
        b2c("that names no user flow", .policy),
        b2c("that names no user flow but in its issuer", named: true),
        b2c("of another user flow than its issuer", .policy, named: true, change: { $0.claims["tfp"] = "B2C_1_edit" }),
        b2c("of another tenant", .tenant, named: true, change: { $0.claims["tid"] = otherTenantID }),
        b2c(
            "of another issuer", .issuer,
            change: { $0.claims["iss"] = "https://contoso.b2clogin.com/\(otherTenantID)/v2.0/" }),
        b2c(
            "of its issuer without the slash", .issuer, named: true,
            change: { token in
                token.claims["iss"] = "https://contoso.b2clogin.com/tfp/\(tenantID)/b2c_1_susi/v2.0"
            }),
        oidc("with little in it"),
        oidc("with an auth_time of 0", change: { $0.claims["auth_time"] = 0 }),
        oidc("with an auth_time that is a text", change: { $0.claims["auth_time"] = "yesterday" }),
        oidc("with a tid of its own", change: { $0.claims["tid"] = "tenant one" }),
        oidc("with one audience in a list", change: { $0.claims["aud"] = [clientID] }),
        oidc(
            "for two audiences, issued to us",
            change: { token in
                token.claims["aud"] = ["api", clientID]
                token.claims["azp"] = clientID
            }),
        oidc(
            "for two audiences, issued to nobody", .authorizedParty, change: { $0.claims["aud"] = ["api", clientID] }),
        oidc(
            "for two audiences, issued to another", .authorizedParty,
            change: { token in
                token.claims["aud"] = ["api", clientID]
                token.claims["azp"] = "api"
            }),
        oidc("for others only", .audience, change: { $0.claims["aud"] = ["api", "web"] }),
        oidc("of its issuer with a slash", .issuer, change: { $0.claims["iss"] = provider + "/" }),
        oidc("of another issuer", .issuer, change: { $0.claims["iss"] = "https://id.example.com/realms/two" }),
        oidc("where tenants are listed", .tenant, allowedTenants: [tenantID]),
        oidc("with another nonce", .nonce, change: { $0.claims["nonce"] = "another" }),
        oidc("that has expired", .expired, change: { $0.claims["exp"] = Int(testTime.timeIntervalSince1970) - 301 }),
        oidc("without kid, of several keys", .ambiguousKey, change: { $0.header["kid"] = nil }),
        oidc("of an unknown key", .unknownKey, change: { $0.header["kid"] = "rsa-2" }),
        oidc("with a signature of another key", .signature, change: { $0.signature = .otherRSAKey }),
    ]

    @Test(arguments: rows)
    func `a token is accepted, or refused for just one reason`(_ row: Row) async throws {
        let provider = try TestProvider(row.authority, kind: row.kind, discovery: ["issuer": row.issuer])
        var token = TestToken(nonce: attempt.nonce)
        token.claims["iss"] = row.issuer
        row.change(&token)
        let directory = provider.directory()
        let callback = try await Callback(query: "code=c&state=\(attempt.state)")
            .validated(against: attempt, metadata: directory.metadata(for: provider.authority))
        let request = try CodeRequest(
            redeeming: callback, client: client(allowedTenants: row.allowedTenants))
        let (text, answer) = try (token.text(), tokenAnswer(idToken: token.text(), ["expires_in": "3600"]))
        let error = await openIDError { () async throws(OpenIDError) in
            let signedIn = try await request.answer(from: answer, directory: directory).tokens()
            #expect(signedIn.tokens.expiresOn == testTime.addingTimeInterval(3600))
            #expect(signedIn.idToken == text)
        }
        #expect(error?.idTokenFault == row.fault)
    }

    // MARK: Callbacks (RFC 9207)

    @Test(
        arguments: [
            (false, nil, nil), (false, provider, nil), (false, "https://evil.example", .issuerMismatch),
            (true, provider, nil), (true, nil, .issuerMismatch), (true, provider + "/", .issuerMismatch),
        ] as [(Bool, String?, OpenIDError.Code?)])
    func `a callback's iss is checked when it is there, or announced`(
        _ isAnnounced: Bool, _ iss: String?, _ code: OpenIDError.Code?
    ) async throws {
        let provider = try TestProvider(
            Self.provider, kind: .oidc, discovery: ["authorization_response_iss_parameter_supported": isAnnounced])
        let metadata = try await provider.directory().metadata(for: provider.authority)
        var fields = [(name: "code", value: "c"), (name: "state", value: attempt.state)]
        if let iss { fields.append(("iss", iss)) }
        let callback = try Callback(fields: fields)
        let error = await openIDError { () async throws(OpenIDError) in
            try callback.validated(against: attempt, metadata: metadata)
        }
        #expect(error?.code == code)
    }

    @Test(
        arguments: [
            (
                "AADB2C90118: The user has forgotten their password.", OpenIDError.Code.passwordResetRequested,
                "AADB2C90118"
            ),
            ("AADB2C90091: The user has cancelled entering self-asserted information.", .cancelled, "AADB2C90091"),
        ])
    func `B2C's errors at the callback have their codes`(
        _ description: String, _ code: OpenIDError.Code, _ number: String
    ) async throws {
        let provider = try TestProvider(Self.b2c, kind: .b2c)
        let metadata = try await provider.directory().metadata(for: provider.authority)
        let callback = try Callback(fields: [
            ("error", "access_denied"), ("error_description", description), ("state", attempt.state),
        ])
        let error = await openIDError { () async throws(OpenIDError) in
            try callback.validated(against: attempt, metadata: metadata)
        }
        #expect(error?.code == code)
        #expect(error?.numbers == [number])
    }
}
