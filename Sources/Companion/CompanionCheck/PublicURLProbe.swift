import CompanionCore
import CompanionSignIn
import Foundation
import HTTPClient
import HTTPTypes
import OpenIDConnect

/// Asks for the home page as a browser does, through the proxies in front of this server.
struct PublicURLProbe: Sendable {
    let client: HTTPClient

    /// Returns nil for plain http: nothing sends a browser from there to https.
    func finding(for url: PublicURL) async -> CheckFinding? {
        guard url.isSecure, let page = Endpoint(url.address + "/") else { return nil }
        let answer: ProviderResponse
        do throws(HTTPClientError) {
            answer = try await client.send(.page(page))
        } catch {
            return .unknown("public_url", "public_url cannot be reached from here: \(error.reason)")
        }
        let (status, location) = (answer.head.status, answer.head.headerFields[.location])
        guard status.kind == .successful || status.kind == .redirection else {
            return .unknown("public_url", "public_url returned \(status.code).")
        }
        let target = location.flatMap { URL(string: $0, relativeTo: URL(string: page.description))?.absoluteString }
        guard status.kind == .redirection, target.flatMap({ Endpoint($0) }) == page else {
            return .good("public_url", "public_url responds.")
        }
        return .mistake(
            "public_url", "public_url redirects to itself.", why: "Browsers show an error instead of every page.",
            remedy:
                "Something in front of your proxy speaks TLS, and the proxy reports http. Let each proxy append to "
                + "X-Forwarded-Proto and to X-Forwarded-For, or pass on https, and list them all in trusted_proxies.")
    }
}
