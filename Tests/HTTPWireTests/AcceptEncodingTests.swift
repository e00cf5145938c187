import HTTPWire
import Testing

@Suite struct AcceptEncodingTests {
    private static let rows: [(field: String, coding: ContentCoding?)] = [
        ("gzip, deflate, br, zstd", .brotli), ("gzip, deflate", .gzip), ("br", .brotli), ("", nil),
        ("deflate", nil), ("identity", nil), ("*", .brotli), ("*;q=0", nil), ("br;q=0, *", .gzip),
        ("gzip;q=0.8, br;q=0.5", .gzip), ("gzip;q=0.8, br;q=0.8", .brotli), ("br;q=0", nil),
        ("br;q=0, gzip;q=0.001", .gzip), ("br;q=0.000, gzip;q=1.000", .gzip), ("identity;q=0, gzip", .gzip),
        ("identity, gzip;q=0.9", nil), ("identity;q=0.5, gzip;q=0.9", .gzip), ("gzip, identity", .gzip),
        ("identity;q=0", nil), ("GZIP;Q=0.5", .gzip), ("x-gzip", .gzip), ("\tgzip ; q=1 ,br ;q=0", .gzip),
        // Not well-formed, and so not sent.
        ("br;q=1.001, gzip", .gzip), ("br;q=2, gzip", .gzip), ("br;q=0.1234, gzip;q=0.1", .gzip),
        ("br;q=, gzip;q=0.1", .gzip), ("br;q=x, gzip;q=0.1", .gzip), ("br;level=1, gzip;q=0.1", .gzip),
        ("br;q=-1, gzip;q=0.1", .gzip), ("br;, gzip;q=0.1", .gzip), ("br gzip", nil), ("brr, gzipp", nil),
        (";q=1,,;,", nil), ("br;q=1e0, gzip;q=0.1", .gzip), ("b\u{301}r", nil), ("br;q=.5", nil),
        (String(repeating: "x,", count: 15) + "gzip", .gzip), (String(repeating: "x,", count: 16) + "gzip", nil),
    ]

    @Test(arguments: rows) func `a client gets the coding that it prefers, or none`(
        field: String, coding: ContentCoding?
    ) {
        #expect(AcceptEncoding(field).best(of: ContentCoding.allCases) == coding)
    }

    @Test func `only an available coding can be chosen`() {
        #expect(AcceptEncoding("br, gzip;q=0.1").best(of: [.gzip]) == .gzip)
        #expect(AcceptEncoding("br, *").best(of: []) == nil)
    }
}
