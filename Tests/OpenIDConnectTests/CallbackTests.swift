import Testing

@testable import OpenIDConnect

@Suite("Callbacks")
struct CallbackTests {
    static let state = "state=\(attempt.state)"

    /// A callback that is refused, in query and form alike.
    struct Refused: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let query: String
        let code: OpenIDError.Code
        var authority = "\(origin)/common"
        var requiresIssuer = false
    }

    static let refused: [Refused] = [
        .init(testDescription: "empty", query: "", code: .badRequest),
        .init(testDescription: "no state", query: "code=c", code: .badRequest),
        .init(testDescription: "empty state", query: "code=c&state=", code: .badRequest),
        .init(testDescription: "neither code nor error", query: state, code: .badRequest),
        .init(testDescription: "empty code", query: "code=&\(state)", code: .badRequest),
        .init(testDescription: "code and error", query: "code=c&error=access_denied&\(state)", code: .badRequest),
        .init(
            testDescription: "code and admin consent", query: "code=c&admin_consent=True&\(state)", code: .badRequest),
        .init(
            testDescription: "admin consent where a sign-in was", query: "admin_consent=True&\(state)",
            code: .badRequest),
        .init(testDescription: "code twice", query: "code=c&code=d&\(state)", code: .badRequest),
        .init(testDescription: "the same code twice", query: "code=c&\(state)&code=c", code: .badRequest),
        .init(testDescription: "state twice", query: "code=c&state=x&\(state)", code: .badRequest),
        .init(testDescription: "state twice, once encoded", query: "code=c&st%61te=x&\(state)", code: .badRequest),
        .init(testDescription: "issuer twice", query: "code=c&\(state)&iss=a&iss=b", code: .badRequest),
        .init(testDescription: "half an escape", query: "code=c%4&\(state)", code: .badRequest),
        .init(testDescription: "escape with a sign", query: "code=%+1&\(state)", code: .badRequest),
        .init(testDescription: "not UTF-8", query: "code=%FF&\(state)", code: .badRequest),
        .init(testDescription: "a state that is not UTF-8", query: "code=c&state=%FF", code: .badRequest),
        .init(
            testDescription: "words that are not UTF-8",
            query: "error=access_denied&error_description=f%FCr+Sie&\(state)", code: .cancelled),
        .init(
            testDescription: "a field that is not UTF-8", query: "error=access_denied&%FC=1&\(state)", code: .cancelled),
        .init(testDescription: "another state", query: "code=c&state=state-of-another-attempt", code: .stateMismatch),
        .init(
            testDescription: "state in another case", query: "code=c&state=State-of-this-attempt", code: .stateMismatch),
        .init(
            testDescription: "an error with another state", query: "error=access_denied&state=x", code: .stateMismatch),
        .init(
            testDescription: "another issuer", query: "code=c&\(state)&iss=https%3A%2F%2Fevil.example",
            code: .issuerMismatch),
        .init(
            testDescription: "an error from another issuer",
            query: "error=access_denied&\(state)&iss=https://evil.example",
            code: .issuerMismatch),
        .init(
            testDescription: "the template filled with no GUID", query: "code=c&\(state)&iss=\(origin)/evil/v2.0",
            code: .issuerMismatch),
        .init(
            testDescription: "another tenant at a tenant's authority",
            query: "code=c&\(state)&iss=\(origin)/\(otherTenantID)/v2.0",
            code: .issuerMismatch, authority: "\(origin)/\(tenantID)"),
        .init(
            testDescription: "no issuer where there must be one", query: "code=c&\(state)", code: .issuerMismatch,
            requiresIssuer: true),
    ]

    @Test(arguments: refused)
    func `an invalid callback is refused, in a query as in a form`(_ row: Refused) async throws {
        let metadata = try await metadata(row.authority, requiresIssuer: row.requiresIssuer)
        let inQuery = await openIDError { () throws(OpenIDError) in
            try Callback(query: row.query).validated(against: attempt, metadata: metadata)
        }
        let inForm = await openIDError { () throws(OpenIDError) in
            try Callback(formBody: Array(row.query.utf8)).validated(against: attempt, metadata: metadata)
        }
        #expect(inQuery?.code == row.code)
        #expect(inForm == inQuery)
        for secret in [attempt.state, "code=c"] { #expect(inQuery?.description.contains(secret) == false) }
    }

    @Test(
        arguments: [
            ("error=invalid_scope&\(state)", "invalid_scope"), ("code=c&\(state)", nil),
            ("error=invalid_scope&\(state)&iss=https://evil.example", nil),
        ])
    func `an error without the promised issuer is named beside the refusal`(
        _ query: String, _ providerError: String?
    ) async throws {
        let metadata = try await metadata("\(origin)/common", requiresIssuer: true)
        let error = await openIDError { () throws(OpenIDError) in
            try Callback(query: query).validated(against: attempt, metadata: metadata)
        }
        #expect(error?.code == .issuerMismatch)
        #expect(error?.providerError == providerError)
        #expect(error?.description.contains("error=invalid_scope") == (providerError != nil))
    }

    @Test(
        arguments: [
            ("\(origin)/common", "code=the%2Dcode&\(state)&session_state=s&client_info=e30", false),
            ("\(origin)/common", "\(state)&code=the-code&iss=\(origin)/%7Btenantid%7D/v2.0", true),
            ("\(origin)/common", "code=the-code&\(state)&iss=\(origin)/\(tenantID)/v2.0", true),
            ("\(origin)/\(tenantID)", "code=the-code&\(state)&iss=\(origin)/\(tenantID)/v2.0", true),
        ])
    func `a valid callback is accepted`(_ authority: String, _ query: String, _ requiresIssuer: Bool) async throws {
        let metadata = try await metadata(authority, requiresIssuer: requiresIssuer)
        let callback = try Callback(query: query)
        #expect(callback.state == attempt.state)
        #expect(callback.code == "the-code")
        func unneeded() -> SentValues? {
            Issue.record("there are no words")
            return nil
        }
        let validated = try callback.validated(against: attempt, metadata: metadata, sent: unneeded())
        #expect(validated.code == "the-code")
        #expect("\(callback)" == "Callback(redacted)")
    }

    @Test(
        arguments: [
            (
                "error=access_denied&error_description=AADSTS65004%3A+User+declined+to+consent",
                OpenIDError.Code.cancelled, [65004], false
            ),
            ("error=consent_required&error_description=AADSTS65004", .consentRequired, [65004], true),
            ("error=access_denied&error_subcode=cancel", .cancelled, [], false),
            ("error=access_denied&error_description=The+user+has+denied+access", .cancelled, [], false),
            (
                "error=access_denied&error_description=AADSTS90094%3A+An+administrator", .adminConsentRequired, [90094],
                false
            ),
            ("error=access_denied&error_description=AADSTS53003", .accessDenied, [53003], false),
            ("error=access_denied&error_description=AADSTS50105", .accessDenied, [50105], false),
            ("error=login_required&error_description=AADSTS50058", .interactionRequired, [50058], true),
            ("error=interaction_required&error_description=AADSTS16000", .interactionRequired, [16000], true),
            ("error=interaction_required&suberror=consent_required", .consentRequired, [], true),
            ("error=server_error", .providerUnavailable, [], false),
            ("error=temporarily_unavailable&error_description=AADSTS90033", .providerUnavailable, [90033], false),
            ("error=invalid_client&error_description=AADSTS650052", .providerRejectedClient, [650052], false),
            ("error=unauthorized_client&error_description=AADSTS700016", .providerRejectedClient, [700016], false),
            ("error=invalid_request&error_description=AADSTS50011", .providerRejectedClient, [50011], false),
            ("error=invalid_scope&error_description=AADSTS70011", .providerRejectedRequest, [70011], false),
            ("error=something+new", .providerRejectedRequest, [], false),
        ] as [(String, OpenIDError.Code, [Int], Bool)])
    func `a callback carries the provider's error`(
        _ query: String, _ code: OpenIDError.Code, _ numbers: [Int], _ isInteractionNeeded: Bool
    ) async throws {
        let metadata = try await metadata()
        let callback = try Callback(query: "\(query)&\(Self.state)")
        #expect(callback.code == nil)
        let error = await openIDError { () throws(OpenIDError) in
            try callback.validated(against: attempt, metadata: metadata)
        }
        #expect(error?.code == code)
        #expect(error?.aadsts == numbers)
        #expect(error?.isInteractionNeeded == isInteractionNeeded)
    }

    @Test(
        arguments: [
            ("access_denied", "AADB2C90091%3A+The+user+has+cancelled", OpenIDError.Code.cancelled, 90091),
            ("access_denied", "AADB2C90118%3A+The+user+has+forgotten+their+password", .passwordResetRequested, 90118),
            ("interaction_required", "AADB2C90077%3A+no+session", .interactionRequired, 90077),
            ("invalid_request", "AADB2C90079%3A+Clients+must+send+a+client_secret", .providerRejectedClient, 90079),
            ("invalid_request", "AADB2C90117%3A+The+scope", .providerRejectedRequest, 90117),
        ])
    func `B2C's numbers decide the error's code`(
        _ error: String, _ description: String, _ code: OpenIDError.Code, _ number: Int
    ) async throws {
        let metadata = try await metadata()
        let callback = try Callback(query: "error=\(error)&error_description=\(description)&\(Self.state)")
        let error = await openIDError { () throws(OpenIDError) in
            try callback.validated(against: attempt, metadata: metadata)
        }
        #expect(error?.code == code)
        #expect(error?.aadb2c == [number])
    }

    @Test func `an error keeps the provider's words, and drops values that it quotes`() async throws {
        let metadata = try await metadata()
        let description =
            "AADSTS65004: User declined \(attempt.state) the-secret-code.\r\nTrace ID: \(tenantID)\r\n"
            + "Correlation ID: \(otherTenantID)\r\nTimestamp: 2026-11-21 01:02:03Z"
        let callback = try Callback(fields: [
            ("error", "access_denied"), ("error_description", description), ("state", attempt.state),
        ])
        let error = try #require(
            await openIDError { () throws(OpenIDError) in try callback.validated(against: attempt, metadata: metadata) }
        )
        #expect(error.traceID == tenantID)
        #expect(error.correlationID == otherTenantID)
        #expect(error.timestamp == "2026-11-21 01:02:03Z")
        #expect(
            error.description
                == "cancelled: The sign-in was cancelled. error=access_denied AADSTS65004 "
                + "trace_id=\(tenantID) correlation_id=\(otherTenantID) timestamp=2026-11-21 01:02:03Z")
    }

    @Test(
        arguments: [
            ("admin_consent=True&tenant=\(tenantID)", tenantID, nil),
            ("admin_consent=True&tenant=<b>", nil, nil),
            ("admin_consent=True&error=access_denied&error_description=AADSTS65004", nil, OpenIDError.Code.cancelled),
            ("error=permission_denied&error_description=The+admin+canceled+the+request", nil, .cancelled),
            ("admin_consent=False", nil, .badRequest),
            ("code=c", nil, .badRequest),
        ] as [(String, String?, OpenIDError.Code?)])
    func `an admin consent's callback has the tenant or the provider's error`(
        _ query: String, _ tenant: String?, _ code: OpenIDError.Code?
    ) async throws {
        let callback = try Callback(query: "\(query)&\(Self.state)")
        let error = await openIDError { () throws(OpenIDError) in
            #expect(try callback.adminConsentTenant(against: attempt) == tenant)
        }
        #expect(error?.code == code)
        let other = AuthorizationAttempt(state: "x", nonce: "x", codeVerifier: "x")
        let mismatch = await openIDError { () throws(OpenIDError) in try callback.adminConsentTenant(against: other) }
        #expect(mismatch?.code == .stateMismatch)
    }

    private func metadata(_ authority: String = "\(origin)/common", requiresIssuer: Bool = false) async throws
        -> ProviderMetadata
    {
        let provider = try TestProvider(
            authority, discovery: ["authorization_response_iss_parameter_supported": requiresIssuer])
        return try await provider.directory().metadata(for: provider.authority)
    }
}
