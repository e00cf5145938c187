import Testing

@testable import Companion
@testable import CompanionCore

/// An address in the configuration is accepted only if every other reader takes it for the same.
@Suite struct ConfiguredAddressTests {
    @Test(arguments: [
        "127.0.0.1:+80", "127.0.0.1:-0", "127.0.0.1:", "127.0.0.1:65536", ":80", "[]:80", "]::1[:80", "[::1:80",
        "::1]:80",
        "[[::1]]:80",
    ])
    func `an invalid address to listen on is refused`(_ text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test(arguments: [("localhost:0", "localhost", 0), ("[::1]:65535", "::1", 65535), ("0.0.0.0:080", "0.0.0.0", 80)])
    func `a valid address to listen on is accepted`(_ text: String, _ host: String, _ port: Int) {
        #expect(ListenAddress(text) == ListenAddress(host: host, port: port))
    }

    @Test(arguments: [
        "https://a.example:+443", "https://a.example:", "https://a<b", "https://a\"b", "https://a%2eb", "https://[::1",
        "https://[::g]", "https://[]", "https://[::1]x", "https://a..b", "https://a,b", "https://*",
    ])
    func `an invalid public URL is refused`(_ text: String) {
        #expect(throws: PublicURL.Mistake.self) { try PublicURL(text) }
    }

    @Test(arguments: [
        ("https://A.Example:443", "https://a.example"),
        ("https://[2001:DB8::1]:8443/x", "https://[2001:db8::1]:8443/x"),
        ("http://a_b.localhost:080", "http://a_b.localhost"),
        ("https://xn--kse-qla.example", "https://xn--kse-qla.example"),
    ])
    func `a valid public URL is accepted`(_ text: String, _ address: String) throws {
        #expect(try PublicURL(text).address == address)
    }

    @Test(arguments: ["10.0.0.0/+8", "10.0.0.0/-0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/8/8", "::/129"])
    func `an invalid network is refused`(_ text: String) {
        #expect(AddressRange(text) == nil)
    }
}
