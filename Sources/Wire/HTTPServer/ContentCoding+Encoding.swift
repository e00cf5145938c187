import CBrotli
import CZlib
package import HTTPWire

extension ContentCoding {
    /// Quality 11 is 3 % smaller and takes twice as long.
    private static let brotliQuality: Int32 = 10
    /// No file of a page is larger than this window of 256 KB, and a larger one only costs memory.
    private static let brotliWindow: Int32 = 18
    private static let gzipLevel: Int32 = 9
    private static let gzipMemoryLevel: Int32 = 8
    /// The largest window, with gzip's header and trailer instead of zlib's.
    private static let gzipWindow: Int32 = 15 + 16

    /// Returns the content in this coding; nil if it is not smaller, or there is no memory.
    func encode(_ content: [UInt8]) -> [UInt8]? {
        guard content.count > 1 else { return nil }
        var isComplete = false
        let encoded = [UInt8](unsafeUninitializedCapacity: content.count - 1) { buffer, count in
            switch self {
            case .brotli: (isComplete, count) = Self.brotli(content, into: buffer)
            case .gzip: (isComplete, count) = Self.gzip(content, into: buffer)
            }
        }
        return isComplete ? encoded : nil
    }

    private static func brotli(_ content: [UInt8], into buffer: UnsafeMutableBufferPointer<UInt8>) -> (Bool, Int) {
        var count = buffer.count
        let result = BrotliEncoderCompress(
            brotliQuality, brotliWindow, BROTLI_MODE_TEXT, content.count, content, &count, buffer.baseAddress)
        return (result == BROTLI_TRUE, result == BROTLI_TRUE ? count : 0)
    }

    private static func gzip(_ content: [UInt8], into buffer: UnsafeMutableBufferPointer<UInt8>) -> (Bool, Int) {
        var stream = z_stream()
        guard let size = UInt32(exactly: content.count),
            deflateInit2_(
                &stream, gzipLevel, Z_DEFLATED, gzipWindow, gzipMemoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return (false, 0) }
        defer { deflateEnd(&stream) }
        return content.withUnsafeBufferPointer { content in
            // zlib does not write to its input, although the type would allow it.
            stream.next_in = UnsafeMutablePointer(mutating: content.baseAddress)
            stream.avail_in = size
            stream.next_out = buffer.baseAddress
            stream.avail_out = UInt32(buffer.count)
            return deflate(&stream, Z_FINISH) == Z_STREAM_END ? (true, Int(stream.total_out)) : (false, 0)
        }
    }
}

extension Response {
    /// Returns the response compressed, if its request accepts that. It takes a few milliseconds, each time.
    ///
    /// The length tells what is in it: not for a page with a secret beside what a stranger can put there (BREACH).
    package func compressed(for head: RequestHead) -> Response {
        var response = self
        response.headerFields[.vary] = "Accept-Encoding"
        guard let coding = head[.acceptEncoding].flatMap({ AcceptEncoding($0).best(of: [.gzip]) }),
            let encoded = coding.encode(body)
        else { return response }
        response.headerFields[.contentEncoding] = coding.rawValue
        response.body = encoded
        return response
    }
}
