import HTTPTypes
import HTTPWire
import TenantDirectory

/// The browser in which a sign-in, a sign-out or the entry of a code began. Its pages carry the ID, encrypted, in their
/// addresses; in a browser without the cookie of that ID they are worth nothing. Otherwise a link would lead another person
/// into a sign-in that is not theirs, and the address in a proxy's log would be as good as a password.
///
/// Each ID has a cookie with a name of its own, because tabs that begin at the same time do not see each other's.
struct BrowserID: Sendable {
    /// The number of cookies that a browser keeps. It gets more than one only from requests that do not carry cookies.
    static let mostCookies = 8

    let id: String
    /// The cookies to set or to remove, as `Set-Cookie` fields.
    fileprivate let cookies: [SetCookie]

    /// Returns the name of an ID's cookie at these addresses.
    static func cookieName(_ id: String, at addresses: Addresses) -> String { prefix(at: addresses) + id.prefix(8) }

    fileprivate static func prefix(at addresses: Addresses) -> String { addresses.cookiePrefix + "browser-" }
}

extension IdentityPlatform {
    private func browserCookies(_ head: RequestHead) -> [(name: String, value: String)] {
        RequestCookies(head).all(withPrefix: BrowserID.prefix(at: addresses))
    }

    /// Returns the ID of the browser, which is a new one if it has none.
    func browser(_ head: RequestHead) throws -> BrowserID {
        let (present, isSecure) = (browserCookies(head), addresses.isSecure)
        // Browsers send the oldest cookie first.
        guard let newest = present.last else {
            let id = clock.newID()
            let name = BrowserID.cookieName(id, at: addresses)
            return BrowserID(id: id, cookies: [try SetCookie(name: name, value: id, secure: isSecure)])
        }
        let surplus = try present.dropLast(BrowserID.mostCookies).map { cookie in
            try SetCookie(name: cookie.name, value: "", maxAge: 0, secure: isSecure)
        }
        return BrowserID(id: newest.value, cookies: surplus)
    }

    /// Returns the ID of a browser that has one.
    func knownBrowserID(_ head: RequestHead) -> String? { browserCookies(head).last?.value }

    /// Whether a request comes from the browser with this ID.
    func isBrowser(_ id: String?, _ head: RequestHead) -> Bool {
        id != nil && browserCookies(head).contains { $0.value == id }
    }
}

extension Response {
    /// Returns the response with the cookie by which the browser is known from now on.
    func known(as browser: BrowserID) -> Response {
        var response = self
        for cookie in browser.cookies {
            response.headerFields.append(HTTPField(name: .setCookie, value: cookie.headerValue))
        }
        return response
    }
}
