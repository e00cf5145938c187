import Testing
import WebFormats

@Suite struct LoopbackTests {
    @Test(
        arguments: [
            ("localhost", true), ("LOCALHOST", true), ("app.localhost", true), ("a.b.Localhost", true),
            ("127.0.0.1", true), ("127.0.0.2", true), ("127.255.255.255", true), ("::1", true), ("[::1]", true),
            ("", false), ("localhost.", false), (".localhost", false), ("a..localhost", false), ("notlocalhost", false),
            ("localhost.example", false), ("127.0.0.1.example", false), ("127.0.0", false), ("127.0.0.256", false),
            ("127.0.0.+1", false), ("127.0.0.", false), ("127.1", false), ("0127.0.0.1", false), ("128.0.0.1", false),
            ("10.0.0.1", false), ("0.0.0.0", false), ("::", false), ("[::1", false), ("::ffff:127.0.0.1", false),
            ("2130706433", false), ("example", false),
        ])
    func `a host is this machine, or not`(_ host: String, _ isLoopback: Bool) {
        #expect(Loopback.contains(host) == isLoopback)
    }

    @Test(
        arguments: [
            ("localhost", true), ("localhost:8080", true), ("app.localhost:1", true), ("127.0.0.1:80", true),
            ("[::1]", true), ("[::1]:8080", true), ("::1", false), ("[::1]x", false), ("[::1", false),
            ("localhost.example:80", false), ("example:80", false), ("", false), (":80", false), ("[]", false),
        ])
    func `a host with a port is this machine, or not`(_ authority: String, _ isLoopback: Bool) {
        #expect(Loopback.contains(authority: authority) == isLoopback)
    }
}
