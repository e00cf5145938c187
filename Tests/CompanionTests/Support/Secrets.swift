import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Synchronization
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore

/// Everything that the tenant was asked, with its answers.
final class TenantTraffic: Sendable {
    struct Exchange: Sendable {
        var request: Request
        var response: Response
    }

    private let kept = Mutex<[Exchange]>([])
    var all: [Exchange] { kept.withLock { $0 } }
    /// The path of each request.
    var paths: [String] { all.map(\.request.head.path) }

    func note(_ request: Request, _ response: Response) {
        kept.withLock { $0.append(Exchange(request: request, response: response)) }
    }
}

/// The kinds of secret, none of which may appear where it need not be.
enum Secret: Hashable {
    case code, state, nonce, codeVerifier, accessToken, refreshToken, idToken, clientCredential, cookie, logoutToken

    /// By its name in requests, answers and addresses.
    init?(field: String) {
        switch field {
        case "code": self = .code
        case "state": self = .state
        case "nonce": self = .nonce
        case "code_verifier": self = .codeVerifier
        case "access_token": self = .accessToken
        case "refresh_token", "token": self = .refreshToken
        case "id_token", "id_token_hint": self = .idToken
        case "client_secret", "client_assertion": self = .clientCredential
        case "logout_token": self = .logoutToken
        default: return nil
        }
    }
}

/// All secrets of a run, as the provider saw and made them.
struct Secrets {
    private var values: [Secret: [String]] = [:]
    /// The texts that show that a value is there.
    private var traces: [Secret: Set<String>] = [:]
    /// The texts in which all have been looked for: most header fields come in each answer.
    private final class Known { var texts: Set<Data> = [] }
    private let known = Known()

    init(_ traffic: TenantTraffic) {
        for exchange in traffic.all where !exchange.request.head.path.hasPrefix("/control") {
            collect(try? FormFields(query: exchange.request.head.query ?? ""))
            collect(try? FormFields(body: exchange.request.body))
            if let location = exchange.response.headerFields[.location] { collect(address: location) }
            if let field = exchange.request.head[.authorization] { collect(authorization: field) }
            let json = try? JSONSerialization.jsonObject(with: Data(exchange.response.body))
            for (name, value) in json as? [String: Any] ?? [:] {
                if let kind = Secret(field: name), let text = value as? String { add(kind, text) }
            }
        }
    }

    /// The browser's cookies: its session's, its mark, and its sign-ins.
    mutating func collectCookies(of visitor: Visitor) {
        for cookie in visitor.everything.flatMap({ $0.fields[values: .setCookie] }) {
            for name in ["=", "-mark=", "-attempt-"] where cookie.hasPrefix(visitor.cookieName + name) {
                add(.cookie, String(cookie.drop { $0 != "=" }.dropFirst().prefix { $0 != ";" }))
            }
        }
    }

    private mutating func collect(_ fields: FormFields?) {
        for field in fields?.fields ?? [] {
            if let kind = Secret(field: field.name) { add(kind, field.value) }
        }
    }

    private mutating func collect(address: String) {
        collect(try? FormFields(query: String(address.drop { $0 != "?" }.dropFirst())))
    }

    private mutating func collect(authorization field: String) {
        let parts = field.split(separator: " ").map(String.init)
        guard parts.count == 2 else { return }
        guard parts[0] == "Basic" else { return add(.accessToken, parts[1]) }
        add(.clientCredential, parts[1])
        let pair = Data(base64Encoded: parts[1]).map { String(decoding: $0, as: UTF8.self) } ?? ""
        add(.clientCredential, String(pair.drop { $0 != ":" }.dropFirst()))
    }

    mutating func add(_ kind: Secret, _ value: String) {
        guard value.utf8.count >= 16, values[kind]?.contains(value) != true else { return }
        known.texts = []
        values[kind, default: []].append(value)
        traces[kind, default: []].formUnion(Self.traces(of: value))
    }

    func count(of kind: Secret) -> Int { values[kind]?.count ?? 0 }

    func latest(_ kind: Secret) -> String { values[kind]?.last ?? "" }

    // MARK: Where they are not

    func expectNone(in text: String, _ place: String, but allowed: Set<Secret> = []) {
        expectNone(in: Data(text.utf8), place, but: allowed)
    }

    func expectNone(in data: Data, _ place: String, but allowed: Set<Secret> = []) {
        guard !allowed.isEmpty || known.texts.insert(data).inserted else { return }
        // As a C string, because its search is quick.
        let text = data.map { $0 == 0 ? 0x20 : CChar(bitPattern: $0) } + [0]
        for (kind, traces) in traces where !allowed.contains(kind) {
            if traces.contains(where: { strstr(text, $0) != nil }) { Issue.record("a \(kind) in \(place)") }
        }
    }

    /// An answer of ours: its body, its fields, and the address to which somebody had sent the browser.
    ///
    /// - Parameter isDemo: whether the steps of a session may have what its sign-ins used up.
    func expectNone(in answer: Visitor.Answer, of site: Site, isDemo: Bool = false) {
        let path = answer.url.dropFirst(site.origin.count).prefix { $0 != "?" }
        let name = "\(path) (\(answer.status))"
        var allowed: Set<Secret> = []
        // Providers other than Entra ID know the session by the ID token (OpenID Connect RP-Initiated Logout 1.0).
        if path.hasSuffix("/sign-out") { allowed = [.idToken, .state] }
        if isDemo, path.hasSuffix("/events") { allowed = [.code, .state, .nonce, .codeVerifier] }
        expectNone(in: Data(answer.body), "the body of \(name)", but: allowed)
        expectNone(in: answer.url, "the address \(name)", but: path == "/auth/callback" ? [.code, .state] : [])
        for field in answer.fields {
            var allowed: Set<Secret> = []
            if field.name == .setCookie {
                allowed = [.cookie]
                let value = field.value.drop { $0 != "=" }.dropFirst().prefix { $0 != ";" }
                expectNone(in: Data(Base64URL.decode(value.utf8) ?? []), "what the cookies of \(name) are made of")
            }
            if field.name == .location, field.value.hasPrefix("http://localhost:\(site.tenantPort)/") {
                allowed = [.state, .nonce]
            }
            expectNone(in: field.value, "\(field.name) of \(name)", but: allowed)
        }
    }

    /// A request of ours to the provider, whose secrets belong into the body or the field for them.
    func expectNone(inHeadOf request: Request) {
        expectNone(in: request.head.path + "?" + (request.head.query ?? ""), "an address at the provider")
        for field in request.head.headerFields where field.name != .authorization {
            expectNone(in: field.value, "\(field.name) of a request to the provider")
        }
    }

    /// The value itself, percent-encoded, and what is left of one that was cut: the begin of a JSON Web Token is the same
    /// for all and its end is the signature.
    private static func traces(of value: String) -> Set<String> {
        var traces: Set = [value, value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? value]
        if value.utf8.count >= 40 {
            traces.insert(String(value.suffix(20)))
            if !value.hasPrefix("eyJ") { traces.insert(String(value.prefix(20))) }
        }
        return traces
    }
}
