import CompanionCore
import HTTPTypes
import HTTPWire
import Languages
import SessionStore

/// The session cookie, the only secret cookie: its name, attributes and parsing (security law 3). Beside it are the
/// browser's mark and, if several servers use one database, for a short time the version of the session that the
/// browser has seen.
struct SessionCookie: Sendable {
    let name: String
    private let isSecure: Bool
    private let maxAge: Int?
    /// The lifetime of a mark in seconds: 400 days, the most that browsers allow (RFC 6265bis §5.6.2).
    private static let markMaxAge = 400 * 86_400
    private let markName: String
    private let versionName: String
    /// The lifetime of the version cookie in seconds; nil if versions are not used.
    private let versionMaxAge: Int?

    /// - Parameter staleness: see ``SessionStore/staleness``.
    init(configuration: CompanionConfiguration, staleness: Duration? = nil) {
        isSecure = configuration.publicURL.isSecure
        name = configuration.publicURL.cookieName
        // On a shared device the cookie ends with the browser. On others it lasts as long as a session can.
        maxAge = configuration.deviceMode == .shared ? nil : Int(configuration.sessionMaximum.components.seconds)
        markName = name + "-mark"
        versionName = name + "-version"
        // Cookie lifetimes are whole seconds.
        versionMaxAge = staleness.map { Int($0.components.seconds) + 2 }
    }

    /// Returns the session's ID from a request; nil if it is missing or malformed.
    func id(in head: RequestHead) -> SessionID? {
        let cookies = RequestCookies(head)
        guard var id = cookies.first(name, { SessionID(cookieValue: $0) }) else { return nil }
        if versionMaxAge != nil { id.version = cookies.first(versionName, Self.version) ?? 0 }
        return id
    }

    /// Returns the version; nil if the value is not a number or too large.
    private static func version(_ value: Span<UInt8>) -> Int64? {
        guard value.count <= 18 else { return nil }
        return value.withUnsafeBufferPointer { Int(digits: String(decoding: $0, as: UTF8.self)) }.map(Int64.init)
    }

    /// Whether browsers get a cookie with their session's version.
    var hasVersions: Bool { versionMaxAge != nil }

    /// Returns the response with a short-lived cookie that states which version of the session the browser has seen.
    /// The version is no secret: a wrong one only causes another read of the session.
    func noting(version: Int64, on response: Response) -> Response {
        set(versionName, to: String(version), maxAge: versionMaxAge, on: response)
    }

    /// Returns the response with the session's ID in the cookie.
    func setting(_ id: SessionID, on response: Response) -> Response {
        set(name, to: id.cookieValue, maxAge: maxAge, on: response)
    }

    /// Returns the response with the cookie removed.
    func ending(on response: Response) -> Response { set(name, to: "", maxAge: 0, on: response) }

    /// Returns the browser's mark; nil if it is missing or malformed.
    func mark(in head: RequestHead) -> BrowserMark? {
        RequestCookies(head).first(markName, BrowserMark.init(cookieValue:))
    }

    /// Returns the response with the browser's mark. On a shared device it ends with the browser.
    func setting(_ mark: BrowserMark, on response: Response) -> Response {
        set(markName, to: mark.cookieValue, maxAge: isShared ? nil : Self.markMaxAge, on: response)
    }

    /// Returns the response with the mark removed.
    func endingMark(on response: Response) -> Response { set(markName, to: "", maxAge: 0, on: response) }

    /// Whether the device is configured as shared by several people.
    var isShared: Bool { maxAge == nil }

    /// Returns the response with the choice of a language, which is no secret and lasts a year; nil removes the
    /// choice. On a shared device it ends with the browser.
    func choosing(_ language: Language?, named name: String, on response: Response) -> Response {
        set(
            name, to: language?.tag ?? "", maxAge: language == nil ? 0 : isShared ? nil : 365 * 86_400, on: response)
    }

    private func set(_ name: String, to value: String, maxAge: Int?, on response: Response) -> Response {
        var response = response
        // The path is / even if the public URL has a path: `__Host-` requires it, and a cookie's path does not hide
        // it from other pages of the host (RFC 6265 §8.6). The values are base64url, a number or a language tag, all
        // valid in a cookie, so creating it cannot fail.
        if let cookie = try? SetCookie(
            name: name, value: value, path: "/", maxAge: maxAge, secure: isSecure, httpOnly: true, sameSite: .lax)
        {
            response.headerFields.append(HTTPField(name: .setCookie, value: cookie.headerValue))
        }
        return response
    }
}
