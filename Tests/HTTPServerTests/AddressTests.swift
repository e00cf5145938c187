import HTTPServer
import TestSupport
import Testing

/// Addresses: how they are read, and which of them are counted.
@Suite struct AddressTests {
    @Test func `connections of an address that stands for many are not counted`() async throws {
        try await withServer(configure: {
            $0.addressLimit = .init(maxConnections: 1, isExempt: { $0.ip == "127.0.0.2" })
        }) { port, _ in
            for _ in 0..<2 {
                let fronts = try (0..<4).map { _ in try RawClient(port: port, from: 0x7F00_0002) }
                #expect(try await blocking { try fronts.map { try $0.hello() } } == [200, 200, 200, 200])
                for front in fronts { front.close() }
            }
            let client = try RawClient(port: port)
            #expect(try await blocking { try client.hello() } == 200)
        }
    }

    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7:0"), ("192.0.2.7:443", "192.0.2.7:443"), ("2001:db8::1", "[2001:db8::1]:0"),
        ("[2001:DB8::1]", "[2001:db8::1]:0"), ("[2001:db8::1]:8080", "[2001:db8::1]:8080"), ("::1", "[::1]:0"),
        ("::ffff:192.0.2.7", "192.0.2.7:0"), ("[::ffff:192.0.2.7]:1", "192.0.2.7:1"), ("::", "[::]:0"),
    ])
    func `an address that a front has forwarded is read`(text: String, address: String) {
        #expect(PeerAddress(forwarded: text[...])?.description == address)
    }

    @Test(arguments: [
        "", "unknown", "_hidden", "192.0.2", "192.0.2.7.8", "192.0.2.256", "192.0.2.7:", "192.0.2.7:65536",
        "192.0.2.7:8x", "192.0.2.7 ", "[2001:db8::1", "2001:db8::1]", "[2001:db8::1]8080", "[2001:db8::1]:",
        "[192.0.2.7]", "[]", "[", "]", ":", ":::", "1::2::3", "fe80::1%eth0", "\"[::1]\"", "::1\u{0}", "example.com",
        String(repeating: "1", count: 1000),
    ])
    func `text that is not an address is refused`(text: String) {
        #expect(PeerAddress(forwarded: text[...]) == nil)
    }

    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7:8080", true), ("192.0.2.7", "192.0.2.7", true),
        ("2001:db8::7", "[2001:DB8:0::7]:80", true),
        ("192.0.2.8", "192.0.2.7:8080", false), ("192.0.2.7", "mymac.local:8080", false), ("::1", "localhost", false),
        ("192.0.2.7", "", false),
    ])
    func `an address is named by the host of a request, not by a name of it`(peer: String, host: String, isNamed: Bool)
        throws
    {
        #expect(try #require(PeerAddress(forwarded: peer[...])).isNamed(by: host) == isNamed)
    }

    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7:99", true), ("192.0.2.7", "::ffff:192.0.2.7", true), ("192.0.2.7", "192.0.2.8", false),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true), ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
        // An address of IPv4 whose bits are those of a network of IPv6.
        ("0.0.0.1", "0:0:0:1::", false),
    ])
    func `clients are counted by the network that one customer has`(one: String, other: String, isSame: Bool) throws {
        let one = try #require(PeerAddress(forwarded: one[...]))
        let other = try #require(PeerAddress(forwarded: other[...]))
        #expect((one.network == other.network) == isSame)
    }
}

extension RawClient {
    fileprivate func hello() throws -> Int {
        try send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        return try answer().status
    }
}
