import HTTPWire
import SessionStore
import WebFormats

/// A mark that identifies a browser, not the person who uses it: 16 random bytes that stay the same, and a signature
/// after the first sign-in in this browser. It says nothing about the person.
struct BrowserMark: Sendable, Equatable {
    private static let byteCount = 16

    /// The random bytes.
    let bytes: [UInt8]
    /// Whether the mark has a signature. ``BrowserMarks/hasSignedIn(_:)`` verifies it.
    var saysSignedIn: Bool { !signature.isEmpty }
    fileprivate let signature: [UInt8]

    fileprivate init(_ bytes: [UInt8], signature: [UInt8] = []) {
        (self.bytes, self.signature) = (bytes, signature)
    }

    /// Parses a cookie's value; returns nil if it does not have the form of a mark.
    init?(cookieValue: Span<UInt8>) {
        guard let all = Base64URL.decode(cookieValue),
            [Self.byteCount, Self.byteCount + SignedPurpose.byteCount].contains(all.count)
        else { return nil }
        self.init(Array(all.prefix(Self.byteCount)), signature: Array(all.dropFirst(Self.byteCount)))
    }

    /// The cookie's value: base64url without padding, 22 characters, or 43 with the signature.
    var cookieValue: String { Base64URL.encode(bytes + signature) }
}

/// Creates and verifies browser marks.
struct BrowserMarks: Sendable {
    let store: SessionStore
    let cookie: SessionCookie
    let randomBytes: @Sendable (Int) -> [UInt8]

    /// Returns the mark of a request; nil if it has none.
    func mark(in head: RequestHead) -> BrowserMark? { cookie.mark(in: head) }

    /// Returns a mark for a browser that has none.
    func fresh() -> BrowserMark { BrowserMark(randomBytes(16)) }

    /// Whether the mark has this server's signature, which a browser gets with its first sign-in.
    func hasSignedIn(_ mark: BrowserMark) -> Bool {
        mark.saysSignedIn && store.isSigned(mark.bytes, as: .browser, by: mark.signature)
    }

    private func signed(_ mark: BrowserMark) -> BrowserMark {
        BrowserMark(mark.bytes, signature: store.sign(mark.bytes, as: .browser))
    }

    /// Returns the response with a signed mark, for a browser in which a sign-in has just succeeded.
    func noteSignIn(_ head: RequestHead, on response: Response) -> Response {
        let mark = mark(in: head) ?? fresh()
        return hasSignedIn(mark) ? response : cookie.setting(signed(mark), on: response)
    }
}
