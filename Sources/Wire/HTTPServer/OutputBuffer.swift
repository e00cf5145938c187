import CLinux
import Foundation
import HTTPTypes
import HTTPWire
import WebFormats

/// The buffer in which a worker builds responses: heads with the fixed fields and the date, followed by small bodies.
/// All connections of a worker use one buffer in turn, and it is never copied.
struct OutputBuffer: ~Copyable {
    /// Larger bodies are not copied, but sent from their own memory.
    private static let maxCopiedBody = 16 * 1024
    /// Responses to pipelined requests are sent together up to this size.
    private static let maxBytes = 64 * 1024

    private(set) var bytes: [UInt8] = []
    private let fields: ContentFields
    private var date: [UInt8] = []
    private var dateLine: [UInt8] = []
    private var dateSecond: time_t = -1

    init(_ fields: ContentFields) {
        self.fields = fields
        bytes.reserveCapacity(Self.maxBytes)
    }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= 4 * Self.maxBytes)
    }

    func hasRoom(for bodyCount: Int) -> Bool {
        bodyCount <= Self.maxCopiedBody && bytes.count + bodyCount <= Self.maxBytes
    }

    mutating func append(_ body: ArraySlice<UInt8>) { bytes += body }

    mutating func appendContinue() { bytes += ResponseWriter.continueResponse }

    mutating func appendHead(of response: Response, _ persistence: Persistence) {
        updateDate()
        fields.writer(for: response.headerFields).appendHead(
            status: response.status, headerFields: response.headerFields, contentLength: response.body.count,
            to: &bytes, date: date, persistence: persistence)
    }

    /// Appends the head of a prepared response.
    mutating func appendHead(of response: PreparedResponse, _ persistence: Persistence) {
        updateDate()
        bytes += fields.assetHeads[response.kind].ok
        bytes += response.lines
        bytes += dateLine
        bytes += ResponseWriter.headEnd(persistence)
    }

    /// Appends a head from prepared parts: only the length and position of a part are rendered.
    mutating func appendHead(of asset: Asset, _ answer: AssetAnswer, _ persistence: Persistence) {
        updateDate()
        let heads = fields.assetHeads[asset.kind]
        switch answer {
        case .whole:
            bytes += heads.ok
            bytes += asset.contentLines
            bytes += asset.lengthLine
        case .part(let range):
            bytes += heads.partialContent
            bytes += asset.contentLines
            bytes += "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(asset.body.count)\r\n".utf8
            bytes += "Content-Length: \(range.count)\r\n".utf8
        case .notModified:
            bytes += heads.notModified
            bytes += asset.notModifiedLines
        case .refused:
            return
        }
        bytes += dateLine
        bytes += ResponseWriter.headEnd(persistence)
    }

    /// Updates the date. The clock is read without a system call (vDSO), and the text is made once a second.
    private mutating func updateDate() {
        let second = time(nil)
        guard second != dateSecond else { return }
        dateSecond = second
        date = HTTPDate(secondsSince1970: Int64(second)).bytes
        dateLine = ResponseWriter.dateName + date + ResponseWriter.lineEnd
    }

    /// Sends the buffer and then `body` with one system call.
    /// - Returns: The number of bytes that the kernel took, 0 when it has no room, or -1 when the connection is gone.
    func send(to descriptor: Int32, _ body: ArraySlice<UInt8>) -> Int {
        guard !body.isEmpty else { return Self.send(bytes[...], to: descriptor) }
        return bytes.withUnsafeBytes { head in
            body.withUnsafeBytes { body in
                var parts = [head, body].map {
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
                }
                return parts.withUnsafeMutableBufferPointer { parts in
                    var message = msghdr()
                    message.msg_iov = parts.baseAddress
                    message.msg_iovlen = parts.count
                    return Self.retrying { sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL)) }
                }
            }
        }
    }

    /// Sends one part with one system call; returns the same values.
    static func send(_ part: ArraySlice<UInt8>, to descriptor: Int32) -> Int {
        part.withUnsafeBytes { bytes in
            retrying { Foundation.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
        }
    }

    private static func retrying(_ call: () -> Int) -> Int {
        while true {
            let count = call()
            if count >= 0 { return count }
            if errno == EAGAIN { return 0 }
            if errno != EINTR { return -1 }
        }
    }
}
