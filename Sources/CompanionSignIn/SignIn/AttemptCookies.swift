package import CompanionCore
import Foundation
import HTTPTypes
package import HTTPWire
package import SessionStore

/// The cookies in which the browser keeps its sign-ins until they come back, one for each: nothing of them is here meanwhile,
/// and who begins many takes up their own room alone. They stay until they could not open any more, so that a callback that is
/// loaded again is answered as before.
package struct AttemptCookies: Sendable {
    /// The most that a browser keeps; the oldest make room. Fronts refuse heads of more than 8 KB.
    package static let maxCount = 5
    /// The most bytes of their names and values together.
    static let maxBytes = 6 << 10

    private let prefix: String
    private let path: String
    private let isSecure: Bool
    private let maxAge: Int?

    package init(configuration: CompanionConfiguration) {
        isSecure = configuration.publicURL.isSecure
        prefix = (isSecure ? "__Secure-" : "") + "companion-attempt-"
        path = configuration.publicURL.prefix + "/auth"
        // On a shared device they end with the browser.
        maxAge =
            configuration.deviceMode == .shared
            ? nil : Int(SessionStore.Configuration.attemptLifetime.components.seconds)
    }

    /// The cookie of the sign-in with this state.
    package func name(of state: String) -> String { prefix + SealedSignIn.name(of: state) }

    /// The sign-in with this state, as the browser kept it.
    package func signIn(of state: String, in head: RequestHead) -> SealedSignIn? {
        RequestCookies(head)[name(of: state)].flatMap(SealedSignIn.init)
    }

    /// A response with which the browser keeps a sign-in beside those that it sent.
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

    /// A response with which the browser forgets those that it sent.
    package func ending(in head: RequestHead, on response: Response) -> Response {
        kept(by: head).reduce(response) { end($1.name, on: $0) }
    }

    private func kept(by head: RequestHead) -> [(name: String, begunAt: Date, bytes: Int)] {
        RequestCookies(head).all(withPrefix: prefix).map { name, value in
            (name, SealedSignIn(value)?.begunAt ?? .distantPast, name.utf8.count + value.utf8.count)
        }
    }

    private func end(_ name: String, on response: Response) -> Response { set(name, to: "", maxAge: 0, on: response) }

    private func set(_ name: String, to value: String, maxAge: Int?, on response: Response) -> Response {
        var response = response
        // A name that the browser made up may be none that can be set: it is left alone.
        if let cookie = try? SetCookie(
            name: name, value: value, path: path, maxAge: maxAge, secure: isSecure, httpOnly: true, sameSite: .lax)
        {
            response.headerFields.append(HTTPField(name: .setCookie, value: cookie.headerValue))
        }
        return response
    }
}
