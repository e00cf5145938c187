import Foundation
import HTTPClient
import HTTPTypes
import Synchronization

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// A person's browser as far as HTTP goes: cookies, redirects, and forms filled in as at the demo tenant's pages.
final class Visitor: Sendable {
    struct Answer: Sendable {
        var status: Int
        var fields: HTTPFields
        var body: [UInt8]
        var url: String

        var text: String { String(decoding: body, as: UTF8.self) }
        var location: String? { fields[.location] }
        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:] }
        var code: String? { json["code"] as? String }
    }

    private let origin: String
    /// Another companion with the same sessions, to which every other request goes; nil where there is one.
    private let second: String?
    private let sent = Atomic(0)
    /// The origin of its pages: the front's name, behind which the server at `origin` is one of several.
    private let pageOrigin: String
    /// The public URL's path, and whether there is a front in between that takes it away.
    private let prefix: String
    private let isStripped: Bool
    private let client: HTTPClient
    /// By name alone: cookies of `localhost` are the same on every port.
    private let cookies = Mutex<[String: String]>([:])
    /// Everything that a server ever sent to this browser.
    private let received = Mutex<[Answer]>([])

    /// A new browser at a companion.
    init(
        origin: String, and second: String? = nil, pagesFrom pageOrigin: String? = nil, client: HTTPClient,
        below prefix: String = "", isStripped: Bool = false
    ) {
        self.origin = origin
        self.second = second
        self.pageOrigin = pageOrigin ?? origin
        self.prefix = prefix
        self.isStripped = isStripped
        self.client = client
    }

    convenience init(_ site: Site, and second: String? = nil) {
        self.init(origin: site.origin, and: second, client: site.client)
    }

    /// The session's; the names of the others begin with it.
    var cookieName: String { "companion-\(URLComponents(string: pageOrigin)?.port ?? 80)" }
    var sessionCookie: String? {
        get { cookies.withLock { $0[cookieName] } }
        set { cookies.withLock { $0[cookieName] = newValue } }
    }
    /// With this the names of the cookies of begun sign-ins begin.
    var attempts: String { cookieName + "-attempt-" }
    /// The cookies whose names begin so.
    func cookies(named prefix: String) -> [String: String] {
        cookies.withLock { $0.filter { $0.key.hasPrefix(prefix) } }
    }

    /// Sets a cookie, or takes it away.
    func setCookie(_ name: String, _ value: String?) { cookies.withLock { $0[name] = value } }

    /// The browser's mark.
    var mark: String? { cookies.withLock { $0[cookieName + "-mark"] } }
    var everything: [Answer] { received.withLock { $0 } }

    /// Another browser with the same cookies, as a second tab that was opened before.
    ///
    /// - Parameter other: the companion that it gets to; nil for the same.
    func copy(at other: String? = nil) -> Visitor {
        let other = Visitor(
            origin: other ?? origin, pagesFrom: pageOrigin, client: client, below: prefix, isStripped: isStripped)
        let mine = cookies.withLock { $0 }
        other.cookies.withLock { $0 = mine }
        return other
    }

    /// Another browser, whose person the provider knows already, which spares the pages for passwords and consent. The
    /// companion has never seen it.
    func knownToProvider() -> Visitor {
        let other = copy()
        for name in other.cookies(named: cookieName).keys { other.setCookie(name, nil) }
        return other
    }

    /// Takes a cookie, as a `Set-Cookie` field has it.
    func take(_ cookie: String) { keep(cookie) }

    // MARK: One request

    func send(
        _ method: HTTPRequest.Method, _ url: String, headers: HTTPFields = [:], body: String = ""
    ) async throws -> Answer {
        let absolute = place(of: url.hasPrefix("/") ? origin + url : url)
        guard let parts = URLComponents(string: absolute), let host = parts.host, let port = parts.port else {
            throw TestFailure("not a URL: \(absolute)")
        }
        var path = parts.percentEncodedPath
        if isStripped, absolute.hasPrefix(origin + prefix) { path.removeFirst(prefix.count) }
        var request = HTTPRequest(
            method: method, scheme: parts.scheme ?? "http", authority: "\(host):\(port)",
            path: path + (parts.percentEncodedQuery.map { "?" + $0 } ?? ""), headerFields: headers)
        let jar = cookies.withLock { $0 }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        if !jar.isEmpty { request.headerFields[.cookie] = jar }
        if request.headerFields[.accept] == nil { request.headerFields[.accept] = "text/html" }
        let answer = try await client.send(request, body: Array(body.utf8))
        for field in answer.head.headerFields[values: .setCookie] { keep(field) }
        let result = Answer(
            status: answer.head.status.code, fields: answer.head.headerFields, body: answer.body, url: absolute)
        received.withLock { $0.append(result) }
        return result
    }

    /// The URL at one of the companions.
    private func place(of url: String) -> String {
        guard let second, url.hasPrefix(origin + "/"), sent.add(1, ordering: .relaxed).oldValue % 2 == 1 else {
            return url
        }
        return second + url.dropFirst(origin.count)
    }

    private func keep(_ field: String) {
        let pair = field.split(separator: ";")[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2 else { return }
        let isOver = field.lowercased().contains("max-age=0")
        cookies.withLock { $0[String(pair[0])] = isOver ? nil : String(pair[1]) }
    }

    func get(_ url: String) async throws -> Answer { try await send(.get, url) }

    /// As a page's script calls the API.
    func api(_ method: HTTPRequest.Method = .get, _ path: String, body: String = "") async throws -> Answer {
        var headers: HTTPFields = [.accept: "application/json"]
        if method != .get {
            headers[.contentType] = "application/json"
            headers[.origin] = pageOrigin
            headers[.xCompanion] = "1"
        }
        return try await send(method, path, headers: headers, body: body)
    }

    // MARK: Sign-in

    /// Leaves for the provider.
    ///
    /// - Returns: the sign-in's state.
    func leave(app: String = "ios") async throws -> String {
        let location = try await get("\(prefix)/auth/\(app)/sign-in").location ?? ""
        guard let state = URLComponents(string: location)?.queryItems?.first(where: { $0.name == "state" })?.value
        else {
            throw TestFailure("the sign-in does not leave for the provider: \(location)")
        }
        return state
    }

    /// Goes through the tenant's pages up to the redirect to the companion's callback, or to the first page that asks
    /// for something else.
    func walkToCallback(
        app: String = "ios", query: String = "", username: String = "adele@contoso.example", consent: String = "accept",
        password: String = "password=demo", profile: String = "display_name=Somebody"
    ) async throws -> Answer {
        try await walk(
            from: try await get("\(prefix)/auth/\(app)/sign-in" + (query.isEmpty ? "" : "?" + query)),
            username: username,
            consent: consent, password: password, profile: profile)
    }

    /// From an answer through the tenant's pages to the callback.
    func walk(
        from first: Answer, username: String = "adele@contoso.example", consent: String = "accept",
        password: String = "password=demo", profile: String = "display_name=Somebody"
    ) async throws -> Answer {
        var answer = first
        for _ in 0..<20 {
            if let location = answer.location {
                if location.hasPrefix(origin + "/")
                    || location.hasPrefix("/") && answer.url.hasPrefix(origin + "/")
                {
                    return answer
                }
                answer = try await get(
                    URL(string: location, relativeTo: URL(string: answer.url))?.absoluteString ?? location)
                continue
            }
            let page = answer.text
            guard answer.status == 200,
                let action = page.firstMatch(of: /<form method="post" action="([^"]*)"/)?.output.1
            else {
                return answer
            }
            let form = page.components(separatedBy: "</form>").first { $0.contains("<form method=\"post\"") } ?? ""
            var fields = form.matches(of: /<input type="hidden" name="([^"]*)" value="([^"]*)"/).map {
                "\($0.output.1)=\(Visitor.encoded(String($0.output.2)))"
            }
            if page.contains("name=\"password\"") {
                fields.append(password)
            } else if page.contains("name=\"display_name\"") {
                fields.append(profile)
            } else if page.contains("name=\"new_password\"") {
                fields.append("new_password=new")
            } else if page.contains("name=\"code\"") {
                fields.append("code=\(try await code(at: answer.url))")
            } else if page.contains("name=\"consent\"") {
                fields.append("consent=\(consent)")
            } else if page.contains("name=\"second_factor\"") {
                fields.append("second_factor=approve")
            } else if page.contains("name=\"username\"") {
                fields.append("username=\(Visitor.encoded(username))")
            } else {
                return answer
            }
            let target =
                URL(string: String(action), relativeTo: URL(string: answer.url))?.absoluteString ?? String(action)
            answer = try await send(
                .post, target, headers: [.contentType: "application/x-www-form-urlencoded"],
                body: fields.joined(separator: "&"))
        }
        throw TestFailure("the sign-in goes round in circles at \(answer.url)")
    }

    /// The newest code that the tenant would have sent.
    private func code(at page: String) async throws -> String {
        let address = URL(string: "/outbox", relativeTo: URL(string: page))?.absoluteString ?? ""
        let messages =
            try await send(.get, address, headers: [.accept: "application/json"]).json["messages"] as? [[String: Any]]
        guard let code = messages?.first?["code"] as? String else { throw TestFailure("no code is in the outbox") }
        return code
    }

    /// The whole sign-in; answers the callback's own answer.
    @discardableResult
    func signIn(
        app: String = "ios", query: String = "", username: String = "adele@contoso.example", consent: String = "accept",
        password: String = "password=demo", profile: String = "display_name=Somebody"
    ) async throws -> Answer {
        let answer = try await walkToCallback(
            app: app, query: query, username: username, consent: consent, password: password, profile: profile)
        guard let location = answer.location, location.hasPrefix("\(origin)\(prefix)/auth/callback") else {
            return answer
        }
        return try await get(location)
    }

    /// On from an address of the tenant, through its pages and every callback, to the page of ours.
    func follow(_ location: String, username: String) async throws -> Answer {
        var answer = try await walk(
            from: try await get(location), username: username, consent: "accept", password: "password=demo",
            profile: "display_name=Somebody")
        while let next = answer.location, next.contains("/auth/callback") || !next.hasPrefix("/") {
            answer = try await get(next)
        }
        return answer
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}

extension Visitor {
    /// The path at which a page's script finds the Swedish texts of a section.
    func path(ofTexts section: String) async throws -> String {
        let page = try await send(.get, "/ios", headers: [.acceptLanguage: "sv"]).text
        guard let version = page.firstMatch(of: /name="texts" content="([0-9a-f]+)"/)?.1 else {
            throw TestFailure("the page does not name the version of its texts")
        }
        return "/assets/texts/\(version)/sv/\(section).json"
    }
}
