/// A cookie to set, within the limits of RFC 6265 §4.1.1 for servers. Only valid cookies can be created.
public struct SetCookie: Sendable, Hashable {
    /// The cross-site requests with which the browser sends the cookie.
    public enum SameSite: String, Sendable, Hashable {
        case strict = "Strict", lax = "Lax", none = "None"
    }

    /// The reason for which a cookie cannot be sent.
    public enum Problem: Error, Sendable, Hashable {
        /// The name is empty or not a token.
        case invalidName
        /// The value has a byte outside of `cookie-octet`: encode it (base64url, percent-encoding) first.
        case invalidValue
        /// The path does not begin with `/` or has a control character or a semicolon.
        case invalidPath
        /// Browsers ignore a cookie whose name and value have more than 4096 bytes.
        case tooLong
        /// `SameSite=None`, `__Secure-` and `__Host-` need Secure; `__Host-` needs the path `/`.
        case insecure
    }

    /// The name.
    public let name: String
    /// The value.
    public let value: String
    /// The path under which the browser sends it.
    public let path: String
    /// The number of seconds for which the browser keeps it; 0 removes it now, nil keeps it until the browser closes.
    public let maxAge: Int?
    /// Whether it is sent over https only.
    public let secure: Bool
    /// Whether it is hidden from scripts.
    public let httpOnly: Bool
    /// The cross-site requests that carry it.
    public let sameSite: SameSite

    /// Creates a cookie; the defaults are the safe ones.
    public init(
        name: String, value: String, path: String = "/", maxAge: Int? = nil, secure: Bool = true,
        httpOnly: Bool = true, sameSite: SameSite = .lax
    ) throws(Problem) {
        guard !name.isEmpty, name.utf8.allSatisfy(ASCII.isToken) else { throw .invalidName }
        guard value.utf8.allSatisfy(Self.isCookieOctet) else { throw .invalidValue }
        guard path.utf8.first == ASCII.slash,
            path.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && $0 != ASCII.semicolon })
        else { throw .invalidPath }
        guard name.utf8.count + value.utf8.count <= 4096 else { throw .tooLong }
        guard secure || (sameSite != .none && !name.hasPrefix("__Secure-") && !name.hasPrefix("__Host-")),
            path == "/" || !name.hasPrefix("__Host-")
        else { throw .insecure }
        self.name = name
        self.value = value
        self.path = path
        self.maxAge = maxAge.map { max(0, $0) }
        self.secure = secure
        self.httpOnly = httpOnly
        self.sameSite = sameSite
    }

    /// The Set-Cookie field's value.
    public var headerValue: String {
        var text = "\(name)=\(value); Path=\(path)"
        if let maxAge { text += "; Max-Age=\(maxAge)" }
        if secure { text += "; Secure" }
        if httpOnly { text += "; HttpOnly" }
        return text + "; SameSite=\(sameSite.rawValue)"
    }

    private static func isCookieOctet(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x23...0x2B, 0x2D...0x3A, 0x3C...0x5B, 0x5D...0x7E: true
        default: false
        }
    }
}
