/// The limits on the parts of a message other than the body. The size of a body is limited separately for each
/// resource: `maxBodyBytes` of the parsers.
public struct WireLimits: Sendable, Hashable {
    /// The first line and the fields, in bytes, including their line ends; at most 65535. Node.js and the peers of
    /// Chromium use 16 KiB; Apache and nginx read 8 KiB per line.
    public var maxHeadBytes = 16 * 1024
    /// The field lines in one head, and in one trailer section. This is Apache's default.
    public var maxFields = 100
    /// The trailer section in bytes.
    public var maxTrailerBytes = 8 * 1024
    /// One chunk-size line in bytes, including extensions.
    public var maxChunkLineBytes = 256
    /// Chunk extensions in one body, in bytes. Nothing uses them. Without a limit, bodies of one-byte chunks cost
    /// hundreds of times their size (CVE-2023-39326 in Go is an example).
    public var maxChunkExtensionBytes = 4096

    /// Creates the limits for requests, which strangers send.
    public init() {}

    /// The limits for responses; interim ones count with the final one. The client has chosen their senders, which send
    /// more than browsers: policies and diagnostics make some of Microsoft's heads larger than 8 KiB. Chromium reads
    /// 256 KiB, libcurl 300 KiB, Go 1 MiB; 64 KiB is ample.
    public static let responses: WireLimits = {
        var limits = WireLimits()
        limits.maxHeadBytes = Int(UInt16.max)
        limits.maxFields = 256
        return limits
    }()

    /// The head limit that the parser works with: offsets in a head are kept in 16 bits.
    var headWindow: Int { min(max(maxHeadBytes, 0), Int(UInt16.max)) }
}
