import CompanionCore
import HTTPTypes
import HTTPWire
import Languages
import SessionStore

/// The one cookie that is a secret: its name, its attributes and its parsing (security law 3). Beside it goes the mark of the
/// browser, and for a moment, where several servers share the sessions, the version of the session that the browser has seen.
struct SessionCookie: Sendable {
    /// `__Host-` makes the browser refuse a cookie that another host or a plain-http page set (RFC 6265bis §4.1.3.2).
    let name: String
    private let isSecure: Bool
    private let maxAge: Int?
    /// How long a browser keeps its mark, in seconds: 400 days, the most that browsers allow (RFC 6265bis §5.6.2).
    private static let markMaxAge = 400 * 86_400
    private let markName: String
    private let versionName: String
    /// How long the version is of use, in seconds; nil where it is of none.
    private let versionMaxAge: Int?

    /// - Parameter staleness: see ``SessionStore/staleness``.
    init(configuration: CompanionConfiguration, staleness: Duration? = nil) {
        isSecure = configuration.publicURL.isSecure
        name = isSecure ? "__Host-companion" : "companion"
        // On a shared device the cookie ends with the browser; elsewhere it lasts as long as the session can.
        maxAge = configuration.deviceMode == .shared ? nil : Int(configuration.sessionMaximum.components.seconds)
        markName = name + "-mark"
        versionName = name + "-version"
        // A browser counts whole seconds.
        versionMaxAge = staleness.map { Int($0.components.seconds) + 2 }
    }

    /// The session's id that a request carries; nil without one or when it has not the form of one.
    func id(in head: RequestHead) -> SessionID? {
        let cookies = RequestCookies(head)
        guard var id = cookies.first(name, { SessionID(cookieValue: $0) }) else { return nil }
        if versionMaxAge != nil { id.version = cookies.first(versionName, Self.version) ?? 0 }
        return id
    }

    /// Nil for what is no number, and for one that is too large.
    private static func version(_ value: Span<UInt8>) -> Int64? {
        guard value.count <= 18 else { return nil }
        return value.withUnsafeBufferPointer { Int(digits: String(decoding: $0, as: UTF8.self)) }.map(Int64.init)
    }

    /// Whether browsers get to know the versions of their sessions.
    var hasVersions: Bool { versionMaxAge != nil }

    /// A response that has the browser say, for as long as it matters, which version of its session it has seen. It is no
    /// secret: a wrong one has the session read once more.
    func noting(version: Int64, on response: Response) -> Response {
        set(versionName, to: String(version), maxAge: versionMaxAge, on: response)
    }

    /// A response that sets the cookie to an id.
    func setting(_ id: SessionID, on response: Response) -> Response {
        set(name, to: id.cookieValue, maxAge: maxAge, on: response)
    }

    /// A response that takes the cookie away.
    func ending(on response: Response) -> Response { set(name, to: "", maxAge: 0, on: response) }

    /// The mark of the browser; nil without one or when it has not the form of one.
    func mark(in head: RequestHead) -> BrowserMark? {
        RequestCookies(head).first(markName, BrowserMark.init(cookieValue:))
    }

    /// A response that sets the mark. On a shared device it ends with the browser.
    func setting(_ mark: BrowserMark, on response: Response) -> Response {
        set(markName, to: mark.cookieValue, maxAge: isShared ? nil : Self.markMaxAge, on: response)
    }

    /// A response that takes the mark away.
    func endingMark(on response: Response) -> Response { set(markName, to: "", maxAge: 0, on: response) }

    /// Whether it is for a device that several people use.
    var isShared: Bool { maxAge == nil }

    /// A response that keeps the choice of a language, which is no secret, for a year; nil ends the choice. On a shared
    /// device it ends with the browser.
    func choosing(_ language: Language?, named name: String, on response: Response) -> Response {
        set(
            name, to: language?.tag ?? "", maxAge: language == nil ? 0 : isShared ? nil : 365 * 86_400, on: response)
    }

    private func set(_ name: String, to value: String, maxAge: Int?, on response: Response) -> Response {
        var response = response
        // The path is / also where the public URL has one: `__Host-` demands it, and a cookie's path keeps nothing from the
        // other pages of its host (RFC 6265 §8.6).
        // Values are base64url, a number or a language tag, which every cookie may hold, so that making the field cannot fail.
        if let cookie = try? SetCookie(
            name: name, value: value, path: "/", maxAge: maxAge, secure: isSecure, httpOnly: true, sameSite: .lax)
        {
            response.headerFields.append(HTTPField(name: .setCookie, value: cookie.headerValue))
        }
        return response
    }
}
