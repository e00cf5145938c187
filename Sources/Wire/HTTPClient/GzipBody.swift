import CZlib
import HTTPTypes
import HTTPWire

/// Decodes bodies with `Content-Encoding: gzip`, which some servers send without being asked.
enum GzipBody {
    enum Failure: Error { case tooLarge, invalid }

    private static let pieceBytes = 32_768
    /// The largest window, with gzip's header and trailer instead of zlib's.
    private static let window: Int32 = 15 + 16

    /// Returns the whole content.
    static func decode(_ coded: [UInt8], maxBytes: Int) throws(Failure) -> [UInt8] {
        var stream = z_stream()
        guard inflateInit2_(&stream, window, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw .invalid
        }
        defer { inflateEnd(&stream) }
        var decoded: [UInt8] = []
        var code = Z_OK
        coded.withUnsafeBufferPointer { coded in
            // zlib does not write to its input, although the type would allow it.
            stream.next_in = UnsafeMutablePointer(mutating: coded.baseAddress)
            stream.avail_in = UInt32(clamping: coded.count)
            while code == Z_OK, decoded.count <= maxBytes {
                decoded += [UInt8](unsafeUninitializedCapacity: pieceBytes) { piece, count in
                    stream.next_out = piece.baseAddress
                    stream.avail_out = UInt32(pieceBytes)
                    code = inflate(&stream, Z_NO_FLUSH)
                    count = pieceBytes - Int(stream.avail_out)
                }
            }
        }
        guard decoded.count <= maxBytes else { throw .tooLarge }
        guard code == Z_STREAM_END, stream.avail_in == 0 else { throw .invalid }
        return decoded
    }
}

extension Transfer {
    /// Returns the response with this head and the decoded body.
    func response(_ head: ResponseHead, _ body: [UInt8]) -> Result<HTTPClientResponse, HTTPClientError> {
        guard head.framing != .none, let coding = head[.contentEncoding]?.lowercased(), coding != "identity" else {
            return .success(HTTPClientResponse(head, body: body))
        }
        guard coding == "gzip" || coding == "x-gzip" else {
            return .failure(
                .init(kind: .other, reason: "\(authority): the answer has a content coding that was not requested"))
        }
        do throws(GzipBody.Failure) {
            let decoded = try GzipBody.decode(body, maxBytes: maxBodyBytes)
            return .success(HTTPClientResponse(head.without([.contentEncoding, .contentLength]), body: decoded))
        } catch .tooLarge {
            return .failure(.tooLarge("body", authority))
        } catch {
            return .failure(.init(kind: .other, reason: "\(authority): the answer cannot be decoded"))
        }
    }
}
