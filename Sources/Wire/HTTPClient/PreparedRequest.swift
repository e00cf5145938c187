import HTTPTypes
import HTTPWire

/// A checked request, whose constant part is already written. `HTTPClient.prepare` creates it.
public struct PreparedRequest: Sendable {
    let method: HTTPRequest.Method
    let authority: String
    let isSecure: Bool
    /// `scheme://authority`, which is the same for all requests that can share connections.
    let origin: String
    private let writer: RequestWriter

    init(_ request: HTTPRequest, userAgent: String) throws(HTTPClientError) {
        guard let scheme = request.scheme?.lowercased(), scheme == "https" || scheme == "http" else {
            throw .invalid("the scheme must be http or https")
        }
        guard let authority = request.authority, !authority.isEmpty, authority.utf8.allSatisfy(Self.isAuthorityByte)
        else {
            throw .invalid("the authority must be a host, with a port where needed, and without user information")
        }
        method = request.method
        self.authority = authority
        isSecure = scheme == "https"
        origin = "\(scheme)://\(authority.lowercased())"
        // Responses are short, and decoding costs more than it saves; gzip is decoded nevertheless if a server sends
        // it.
        var fields: HTTPFields = [.userAgent: userAgent, .accept: "*/*", .acceptEncoding: "identity"]
        for field in request.headerFields { fields[field.name] = nil }
        fields.append(contentsOf: request.headerFields)
        // RFC 9110 section 4.2.3: the scheme's default port is omitted.
        let port = isSecure ? ":443" : ":80"
        let host = authority.hasSuffix(port) ? authority.dropLast(port.count) : authority[...]
        do throws(RequestWriter.Problem) {
            writer = try RequestWriter(
                method: method, target: request.path ?? "", host: String(host), headerFields: fields)
        } catch {
            throw .invalid(authority, error)
        }
    }

    /// Whether it may be sent once more when its connection ends before the response (RFC 9110 section 9.2.2). Other
    /// requests may not: it would be unknown whether a code or a refresh token was used.
    var isRepeatable: Bool { method == .get || method == .head }

    /// Returns the whole request for one transfer.
    func bytes(adding fields: HTTPFields, body: [UInt8]) throws(HTTPClientError) -> [UInt8] {
        let hasBody = !body.isEmpty || [.post, .put, .patch].contains(method)
        do throws(RequestWriter.Problem) {
            return try writer.request(adding: fields, body: hasBody ? body : nil)
        } catch {
            throw .invalid(authority, error)
        }
    }

    private static func isAuthorityByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
            true
        default: false
        }
    }
}

/// The person for whom a request is sent, and the identifier by which its response is recognized.
public struct RequestOwner: Sendable {
    let account: String
    let requestID: String

    /// Creates the owner of a request.
    ///
    /// - Parameters:
    ///   - account: a unique name for the person whose token the request carries.
    ///   - requestID: sent as `client-request-id`. A response with another one is refused.
    public init(account: String, requestID: String) {
        self.account = account
        self.requestID = requestID
    }

    /// The fields that ask a server to return the identifier, as Microsoft's servers do.
    var fields: HTTPFields { [.clientRequestID: requestID, .returnClientRequestID: "true"] }
}

extension HTTPClientError {
    fileprivate static func invalid(_ reason: String) -> HTTPClientError {
        HTTPClientError(kind: .invalidRequest, reason: reason)
    }

    fileprivate static func invalid(_ authority: String, _ problem: RequestWriter.Problem) -> HTTPClientError {
        switch problem {
        case .invalidValue(let name): .invalid("\(authority): \(name.rawName) has a value that cannot be sent")
        case .reserved(let name): .invalid("\(authority): \(name.rawName) is set by the client")
        case .invalidHost: .invalid("\(authority): the authority is not a host with an optional port")
        case .invalidMethod: .invalid("\(authority): the method cannot be sent")
        case .invalidTarget:
            .invalid("\(authority): the path must begin with / and be percent-encoded, without a fragment")
        }
    }
}
