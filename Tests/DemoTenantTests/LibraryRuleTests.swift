import HTTPTypes
import Testing

@testable import TenantDirectory

/// Whether Microsoft's libraries ask the person after an error of the token endpoint, which depends on its words alone.
@Suite("Errors of the token endpoint as MSAL reads them")
struct LibraryRuleTests {
    private enum Library: CaseIterable {
        /// MSIDSilentTokenRequest.m:495, for answers that MSIDAADRequestErrorHandler.m:95 and 126 read
        case apple
        /// MsalServiceExceptionFactory.cs
        case dotNet
        /// InteractionRequiredAuthError.ts
        case javaScript

        func asks(after error: PlatformError) -> Bool {
            switch self {
            case .apple:
                [400, 401].contains(error.status.code) && error.suberror != "protection_policy_required"
                    && !["invalid_scope", "invalid_client"].contains(error.error)
            case .dotNet:
                error.error == "interaction_required"
                    || error.error == "invalid_grant"
                        && !["client_mismatch", "protection_policy_required"].contains(error.suberror ?? "")
            case .javaScript:
                ["interaction_required", "consent_required", "login_required", "bad_token"].contains(error.error)
                    || [
                        "message_only", "additional_action", "basic_action", "user_password_expired",
                        "consent_required", "bad_token",
                    ].contains(error.suberror ?? "")
            }
        }
    }

    /// The libraries that ask, by the numbers that reach an application at the token endpoint.
    private static let table: [([Int], [Library])] = [
        ([16000, 50034, 50055, 50076, 50079, 50173, 53000, 53001, 53003, 65001], Library.allCases),
        ([70008, 70043, 700_082], Library.allCases),
        ([50020, 50057, 50196, 54005], [.apple, .dotNet]),
        ([50058], [.apple, .javaScript]),
        ([65004, 90002, 90094, 500_011, 700_016], [.apple]),
        ([53005, 70011, 90033, 500_112, 700_025, 700_027, 7_000_215, 7_000_218, 7_000_222], []),
    ]
    /// Those of pages, and of user flows.
    private static let others: Set = [50011, 50105, 50194, 90077, 90091, 90118]

    @Test func `the person is asked after each number as at Entra`() {
        for (numbers, libraries) in Self.table {
            for number in numbers {
                let error = PlatformError.numbered(number)?.atTokenEndpoint()
                let asking = error.map { error in Library.allCases.filter { $0.asks(after: error) } }
                #expect(asking == libraries, "\(number)")
            }
        }
        #expect(Set(Self.table.flatMap(\.0)).union(Self.others) == Set(PlatformError.numbers))
    }
}
