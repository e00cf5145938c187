import Testing

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantServer

/// The tenant's sentences beside captured ones, of which people search for whole parts.
@Suite struct SentenceTests {
    private static let web = TestTenant.web

    @Test func `an error that is about people has the platform's whole sentence`() throws {
        let platform = try TestTenant.platform(
            DemoTenantConfiguration(clients: [Self.web], publicFolder: TestTenant.publicFolder))
        let adele = try #require(platform.people.account(username: "adele@contoso.example"))
        let rows: [(PlatformError, String)] = [
            // soraxas/echo360 issue 68 (2022-09-29)
            (
                .notAssigned(adele, to: Self.web),
                "Your administrator has configured the application Web tutorial ('\(Self.web.id)') to block users unless "
                    + "they are specifically granted ('assigned') access to the application. The signed in user "
                    + "'adele@contoso.example' is blocked because they are not a direct member of a group with access, nor "
                    + "had access directly assigned by an administrator. Please contact your administrator to assign access "
                    + "to this application."
            ),
            // MicrosoftDocs/azure-docs issue 118443 (2024-01-02)
            (
                .notInTenant(adele, from: "live.com", at: .tenant(id: Tenant.tailspin), Self.web),
                "User account 'adele@contoso.example' from identity provider 'live.com' does not exist in tenant "
                    + "'Tailspin' and cannot access the application '\(Self.web.id)'(Web tutorial) in that tenant. The "
                    + "account needs to be added as an external user in the tenant first. Sign out and sign in again with "
                    + "a different Azure Active Directory user account."
            ),
        ]
        for (error, sentence) in rows { #expect(error.message == sentence) }
    }

    private static let rows: [(PlatformError, String)] = [
        // microsoft/Agent365-devTools issue 146 (2026-01-08)
        (
            .redirectURIMismatch("http://localhost:1/", web),
            "The redirect URI 'http://localhost:1/' specified in the request does not match the redirect URIs configured for "
                + "the application '\(web.id)'. Make sure the redirect URI sent in the request matches one added to your "
                + "application in the Azure portal. Navigate to https://aka.ms/redirectUriMismatchError to learn more about "
                + "how to fix this."
        ),
        // AzureAD/microsoft-authentication-library-for-dotnet issue 3655 (2022-09-07)
        (
            .notSignedIn,
            "A silent sign-in request was sent but no user is signed in. The cookies used to represent the user's session "
                + "were not sent in the request to Azure AD. This can happen if the user is using Internet Explorer or Edge, "
                + "and the web app sending the silent sign-in request is in different IE security zone than the Azure AD "
                + "endpoint (login.microsoftonline.com)."
        ),
        // Budibase/budibase issue 15843 (2025-03-30)
        (
            .secretExpired(web),
            "The provided client secret keys for app '\(web.id)' are expired. Visit the Azure portal to create new keys for "
                + "your app: https://aka.ms/NewClientSecret, or consider using certificate credentials for added security: "
                + "https://aka.ms/certCreds."
        ),
        // Earlybyte/aad_oauth issue 328 (2024-07-17)
        (
            .severalResources("a/b c/d"),
            "Provided value for the input parameter scope is not valid because it contains more than one resource. Scope "
                + "a/b c/d is not valid."
        ),
        // AzureAD/microsoft-authentication-library-for-python issue 125 (2019-11-11)
        (
            .noScopeForSeveralResources,
            "Provided value for the input parameter scope cannot be empty when requesting an access token using the provided "
                + "authorization code. Please specify a valid scope."
        ),
        // alexandrtovmach/react-microsoft-login issue 73 (2021-02-01)
        (
            .notMultiTenant(web),
            "Application '\(web.id)'(Web tutorial) is not configured as a multi-tenant application. Usage of the /common "
                + "endpoint is not supported for such applications created after '10/15/2018'. Use a tenant-specific endpoint "
                + "or configure the application to be multi-tenant."
        ),
        // oxalica/onedrive-api issue 3 (2021-07-29)
        (
            .forConsumersOnly(web),
            "Application '\(web.id)'(Web tutorial) is configured for use by Microsoft Account users only. Please use the "
                + "/consumers endpoint to serve this request."
        ),
    ]

    @Test func `an error has the platform's whole sentence`() {
        for (error, sentence) in Self.rows { #expect(error.message == sentence) }
    }

    /// james-gould/azure-keyvault-emulator issue 324 (2025-08-18).
    @Test func `the hint of ours comes after the platform's sentence`() {
        let sentence =
            "Tenant 'nosuch.example' not found. Check to make sure you have the correct tenant ID and are signing into the "
            + "correct cloud. Check with your subscription administrator, this may happen if there are no active "
            + "subscriptions for the tenant. The demo has "
        #expect(PlatformError.unknownTenant("nosuch.example").message.hasPrefix(sentence))
    }

    /// microsoftgraph/msgraph-sdk-python issue 181 (2023-04-25), ctron/oidc-cli issue 7 (2025-04-30).
    @Test(
        arguments: [
            (
                "User.Read",
                "AADSTS1002012: The provided value for scope User.Read is not valid. Client credential flows must have a "
                    + "scope value with /.default suffixed to the resource identifier (application ID URI). Trace ID: "
            ),
            (
                "",
                "AADSTS90014: The required field 'scope' is missing from the credential. Ensure that you have all the "
                    + "necessary parameters for the login request. Trace ID: "
            ),
        ] as [(String, String)])
    func `an application's own token is refused with the platform's whole sentence`(
        _ scope: String, _ sentence: String
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let answer = try await tenant.browser().ownToken(["scope": scope])
            #expect(answer.member("error_description")?.hasPrefix(sentence) == true, "\(answer.text)")
        }
    }
}
