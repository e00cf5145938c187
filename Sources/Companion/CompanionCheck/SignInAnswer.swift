import CompanionCore
import CompanionSignIn
import Foundation
import HTTPClient
import HTTPTypes
import OpenIDConnect
import WebFormats

/// A provider's answer to a request to sign in, as a browser without a session gets it.
struct SignInAnswer: Sendable {
    /// The status; nil if there was no answer.
    let status: HTTPResponse.Status?
    /// The reason why there was no answer.
    let failure: String?
    /// The parameters with which the browser comes back to the redirect URI; nil if it does not.
    let returned: [String: String]?
    /// The page.
    let page: PageText
    /// The OAuth error in the answer, wherever it stands.
    let error: String?
    /// The provider's own words.
    let words: String?

    /// The place to which the browser is sent instead, without its query.
    private let elsewhere: String?
    /// The values of this request that occur in a page because they were sent.
    private let echoed: [String]

    /// Sends the browser's request to the address of a sign-in.
    ///
    /// - Parameters:
    ///   - url: the address.
    ///   - redirectURI: the address to which the browser is to come back.
    ///   - requests: the requests that have led to the address, if it is the answer to one.
    init(
        _ url: String, redirectURI: String, clientID: String, after requests: [ProviderRequest] = [],
        by client: HTTPClient
    ) async {
        echoed = [redirectURI, clientID]
        guard let endpoint = Endpoint(url) else {
            (status, failure, returned, page, error, words, elsewhere) = (
                nil, "the address is not usable", nil, PageText(of: []), nil, nil, nil
            )
            return
        }
        let request = ProviderRequest.page(endpoint)
        let quoted = SentValues(in: requests + [request])
        let answer: ProviderResponse
        do throws(HTTPClientError) {
            answer = try await client.send(request.ofCheck)
        } catch {
            (status, failure, returned, page) = (nil, error.reason, nil, PageText(of: []))
            (self.error, words, elsewhere) = (nil, nil, nil)
            return
        }
        (status, failure) = (answer.head.status, nil)
        page = PageText(of: answer.body)
        let location = answer.head.headerFields[.location] ?? ""
        let parts = location.split(separator: "?", maxSplits: 1)
        let place = location.prefix { $0 != "?" && $0 != "#" }
        // A user flow puts some errors into the fragment.
        let query = parts.count > 1 ? parts[1].prefix { $0 != "#" } : location.dropFirst(place.count + 1)
        let parameters = Self.parameters(query)
        // A URI without a path is the same with a slash (RFC 3986 section 6.2.3), which the platform adds.
        let hasNoPath = URLComponents(string: redirectURI)?.path.isEmpty == true
        let isBack = place != location && (place == redirectURI || hasNoPath && place == "\(redirectURI)/")
        returned = isBack ? parameters : nil
        elsewhere = isBack || location.isEmpty ? nil : parts.first.map(String.init)
        let json = JSONValue(parsing: answer.body)
        error = (parameters["error"] ?? json?["error"]?.string).flatMap { quoted.words(of: $0) }
        let isError = parameters["error"] != nil
        words = isError ? parameters["error_description"].flatMap { quoted.words(of: $0) } : quoted.words(of: answer)
    }

    private static func parameters(_ query: Substring) -> [String: String] {
        let fields = (try? FormFields(query: String(query)))?.fields ?? []
        return Dictionary(fields.map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// The errors of a provider that only needs to show a page (OpenID Connect Core section 3.1.2.6).
    private static let needsPage: Set = [
        "login_required", "interaction_required", "consent_required", "account_selection_required",
    ]

    /// The error with which the browser comes back; nil if the provider only needs to show a page.
    var refusalWhenReturned: String? {
        guard returned != nil, let error, !Self.needsPage.contains(error) else { return nil }
        return error
    }

    /// Whether the answer has one of these beginnings of the platform's error numbers.
    func has(_ numbers: [String]) -> Bool {
        numbers.contains { page.words.contains($0) || words?.contains($0) ?? false }
    }

    /// Whether the provider is out of order, or cannot be reached.
    var isOutOfOrder: Bool { status.map { $0.kind == .serverError } ?? true }

    /// Whether the provider shows no page on which a person could sign in.
    var isRefusal: Bool {
        guard let status, status != .tooManyRequests, status != .requestTimeout else { return false }
        return status.kind == .clientError || elsewhere != nil && error.map { !Self.needsPage.contains($0) } ?? false
    }

    /// Whether the page has nothing that a person could use to sign in: no field, no link, and no script.
    var isMereText: Bool {
        status == .ok && !page.words.isEmpty && !page.isUsable
    }

    /// Whether a person would see the same as with another request.
    func resembles(_ other: SignInAnswer) -> Bool {
        status == other.status && elsewhere == other.elsewhere && error == other.error
            && (returned == nil) == (other.returned == nil) && essence == other.essence
    }

    /// The page's words, without those that differ from one request to the next.
    private var essence: String {
        let text = echoed.reduce(page.words) { $0.replacing($1, with: "…") }
        return text.replacing(/[A-Za-z0-9_.~-]{16,}|[0-9]+/, with: "…")
    }
}

extension ProviderRequest {
    /// The same with a name that tells it from a sign-in's.
    var ofCheck: Self {
        var request = self
        request.head.headerFields[.userAgent] = "companion/\(companionVersion) (check)"
        return request
    }
}
