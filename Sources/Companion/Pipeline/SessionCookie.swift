import HTTPTypes
import HTTPWire
import SessionStore

/// The one cookie that is a secret: its name, its attributes and its parsing (security law 3).
struct SessionCookie: Sendable {
    /// `__Host-` makes the browser refuse a cookie that another host or a plain-http page set (RFC 6265bis §4.1.3.2).
    let name: String
    private let isSecure: Bool
    private let maxAge: Int?

    init(configuration: CompanionConfiguration) {
        isSecure = configuration.publicURL.isSecure
        name = isSecure ? "__Host-companion" : "companion"
        // On a shared device the cookie ends with the browser; elsewhere it lasts as long as the session can.
        maxAge = configuration.deviceMode == .shared ? nil : Int(configuration.sessionMaximum.components.seconds)
    }

    /// The session's id that a request carries; nil without one or when it has not the form of one.
    func id(in head: RequestHead) -> SessionID? {
        RequestCookies(head).first(name) { SessionID(cookieValue: $0) }
    }

    /// A response that sets the cookie to an id.
    func setting(_ id: SessionID, on response: Response) -> Response {
        set(name, to: id.cookieValue, maxAge: maxAge, on: response)
    }

    /// A response that takes the cookie away.
    func ending(on response: Response) -> Response { set(name, to: "", maxAge: 0, on: response) }

    /// A response that keeps the choice of a language, which is no secret, for a year; nil ends the choice. On a shared
    /// device it ends with the browser.
    func choosing(_ language: Language?, named name: String, on response: Response) -> Response {
        let isShared = maxAge == nil
        return set(
            name, to: language?.tag ?? "", maxAge: language == nil ? 0 : isShared ? nil : 365 * 86_400, on: response)
    }

    private func set(_ name: String, to value: String, maxAge: Int?, on response: Response) -> Response {
        var response = response
        // The path is / also where the public URL has one: `__Host-` demands it, and a cookie's path keeps nothing from the
        // other pages of its host (RFC 6265 §8.6).
        // Values are base64url or a language tag, which every cookie may hold, so that making the field cannot fail.
        if let cookie = try? SetCookie(
            name: name, value: value, path: "/", maxAge: maxAge, secure: isSecure, httpOnly: true, sameSite: .lax)
        {
            response.headerFields.append(HTTPField(name: .setCookie, value: cookie.headerValue))
        }
        return response
    }
}
