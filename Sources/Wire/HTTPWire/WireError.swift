public import HTTPTypes

/// The reason for which a request or a response cannot be read. After any of these errors in a request, send `status`
/// and close the connection: the beginning of the next request is no longer known, and guessing it is what makes
/// request smuggling possible (RFC 9112 §11.2). After an error in a response, close the connection for the same reason.
public enum WireError: UInt8, Error, Sendable, Hashable, CaseIterable {
    // The lines themselves.
    case bareCarriageReturn, bareLineFeed, controlCharacter
    // The request line.
    case invalidRequestLine, invalidMethod, invalidTarget, invalidVersion, unsupportedVersion, targetTooLong
    case connectNotSupported
    // The status line.
    case invalidStatusLine, unexpectedUpgrade
    // Fields.
    case invalidFieldName, spaceBeforeColon, missingColon, foldedLine, headTooLarge, tooManyFields
    case missingHost, repeatedHost, invalidHost
    // Framing.
    case invalidContentLength, repeatedContentLength, contentLengthWithTransferEncoding
    case invalidTransferEncoding, repeatedTransferEncoding, transferEncodingInHTTP10
    // The body.
    case invalidChunkSize, chunkLineTooLong, chunkExtensionsTooLong, missingChunkEnd, trailersTooLarge, bodyTooLarge

    /// The status of the response.
    public var status: HTTPResponse.Status {
        switch self {
        case .targetTooLong: .uriTooLong
        case .headTooLarge, .tooManyFields, .trailersTooLarge: .requestHeaderFieldsTooLarge
        case .bodyTooLarge: .contentTooLarge
        case .connectNotSupported: .notImplemented
        case .unsupportedVersion: .httpVersionNotSupported
        default: .badRequest
        }
    }

    /// One sentence for the response's body and the log; it quotes no byte of the request.
    public var reason: String {
        switch self {
        case .bareCarriageReturn: "A line contains a carriage return that no line feed follows."
        case .bareLineFeed: "A line ends in a line feed without a carriage return."
        case .controlCharacter: "The head contains a control character."
        case .invalidRequestLine: "The request line is not METHOD TARGET HTTP/1.1 with single spaces."
        case .invalidMethod: "The method is not a token."
        case .invalidTarget: "The request target is not a path, an http or https URL, or * for OPTIONS."
        case .invalidVersion: "The request line does not end in an HTTP version."
        case .unsupportedVersion: "This server speaks HTTP/1.1 and HTTP/1.0."
        case .targetTooLong: "The request line is longer than this server reads."
        case .connectNotSupported: "This server is not a proxy: CONNECT is not supported."
        case .invalidStatusLine: "The status line is not HTTP/1.1 with a status of three digits."
        case .unexpectedUpgrade: "The response switches to another protocol, which was not requested."
        case .invalidFieldName: "A field name is empty or contains a character that is not allowed."
        case .spaceBeforeColon: "There is white space between a field name and its colon."
        case .missingColon: "A field line has no colon."
        case .foldedLine: "A field line begins with white space (line folding is not allowed)."
        case .headTooLarge: "The request's head is larger than this server reads."
        case .tooManyFields: "The request has more fields than this server reads."
        case .missingHost: "An HTTP/1.1 request needs a Host field."
        case .repeatedHost: "The request has more than one Host field."
        case .invalidHost: "The request's host is not a valid host name with an optional port."
        case .invalidContentLength: "Content-Length is not one decimal number."
        case .repeatedContentLength: "The request has more than one Content-Length."
        case .contentLengthWithTransferEncoding: "The request has both Content-Length and Transfer-Encoding."
        case .invalidTransferEncoding: "The only transfer coding that this server reads is one chunked."
        case .repeatedTransferEncoding: "The request has more than one Transfer-Encoding."
        case .transferEncodingInHTTP10: "HTTP/1.0 has no Transfer-Encoding."
        case .invalidChunkSize: "A chunk's size is not a hexadecimal number."
        case .chunkLineTooLong: "A chunk's size line is longer than this server reads."
        case .chunkExtensionsTooLong: "The chunk extensions are longer than this server reads."
        case .missingChunkEnd: "A chunk does not end where its size says."
        case .trailersTooLarge: "The trailer section is larger than this server reads."
        case .bodyTooLarge: "The request's body is larger than this resource accepts."
        }
    }
}
