import CompanionCore
import CompanionSignIn
import HTTPClient
import HTTPTypes
import OpenIDConnect

/// Checks that the application's API can be reached: a request without a token must be refused as unauthorized.
struct APIProbe: Sendable {
    let client: HTTPClient

    /// Returns nil when the application has no API of its own, or when the API answers as expected.
    func finding(for application: Application) async -> CheckFinding? {
        guard let api = application.api else { return nil }
        let why = "People can sign in, but the page has nothing to show them."
        let answer: ProviderResponse
        do throws(HTTPClientError) {
            answer = try await client.send(.page(api))
        } catch {
            return CheckFinding.mistake(
                "api", "The API cannot be reached: \(error.reason)", why: why,
                remedy: CheckFinding.remedy(reaching: api)
            ).of(application)
        }
        let status = answer.head.status
        if status == .tooManyRequests {
            return CheckFinding.advice(
                "api", "The API returned 429 (too many requests).", why: why,
                remedy: "Wait as long as it asks, then look for the page or script that sends so many requests."
            ).of(application)
        }
        guard status.kind == .serverError else { return nil }
        return CheckFinding.mistake(
            "api", "The API returned \(status.code).", why: why,
            remedy: "Look at its status page, and try again in a few minutes."
        ).of(application)
    }
}
