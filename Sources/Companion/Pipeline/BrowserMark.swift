import HTTPServer
import HTTPWire
import SessionStore
import WebFormats

/// By what a browser is known again, whoever uses it: 16 random bytes that stay the same, and a signature once somebody has
/// signed in with it. It proves nothing about a person.
struct BrowserMark: Sendable, Equatable {
    private static let byteCount = 16

    /// The random bytes.
    let bytes: [UInt8]
    /// Whether there is a signature. It says so itself: ``BrowserMarks/hasSignedIn(_:)`` checks it.
    var saysSignedIn: Bool { !signature.isEmpty }
    fileprivate let signature: [UInt8]

    fileprivate init(_ bytes: [UInt8], signature: [UInt8] = []) {
        (self.bytes, self.signature) = (bytes, signature)
    }

    /// The mark that a cookie says; nil when it has not the form of one.
    init?(cookieValue: Span<UInt8>) {
        guard let all = Base64URL.decode(cookieValue),
            [Self.byteCount, Self.byteCount + SignedPurpose.byteCount].contains(all.count)
        else { return nil }
        self.init(Array(all.prefix(Self.byteCount)), signature: Array(all.dropFirst(Self.byteCount)))
    }

    /// As the browser keeps it: base64url without padding, 22 characters, or 43 with the signature.
    var cookieValue: String { Base64URL.encode(bytes + signature) }
}

/// Gives browsers their marks, and knows them again.
struct BrowserMarks: Sendable {
    let store: SessionStore
    let cookie: SessionCookie
    let randomBytes: @Sendable (Int) -> [UInt8]

    /// The mark that a request carries; nil without one.
    func mark(in head: RequestHead) -> BrowserMark? { cookie.mark(in: head) }

    /// A mark for a browser that has none.
    func fresh() -> BrowserMark { BrowserMark(randomBytes(16)) }

    /// Whether somebody has signed in with a mark: its signature is ours.
    func hasSignedIn(_ mark: BrowserMark) -> Bool {
        mark.saysSignedIn && store.isSigned(mark.bytes, as: .browser, by: mark.signature)
    }

    private func signed(_ mark: BrowserMark) -> BrowserMark {
        BrowserMark(mark.bytes, signature: store.sign(mark.bytes, as: .browser))
    }

    /// A response to a browser in which somebody has just signed in.
    func noteSignIn(_ head: RequestHead, on response: Response) -> Response {
        let mark = mark(in: head) ?? fresh()
        return hasSignedIn(mark) ? response : cookie.setting(signed(mark), on: response)
    }
}
