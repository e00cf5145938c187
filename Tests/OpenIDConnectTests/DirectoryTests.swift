import Foundation
import TestSupport
import Testing

@testable import OpenIDConnect

@Suite("Provider directory", .timeLimit(.minutes(5)))
struct DirectoryTests {
    /// A discovery document that is refused.
    struct Refused: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var authority = "\(origin)/common"
        let changes: [String: String]
        var removing: String?
        let reason: String
    }

    private static func issuerRefused(_ authority: String, other: String? = nil) -> String {
        let other = other.map { " It is that of \($0)." } ?? ""
        return "The discovery document's issuer is not that of \(authority).\(other) Check the configured authority."
    }

    private static func unusable(_ name: String) -> String {
        "The discovery document of \(origin)/common has no usable \(name). Check the configured authority."
    }

    private static func insecure(_ name: String) -> String {
        "The discovery document of \(origin)/common names a \(name) that is not https. Check the configured authority."
    }

    static let refused: [Refused] = [
        .init(
            testDescription: "no issuer", changes: [:], removing: "issuer", reason: issuerRefused("\(origin)/common")),
        .init(testDescription: "empty issuer", changes: ["issuer": ""], reason: issuerRefused("\(origin)/common")),
        .init(
            testDescription: "issuer on another host", changes: ["issuer": "https://evil.example/{tenantid}/v2.0"],
            reason: issuerRefused("\(origin)/common")),
        .init(
            testDescription: "issuer in another cloud",
            changes: ["issuer": "https://login.microsoftonline.us/{tenantid}/v2.0"],
            reason: issuerRefused("\(origin)/common")),
        .init(
            testDescription: "issuer by http", changes: ["issuer": "http://login.microsoftonline.com/{tenantid}/v2.0"],
            reason: issuerRefused("\(origin)/common")),
        .init(
            testDescription: "template in the host", changes: ["issuer": "https://{tenantid}.example/\(tenantID)/v2.0"],
            reason: issuerRefused("\(origin)/common")),
        .init(
            testDescription: "template with more in the path", changes: ["issuer": "\(origin)/x/{tenantid}/v2.0"],
            reason: issuerRefused("\(origin)/common")),
        .init(
            testDescription: "template with a query", changes: ["issuer": "\(origin)/{tenantid}/v2.0?x"],
            reason: issuerRefused("\(origin)/common")),
        .init(
            testDescription: "another placeholder", changes: ["issuer": "\(origin)/{tenant}/v2.0"],
            reason: issuerRefused("\(origin)/common")),
        .init(
            testDescription: "one tenant's issuer at common", changes: ["issuer": issuer],
            reason: issuerRefused("\(origin)/common", other: issuer)),
        .init(
            testDescription: "the template at a tenant's authority", authority: "\(origin)/\(tenantID)",
            changes: ["issuer": "\(origin)/{tenantid}/v2.0"], reason: issuerRefused("\(origin)/\(tenantID)")),
        .init(
            testDescription: "another tenant at a tenant's authority", authority: "\(origin)/\(tenantID)",
            changes: ["issuer": "\(origin)/\(otherTenantID)/v2.0"],
            reason: issuerRefused("\(origin)/\(tenantID)", other: "\(origin)/\(otherTenantID)/v2.0")),
        .init(
            testDescription: "not a GUID at a domain's authority", authority: "\(origin)/contoso.com",
            changes: ["issuer": "\(origin)/contoso.com/v2.0"],
            reason: issuerRefused("\(origin)/contoso.com", other: "\(origin)/contoso.com/v2.0")),
        .init(
            testDescription: "a work tenant at consumers", authority: "\(origin)/consumers",
            changes: ["issuer": issuer], reason: issuerRefused("\(origin)/consumers", other: issuer)),
        .init(
            testDescription: "no token endpoint", changes: [:], removing: "token_endpoint",
            reason: unusable("token_endpoint")),
        .init(
            testDescription: "no authorization endpoint", changes: [:], removing: "authorization_endpoint",
            reason: unusable("authorization_endpoint")),
        .init(testDescription: "no keys", changes: [:], removing: "jwks_uri", reason: unusable("jwks_uri")),
        .init(
            testDescription: "empty token endpoint", changes: ["token_endpoint": ""], reason: unusable("token_endpoint")
        ),
        .init(
            testDescription: "relative token endpoint", changes: ["token_endpoint": "/token"],
            reason: unusable("token_endpoint")),
        .init(
            testDescription: "authorization endpoint that runs script",
            changes: ["authorization_endpoint": "javascript:alert(1)"],
            reason: unusable("authorization_endpoint")),
        .init(
            testDescription: "token endpoint by http",
            changes: ["token_endpoint": "http://login.microsoftonline.com/token"],
            reason: insecure("token_endpoint")),
        .init(
            testDescription: "keys on this machine's http", changes: ["jwks_uri": "http://localhost:9/keys"],
            reason: insecure("jwks_uri")),
        .init(
            testDescription: "logout by http",
            changes: ["end_session_endpoint": "http://login.microsoftonline.com/logout"],
            reason: insecure("end_session_endpoint")),
    ]

    @Test(arguments: refused)
    func `an invalid discovery document is refused`(_ row: Refused) async throws {
        let provider = try TestProvider(row.authority)
        try provider.setDiscovery(row.changes, removing: row.removing)
        let error = await metadataError(provider)
        #expect(error == OpenIDError(.invalidMetadata, row.reason))
    }

    @Test(
        arguments: [
            ("\(origin)/common", "\(origin)/{tenantid}/v2.0"), ("\(origin)/organizations", "\(origin)/{tenantid}/v2.0"),
            ("\(origin)/consumers", "\(origin)/\(Authority.consumersTenantID)/v2.0"), ("\(origin)/\(tenantID)", issuer),
            ("\(origin)/contoso.onmicrosoft.com", issuer),
            ("https://login.windows.net/common", "\(origin)/{tenantid}/v2.0"),
            ("https://login.chinacloudapi.cn/common", "https://login.partner.microsoftonline.cn/{tenantid}/v2.0"),
            ("http://localhost:8081/common", "http://localhost:8081/{tenantid}/v2.0"),
        ])
    func `a valid discovery document is accepted`(_ authority: String, _ issuer: String) async throws {
        let provider = try TestProvider(authority, discovery: ["issuer": issuer])
        #expect(try await provider.directory().metadata(for: provider.authority).issuer == issuer)
    }

    @Test func `a provider that cannot sign out is accepted`() async throws {
        let provider = try TestProvider()
        try provider.setDiscovery([:], removing: "end_session_endpoint")
        let metadata = try await provider.directory().metadata(for: provider.authority)
        #expect(metadata.endSessionEndpoint == nil)
        #expect(LogoutRequest().url(metadata: metadata, registration: registration()) == nil)
    }

    @Test func `metadata is fetched once for a hundred who wait, and then not for a day`() async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        provider.closeGate()
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 { group.addTask { try await directory.metadata(for: provider.authority).issuer } }
            #expect(await eventually { provider.waiting > 0 })
            provider.openGate()
            for try await issuer in group { #expect(issuer == "\(origin)/{tenantid}/v2.0") }
        }
        #expect(provider.fetches("openid-configuration") == 1)
        provider.advance(seconds: 24 * 3600 - 1)
        _ = try await directory.metadata(for: provider.authority)
        #expect(provider.fetches("openid-configuration") == 1)
        provider.advance(seconds: 1)
        _ = try await directory.metadata(for: provider.authority)
        #expect(provider.fetches("openid-configuration") == 2)
    }

    @Test func `a waiter who is cancelled does not cancel the fetch for the others`() async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        provider.closeGate()
        let first = Task { try await directory.metadata(for: provider.authority).issuer }
        #expect(await eventually { provider.waiting > 0 })
        let second = Task { try await directory.metadata(for: provider.authority).issuer }
        first.cancel()
        provider.openGate()
        #expect(try await second.value == "\(origin)/{tenantid}/v2.0")
    }

    @Test func `a provider that failed is not asked again within ten seconds`() async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        provider.setUnreachable(true)
        let expected = OpenIDError(unreachable: "The identity provider cannot be reached: try again later.")
        for _ in 0..<3 { #expect(await metadataError(provider, directory) == expected) }
        #expect(provider.fetches("openid-configuration") == 1)
        provider.setUnreachable(false)
        provider.advance(seconds: 9)
        #expect(await metadataError(provider, directory) == expected)
        provider.advance(seconds: 1)
        #expect(await metadataError(provider, directory) == nil)
        #expect(provider.fetches("openid-configuration") == 2)
    }

    @Test func `a document is fetched again after the clock was set back`() async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        _ = try await directory.metadata(for: provider.authority)
        provider.advance(seconds: -3600)
        _ = try await directory.metadata(for: provider.authority)
        #expect(provider.fetches("openid-configuration") == 2)
    }

    @Test(arguments: [("60", 60.0), ("86400", 300), ("2", 10)])
    func `the directory waits as long as Retry-After asks, five minutes at most`(_ value: String, _ pause: TimeInterval)
        async throws
    {
        let provider = try TestProvider()
        let directory = provider.directory()
        provider.fail(response("", status: 429, type: nil, retryAfter: value))
        #expect(await metadataError(provider, directory)?.code == .throttled)
        provider.fail(nil)
        provider.advance(seconds: pause - 1)
        #expect(await metadataError(provider, directory)?.code == .throttled)
        provider.advance(seconds: 1)
        #expect(await metadataError(provider, directory) == nil)
    }

    @Test func `known metadata is served for a week while the provider is out of order`() async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        _ = try await directory.metadata(for: provider.authority)
        provider.fail(response("<html>", status: 503, type: "text/html"))
        provider.advance(seconds: 7 * 24 * 3600 - 1)
        #expect(await metadataError(provider, directory) == nil)
        provider.advance(seconds: 1)
        #expect(await metadataError(provider, directory)?.code == .providerUnavailable)
    }

    @Test func `known metadata is not served when the provider now returns something wrong`() async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        _ = try await directory.metadata(for: provider.authority)
        try provider.setDiscovery(["issuer": "https://evil.example/{tenantid}/v2.0"])
        provider.advance(seconds: 24 * 3600)
        #expect(await metadataError(provider, directory)?.code == .invalidMetadata)
    }

    @Test func `an unknown kid fetches the keys once for all who wait, and once more after ten seconds`() async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        let metadata = try await directory.metadata(for: provider.authority)
        _ = try await directory.key(id: "rsa-1", algorithm: .rs256, of: metadata)
        #expect(provider.fetches("/keys") == 1)

        try provider.setKeys([TestKeys.rsaJWK("rsa-2")])
        provider.closeGate()
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<50 {
                group.addTask { try? await directory.key(id: "rsa-2", algorithm: .rs256, of: metadata).id }
            }
            #expect(await eventually { provider.waiting > 0 })
            provider.openGate()
            for try await id in group { #expect(id == "rsa-2") }
        }
        #expect(provider.fetches("/keys") == 2)

        // The second time, the five minutes of the first are over.
        for (kid, pause) in [("rsa-3", 10), ("rsa-4", 290), ("rsa-5", 10)] as [(String, TimeInterval)] {
            let fetches = provider.fetches("/keys")
            try provider.setKeys([TestKeys.rsaJWK(kid)])
            provider.advance(seconds: pause - 1)
            #expect(await keyError(kid, directory, metadata) == OpenIDError(.unknownKey))
            #expect(provider.fetches("/keys") == fetches)
            provider.advance(seconds: 1)
            #expect(await keyError(kid, directory, metadata) == nil)
            #expect(provider.fetches("/keys") == fetches + 1)
        }
    }

    @Test(arguments: [false, true])
    func `for a response of the provider's own the keys are fetched after 1, 2, 4, 8, 16 and then 30 seconds`(
        isUnavailable: Bool
    ) async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        let metadata = try await directory.metadata(for: provider.authority)
        _ = try await directory.signingKeys(of: metadata)
        provider.setUnreachable(isUnavailable)
        func look() async -> OpenIDError? { await keyError("rsa-2", directory, metadata, isOurs: true) }
        let expected: OpenIDError.Code = isUnavailable ? .providerUnavailable : .invalidIDToken
        var fetches = 2
        #expect(await look()?.code == expected)
        for pause in [1, 2, 4, 8, 16, 30, 30] as [TimeInterval] {
            #expect(provider.fetches("/keys") == fetches)
            provider.advance(seconds: pause - 0.5)
            #expect(await look()?.code == expected)
            #expect(provider.fetches("/keys") == fetches, "\(pause)")
            provider.advance(seconds: 0.5)
            #expect(await look()?.code == expected)
            fetches += 1
        }
        provider.setUnreachable(false)
        try provider.setKeys([TestKeys.rsaJWK("rsa-2")])
        provider.advance(seconds: 30)
        #expect(await look() == nil)
        // After a calm minute, the pauses begin anew.
        provider.advance(seconds: 60)
        try provider.setKeys([TestKeys.rsaJWK("rsa-3")])
        #expect(await keyError("rsa-3", directory, metadata, isOurs: true) == nil)
        provider.advance(seconds: 1)
        try provider.setKeys([TestKeys.rsaJWK("rsa-4")])
        #expect(await keyError("rsa-4", directory, metadata, isOurs: true) == nil)
    }

    @Test func `one token with a bad kid delays a rotation by a second`() async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        let metadata = try await directory.metadata(for: provider.authority)
        _ = try await directory.signingKeys(of: metadata)
        #expect(await keyError("bad", directory, metadata, isOurs: true) == OpenIDError(.unknownKey))
        try provider.setKeys([TestKeys.rsaJWK("rsa-2")])
        #expect(await keyError("rsa-2", directory, metadata, isOurs: true) == OpenIDError(.unknownKey))
        provider.advance(seconds: 1)
        #expect(await keyError("rsa-2", directory, metadata, isOurs: true) == nil)
    }

    @Test func `between two key sets by turns, a rotation is followed within a minute`() async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        let metadata = try await directory.metadata(for: provider.authority)
        _ = try await directory.signingKeys(of: metadata)
        // The token is signed at one machine of the provider, and its keys are fetched from the other.
        var fetches: [Int] = []
        for second in 0..<120 {
            let (signs, publishes) = second % 2 == 0 ? ("a", "b") : ("b", "a")
            try provider.setKeys([TestKeys.rsaJWK(publishes)])
            _ = await keyError(signs, directory, metadata, isOurs: true)
            fetches.append(provider.fetches("/keys"))
            provider.advance(seconds: 1)
        }
        #expect(fetches[119] > fetches[59])
        for second in 60..<120 { #expect(fetches[second] - fetches[second - 60] <= 6, "\(second)") }
        try provider.setKeys([TestKeys.rsaJWK("new")])
        var waited = 0
        while waited < 120, await keyError("new", directory, metadata, isOurs: true) != nil {
            provider.advance(seconds: 1)
            waited += 1
        }
        #expect(waited <= 60)
    }

    /// A configured authority, and another one with the same keys, which are known.
    private func sharedKeys(_ provider: TestProvider) async throws -> (ProviderDirectory, [ProviderMetadata]) {
        let directory = provider.directory(configured: [provider.authority])
        let configured = try await directory.metadata(for: provider.authority)
        try provider.setDiscovery(["issuer": issuer])
        let named = try await directory.metadata(for: try provider.authority.withTenant(tenantID))
        for metadata in [named, configured] {
            #expect(metadata.keysEndpoint == configured.keysEndpoint)
            _ = try await directory.signingKeys(of: metadata)
        }
        #expect(provider.fetches("/keys") == 1)
        return (directory, [configured, named])
    }

    @Test(arguments: [false, true], [0, 1])
    func `a withdrawn key is refused from the next fetch on, whoever caused it`(isOurs: Bool, index: Int) async throws {
        let provider = try TestProvider(keys: [TestKeys.rsaJWK("rsa-1"), TestKeys.rsaJWK("rsa-2")])
        let (directory, all) = try await sharedKeys(provider)
        try provider.setKeys([TestKeys.rsaJWK("rsa-2"), TestKeys.rsaJWK("rsa-3")])
        for metadata in all { #expect(await keyError("rsa-1", directory, metadata, isOurs: isOurs) == nil) }
        #expect(await keyError("rsa-3", directory, all[index], isOurs: isOurs) == nil)
        for metadata in all {
            #expect(await keyError("rsa-1", directory, metadata, isOurs: isOurs) == OpenIDError(.unknownKey))
            #expect(await keyError("rsa-2", directory, metadata, isOurs: isOurs) == nil)
        }
        #expect(provider.fetches("/keys") == 2)
    }

    @Test func `for all responses of the provider's own, the keys are fetched six times a minute`() async throws {
        let provider = try TestProvider()
        let (directory, all) = try await sharedKeys(provider)
        for second in 0..<61 {
            _ = await keyError("late", directory, all[second % 2], isOurs: true)
            provider.advance(seconds: 1)
        }
        #expect(provider.fetches("/keys") == 1 + 6)
        _ = await keyError("late", directory, all[0], isOurs: true)
        #expect(provider.fetches("/keys") == 1 + 7)
    }

    @Test func `strangers' tokens and the provider's own responses use up none of each other's fetches`() async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        let metadata = try await directory.metadata(for: provider.authority)
        _ = try await directory.signingKeys(of: metadata)
        /// The number of fetches that a token causes.
        func fetches(isOurs: Bool) async -> Int {
            let before = provider.fetches("/keys")
            _ = await keyError("bad", directory, metadata, isOurs: isOurs)
            return provider.fetches("/keys") - before
        }
        #expect(await fetches(isOurs: false) == 1)
        #expect(await fetches(isOurs: false) == 0)
        for pause in [0, 1, 2] as [TimeInterval] {
            provider.advance(seconds: pause)
            #expect(await fetches(isOurs: true) == 1)
        }
        provider.advance(seconds: 3)
        #expect(await fetches(isOurs: true) == 0)
        provider.advance(seconds: 4)
        #expect(await fetches(isOurs: false) == 1, "10 seconds after a stranger's")
        provider.advance(seconds: 289)
        #expect(await fetches(isOurs: false) == 0, "299 seconds after a stranger's")
        provider.advance(seconds: 1)
        #expect(await fetches(isOurs: true) == 1)
        #expect(await fetches(isOurs: false) == 1)

        provider.setUnreachable(true)
        provider.advance(seconds: 300)
        #expect(await fetches(isOurs: false) == 1)
        #expect(await fetches(isOurs: true) == 1, "a stranger's failed")
        provider.advance(seconds: 9)
        #expect(await fetches(isOurs: false) == 0)
        #expect(await fetches(isOurs: true) == 1)
    }

    @Test func `keys that cannot be fetched again are no verdict on the token`() async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        let metadata = try await directory.metadata(for: provider.authority)
        _ = try await directory.signingKeys(of: metadata)
        provider.setUnreachable(true)
        for _ in 0..<2 {
            #expect(await keyError("rsa-2", directory, metadata)?.code == .providerUnavailable)
            #expect(await keyError("rsa-1", directory, metadata) == nil)
        }
        #expect(provider.fetches("/keys") == 2)
        provider.setUnreachable(false)
        try provider.setKeys([TestKeys.rsaJWK("rsa-2")])
        provider.advance(seconds: 10)
        #expect(await keyError("rsa-2", directory, metadata) == nil)
    }

    @Test(
        arguments: [
            (#"{"keys":[]}"#, 200, OpenIDError.Code.invalidMetadata), (#"{}"#, 200, .invalidMetadata),
            (#"{"keys":[{"kty":"oct","k":"AA","kid":"a"}]}"#, 200, .invalidMetadata),
            (#"{"keys":[],"keys":[]}"#, 200, .providerUnavailable), (#"<html>"#, 200, .providerUnavailable),
            ("", 200, .providerUnavailable), (#"{"keys":[]}"#, 404, .invalidMetadata), ("", 302, .providerUnavailable),
            ("", 500, .providerUnavailable),
        ] as [(String, Int, OpenIDError.Code)])
    func `an invalid key set is refused`(_ body: String, _ status: Int, _ code: OpenIDError.Code) async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        let metadata = try await directory.metadata(for: provider.authority)
        provider.fail(response(body, status: status))
        #expect(await keyError("rsa-1", directory, metadata)?.code == code)
    }

    @Test func `an unknown tenant is the operator's mistake, reported with the provider's ids`() async throws {
        let provider = try TestProvider()
        provider.fail(
            response(
                #"{"error":"invalid_tenant","error_description":"AADSTS90002: Tenant 'x' not found.","error_codes":[90002],"trace_id":"\#(tenantID)"}"#,
                status: 400))
        let error = await metadataError(provider)
        #expect(error?.code == .invalidMetadata)
        #expect(error?.aadsts == [90002])
        #expect(error?.traceID == tenantID)
    }

    private func metadataError(_ provider: TestProvider, _ directory: ProviderDirectory? = nil) async -> OpenIDError? {
        await openIDError { () async throws(OpenIDError) in
            try await (directory ?? provider.directory()).metadata(for: provider.authority)
        }
    }

    private func keyError(
        _ id: String, _ directory: ProviderDirectory, _ metadata: ProviderMetadata, isOurs: Bool = false
    ) async -> OpenIDError? {
        await openIDError { () async throws(OpenIDError) in
            try await directory.key(id: id, algorithm: .rs256, of: metadata, isOurs: isOurs)
        }
    }
}
