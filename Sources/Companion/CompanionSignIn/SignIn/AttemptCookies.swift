package import CompanionCore
package import Foundation
import HTTPTypes
package import HTTPWire
package import SessionStore

/// The cookies that hold a browser's pending sign-ins, one each. The server stores nothing for them, so starting many
/// sign-ins uses only the browser's own space. A cookie lasts until its attempt expires, so that reloading a callback
/// gives the same response.
package struct AttemptCookies: Sendable {
    /// The maximum number of cookies, beyond which the oldest are removed. Proxies refuse request heads of more than 8
    /// KB.
    package static let maxCount = 5
    /// The maximum total size of their names and values, in bytes.
    static let maxBytes = 6 << 10
    /// The tolerance for differences between servers' clocks, in seconds.
    private static let skew: TimeInterval = 30

    private let prefix: String
    private let path: String
    private let isSecure: Bool
    private let maxAge: Int?
    private let now: @Sendable () -> Date

    /// - Parameter now: the wall clock.
    package init(configuration: CompanionConfiguration, now: @escaping @Sendable () -> Date) {
        self.now = now
        isSecure = configuration.publicURL.isSecure
        prefix = isSecure ? "__Secure-companion-attempt-" : configuration.publicURL.cookieName + "-attempt-"
        path = configuration.publicURL.prefix + "/auth"
        // On a shared device the cookies end with the browser.
        maxAge =
            configuration.deviceMode == .shared
            ? nil : Int(SessionStore.Configuration.attemptLifetime.components.seconds)
    }

    /// Returns the name of the cookie for a state.
    package func name(of state: String) -> String { prefix + SealedSignIn.name(of: state) }

    /// Returns the browser's sign-in with this state.
    package func signIn(of state: String, in head: RequestHead) -> SealedSignIn? {
        RequestCookies(head)[name(of: state)].flatMap(SealedSignIn.init)
    }

    /// Returns the response with a cookie for a sign-in, beside those of the request.
    package func keeping(_ signIn: SealedSignIn, of state: String, beside head: RequestHead, on response: Response)
        -> Response
    {
        let name = name(of: state)
        let known = kept(by: head).filter { $0.name != name }.sorted { $0.begunAt > $1.begunAt }
        var response = set(name, to: signIn.text, maxAge: maxAge, on: response)
        var (count, bytes) = (1, name.utf8.count + signIn.text.utf8.count)
        for other in known {
            count += 1
            bytes += other.bytes
            if count > Self.maxCount || bytes > Self.maxBytes { response = end(other.name, on: response) }
        }
        return response
    }

    /// Returns the response with the cookies of the request removed.
    package func ending(in head: RequestHead, on response: Response) -> Response {
        kept(by: head).reduce(response) { end($1.name, on: $0) }
    }

    /// Returns the cookies of a request. A date ahead of now is none of ours: a host of the same domain can set cookies,
    /// and would push out a sign-in under way in another tab.
    private func kept(by head: RequestHead) -> [(name: String, begunAt: Date, bytes: Int)] {
        let latest = now().addingTimeInterval(Self.skew)
        return RequestCookies(head).all(withPrefix: prefix).map { name, value in
            let begunAt = SealedSignIn(value)?.begunAt ?? .distantPast
            return (name, begunAt <= latest ? begunAt : .distantPast, name.utf8.count + value.utf8.count)
        }
    }

    private func end(_ name: String, on response: Response) -> Response { set(name, to: "", maxAge: 0, on: response) }

    private func set(_ name: String, to value: String, maxAge: Int?, on response: Response) -> Response {
        var response = response
        // A cookie whose name the browser made up may not be a valid name. Such a cookie is ignored.
        if let cookie = try? SetCookie(
            name: name, value: value, path: path, maxAge: maxAge, secure: isSecure, httpOnly: true, sameSite: .lax)
        {
            response.headerFields.append(HTTPField(name: .setCookie, value: cookie.headerValue))
        }
        return response
    }
}
