import HTTPTypes
import HTTPWire

/// A GET or HEAD that is sent again and again: checked, and written as far as it is always the same.
/// `HTTPClient.frequent` makes them.
public struct FrequentRequest: Sendable {
    /// As libcurl gets it, without the fields that are added.
    let outgoing: OutgoingRequest
    /// `scheme://authority`: what has connections in common.
    let origin: String
    fileprivate let request: HTTPRequest
    fileprivate let writer: RequestWriter

    init(_ request: HTTPRequest, userAgent: String) throws(HTTPClientError) {
        outgoing = try OutgoingRequest(request, body: [])
        self.request = request
        origin = "\(outgoing.isSecure ? "https" : "http")://\(outgoing.authority.lowercased())"
        guard request.method == .get || request.method == .head else {
            throw .invalid("\(outgoing.authority): a frequent request is GET or HEAD")
        }
        // What libcurl adds to a request. Coded bodies are its to decode.
        var fields: HTTPFields = [.userAgent: userAgent, .accept: "*/*", .acceptEncoding: "identity"]
        for field in request.headerFields { fields[field.name] = nil }
        fields.append(contentsOf: request.headerFields)
        // RFC 9110 section 4.2.3: the scheme's own port is left away.
        let port = outgoing.isSecure ? ":443" : ":80"
        let host =
            outgoing.authority.hasSuffix(port) ? outgoing.authority.dropLast(port.count) : outgoing.authority[...]
        do throws(RequestWriter.Problem) {
            writer = try RequestWriter(
                method: request.method, target: request.path ?? "/", host: String(host), headerFields: fields)
        } catch {
            throw .invalid(outgoing.authority, error)
        }
    }
}

/// A `FrequentRequest` as it goes out this time.
struct DirectRequest: Sendable {
    let origin: String
    let method: HTTPRequest.Method
    /// All of it.
    let bytes: [UInt8]
    private let request: HTTPRequest
    private let added: HTTPFields

    init(_ frequent: FrequentRequest, adding fields: HTTPFields) throws(HTTPClientError) {
        do throws(RequestWriter.Problem) {
            bytes = try frequent.writer.request(adding: fields)
        } catch {
            throw .invalid(frequent.outgoing.authority, error)
        }
        origin = frequent.origin
        method = frequent.request.method
        request = frequent.request
        added = fields
    }

    /// The same for libcurl.
    var outgoing: OutgoingRequest {
        get throws(HTTPClientError) {
            var request = request
            request.headerFields.append(contentsOf: added)
            return try OutgoingRequest(request, body: [])
        }
    }
}

extension HTTPClientError {
    fileprivate static func invalid(_ authority: String, _ problem: RequestWriter.Problem) -> HTTPClientError {
        switch problem {
        case .invalidValue(let name): .invalid("\(authority): \(name.rawName) has a value that cannot be sent")
        case .reserved(let name): .invalid("\(authority): \(name.rawName) is the client's to send")
        case .invalidHost: .invalid("\(authority): the authority is not a host with an optional port")
        case .invalidMethod, .invalidTarget: .invalid("\(authority): the request line cannot be sent")
        }
    }
}
