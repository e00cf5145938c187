/// How much of a message's frame is read before it is refused. The size of a body is limited apart from it, for each
/// resource: `maxBodyBytes` of the parsers.
public struct WireLimits: Sendable, Hashable {
    /// First line and fields, in bytes, their line ends included. At most 65535 counts. 16 KiB is what Node.js and
    /// Chromium's peers settled on; Apache and nginx read 8 KiB per line.
    public var maxHeadBytes = 16 * 1024
    /// Field lines in one head, and in one trailer section. Apache's default.
    public var maxFields = 100
    /// The trailer section in bytes.
    public var maxTrailerBytes = 8 * 1024
    /// One chunk-size line in bytes, extensions included.
    public var maxChunkLineBytes = 256
    /// Chunk extensions in one body, in bytes. Nothing uses them; without a bound, bodies of one-byte chunks cost
    /// hundreds of times their size (as CVE-2023-39326 in Go).
    public var maxChunkExtensionBytes = 4096

    /// The limits for requests, which strangers send.
    public init() {}

    /// The limits for responses, interim ones counted with the final one. The client has chosen their senders, which say
    /// more than browsers: policies and diagnostics take some of Microsoft's heads beyond 8 KiB. Chromium reads 256 KiB,
    /// libcurl 300 KiB, Go 1 MiB; 64 KiB is ample.
    public static let responses: WireLimits = {
        var limits = WireLimits()
        limits.maxHeadBytes = Int(UInt16.max)
        limits.maxFields = 256
        return limits
    }()

    /// The head limit that the parser works with: offsets in a head are kept in 16 bits.
    var headWindow: Int { min(max(maxHeadBytes, 0), Int(UInt16.max)) }
}
