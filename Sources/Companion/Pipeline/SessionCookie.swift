import HTTPTypes
import HTTPWire
import SessionStore

/// The one cookie: its name, its attributes and its parsing (security law 3).
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
        guard let header = head[.cookie] else { return nil }
        return RequestCookies(header).all(name).lazy.compactMap { SessionID(cookieValue: $0) }.first
    }

    /// A response that sets the cookie to an id.
    func setting(_ id: SessionID, on response: Response) -> Response {
        var response = response
        // The value is base64url, which every cookie may hold, so that making the field cannot fail.
        if let cookie = try? SetCookie(
            name: name, value: id.cookieValue, path: "/", maxAge: maxAge, secure: isSecure, httpOnly: true,
            sameSite: .lax)
        {
            response.headerFields.append(HTTPField(name: .setCookie, value: cookie.headerValue))
        }
        return response
    }
}
