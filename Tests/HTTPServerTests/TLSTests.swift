import EventLoop
import Foundation
import HTTPServer
import TLS
import TLSClient
import TestSupport
import Testing

/// The differences between TLS and plain text, for a client. Everything else is in the suites that run on both transports.
@Suite(.timeLimit(.minutes(5))) struct TLSTests {
    private static let hello = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"

    /// Opens connections, some of which resume, and uses each for some requests; all are answered.
    /// - Returns: The serial numbers of the certificates of full handshakes.
    private static func serialsUnderLoad(_ port: Int, connections: Int) throws -> Set<Int> {
        var (serials, ticket): (Set<Int>, RawClient.Ticket?) = ([], nil)
        for number in 0..<connections {
            let client = try RawClient(port: port, handshake: .init(ticket: number % 2 == 0 ? nil : ticket))
            #expect(client.isResumed == (number % 2 == 1))
            for _ in 0..<3 {
                try client.send(hello)
                #expect(try client.answer().body == "hello")
            }
            if !client.isResumed { serials.insert(client.serial) }
            ticket = client.ticket
        }
        return serials
    }

    private func withTLS<Answer>(
        workers: Int = 2, _ certificate: ServerCertificate? = nil,
        configure: (inout ServerConfiguration) -> Void = { _ in },
        _ test: (_ port: Int, _ server: HTTPServer) async throws -> Answer
    ) async throws -> Answer {
        let certificate = try certificate ?? TestCertificate.server()
        return try await withServer(
            workers: workers,
            configure: {
                $0.certificate = certificate
                configure(&$0)
            }, test)
    }

    // MARK: The handshake

    @Test(arguments: [(0x0304, 0x0304), (0x0303, 0x0303), (0, 0x0304)])
    func `TLS 1-2 and 1-3 are spoken`(offered: Int, version: Int) async throws {
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init(version: Int32(offered)))
                try client.send(Self.hello)
                #expect(try client.answer().body == "hello")
                #expect(try client.version == version)
            }
        }
    }

    @Test(arguments: [0x0301, 0x0302]) func `older versions are refused with an alert`(version: Int32) async throws {
        try await withTLS { port, _ in
            try await blocking {
                // protocol_version, RFC 8446 section 6.2.
                _ = #expect(throws: RawClient.Failure.handshake(alert: 70)) {
                    try RawClient(port: port, handshake: .init(version: version))
                }
            }
        }
    }

    @Test(arguments: [
        (["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "http/1.1"), (["spdy/1", "http/1.1", "h2"], "http/1.1"),
        ([], ""),
    ]) func `HTTP-1-1 is chosen where it is offered`(offered: [String], chosen: String) async throws {
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init(protocols: offered))
                #expect(client.protocolName == chosen)
                try client.send(Self.hello)
                #expect(try client.answer().body == "hello")
            }
        }
    }

    @Test(arguments: [["h2"], ["http/1.0"], ["h2", "h3"]])
    func `a client that speaks no HTTP-1-1 gets an alert`(offered: [String]) async throws {
        try await withTLS { port, _ in
            try await blocking {
                // no_application_protocol, RFC 7301 section 3.2.
                _ = #expect(throws: RawClient.Failure.handshake(alert: 120)) {
                    try RawClient(port: port, handshake: .init(protocols: offered))
                }
            }
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HEAD / HTTP/1.1\r\n\r\n", "POST /x", "PUT /longer/path HTTP/1.1",
    ])
    func `plain HTTP gets an answer in plain HTTP`(request: String) async throws {
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: nil)
                try client.send(request)
                let answer = try client.answer()
                #expect(answer.status == 400)
                #expect(answer.fields["connection"] == "close")
                #expect(answer.body.contains("https://"))
                client.endOutput()
                #expect(client.rest().end == .closed)
            }
        }
    }

    @Test(arguments: [
        "DELETE / HTTP/1.1\r\n\r\n", "SSH-2.0-x\r\n", "\u{16}\u{3}\u{1}\u{0}\u{5}xxxxx",
        String(repeating: "\u{0}", count: 20_000),
    ])
    func `other bytes end the connection`(bytes: String) async throws {
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: nil)
                try client.send(bytes)
                let (text, end) = client.rest()
                #expect(end == .closed || end == .reset)
                #expect(!text.contains("HTTP/"))
            }
        }
    }

    @Test func `a handshake that is not finished in time is ended in silence`() async throws {
        try await withTLS(configure: { $0.deadlines.head = .milliseconds(300) }) { port, _ in
            try await blocking {
                for start in ["", "\u{16}\u{3}\u{1}\u{0}"] {
                    let client = try RawClient(port: port, handshake: nil)
                    try client.send(start)
                    #expect(client.rest() == ("", .closed))
                }
            }
        }
    }

    @Test func `a handshake that comes byte by byte has the head's time and no more`() async throws {
        try await withTLS(configure: { $0.deadlines.head = .milliseconds(400) }) { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: nil)
                let start = ContinuousClock.now
                // Slowly enough to be in time for no deadline that a byte restarts.
                for byte in try RawClient.hello() where !client.hasInput(withinMilliseconds: 20) {
                    try client.send([byte])
                }
                #expect(client.rest().text.isEmpty)
                #expect(start.duration(to: .now) < .seconds(3))
            }
        }
    }

    @Test func `a handshake goes on where the kernel had no room for all of it`() async throws {
        let made = try TestCertificate(serial: 1)
        // A chain of 60 KB, where the kernel takes a few.
        let chain = Array(repeating: made.chain, count: 150).flatMap(\.self)
        let certificate = try ServerCertificate(chain: chain, privateKey: made.key)
        let socket = try listeningSocket(sendBuffer: 1)
        try await withServer(inheriting: [socket], configure: { $0.certificate = certificate }) { port, _ in
            try await blocking {
                let client = try RawClient(
                    port: port, handshake: .init(pauseMicroseconds: 200_000), receiveBuffer: 4096)
                try client.send(Self.hello)
                #expect(try client.answer().body == "hello")
            }
        }
    }

    @Test func `hellos with wrong bytes, or cut off, leave the server to others`() async throws {
        try await withTLS(workers: 1) { port, server in
            try await blocking {
                let other = try RawClient(port: port, handshake: .init())
                let hello = try RawClient.hello()
                for number in 0..<300 {
                    var bytes = hello
                    // Each place in turn, and some of them cut there.
                    let place = number * 7 % hello.count
                    bytes[place] ^= UInt8(truncatingIfNeeded: number * 37 + 1)
                    if number % 3 == 0 { bytes.removeSubrange(place...) }
                    let client = try RawClient(port: port, handshake: nil)
                    try client.send(bytes)
                    client.endOutput()
                    let (_, end) = client.rest()
                    #expect(end == .closed || end == .reset)
                    // An error of one connection says nothing about another of the same thread.
                    try other.send(Self.hello)
                    #expect(try other.answer().body == "hello")
                }
            }
            #expect(await eventually { server.connectionCount == 0 })
        }
    }

    @Test func `a hello that is larger than any is refused before it has come`() async throws {
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: nil)
                // A message of 16 MB, in records of 16 KB.
                var (message, sent): ([UInt8], Int) = ([1, 0xFF, 0xFF, 0xFF] + Array(repeating: 3, count: 16_380), 0)
                while sent < 64, (try? client.send([22, 3, 1, 0x40, 0] + message)) != nil {
                    message = Array(repeating: 3, count: 16_384)
                    sent += 1
                }
                let (text, end) = client.rest()
                #expect(end == .closed || end == .reset)
                #expect(text.utf8.count < 100)
            }
        }
    }

    // MARK: Records

    @Test(arguments: [1, 7, 1000]) func `a request may come in as many records as it has bytes`(size: Int) async throws
    {
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init())
                let body = String(repeating: "x", count: 100)
                var rest = Array(
                    "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n\(body)\(Self.hello)".utf8)[...]
                while !rest.isEmpty {
                    try client.send(Array(rest.prefix(size)))
                    rest = rest.dropFirst(size)
                }
                #expect(try client.answer().body == body)
                #expect(try client.answer().body == "hello")
            }
        }
    }

    @Test func `requests that wait within TLS are answered without another edge`() async throws {
        // More than the lane's buffer, in records that arrive together, while the first one is worked on.
        let responder = TestResponder()
        let certificate = try TestCertificate.server()
        try await withServer(responder, workers: 1, configure: { $0.certificate = certificate }) { port, _ in
            let client = try await blocking { try RawClient(port: port, handshake: .init()) }
            try await blocking {
                let others = (0..<3000).map { "GET /hello?\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
                try client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n" + others)
            }
            #expect(await eventually { responder.gate.waiting > 0 })
            responder.gate.open()
            try await blocking { () throws -> Void in
                #expect(try client.answer().body == "passed")
                for _ in 0..<3000 { #expect(try client.answer().body == "hello") }
            }
        }
    }

    @Test func `an answer of one record is sent as one`() async throws {
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init())
                for count in 1...3 {
                    try client.send(Self.hello)
                    _ = try client.answer()
                    #expect(client.records == count)
                }
                // Of many answers that leave together, too.
                try client.send(String(repeating: Self.hello, count: 20))
                for _ in 0..<20 { _ = try client.answer() }
                #expect(client.records == 4)
            }
        }
    }

    @Test func `a large answer reaches a client that reads slowly`() async throws {
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init(), receiveBuffer: 4096)
                try client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n\(Self.hello)")
                usleep(300_000)
                let answer = try client.answer()
                #expect(answer.bytes == Array(TestResponder.bigAsset.body))
                #expect(try client.answer().body == "hello")
            }
        }
    }

    @Test func `a client may change its key`() async throws {
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init())
                for _ in 0..<3 {
                    client.updateKey()
                    try client.send(Self.hello)
                    #expect(try client.answer().body == "hello")
                }
            }
        }
    }

    @Test(
        arguments: [
            // bad_record_mac, record_overflow, unexpected_message; RFC 8446 section 6.
            ([23, 3, 3, 0, 32] + Array(repeating: 0, count: 32), 20), ([23, 3, 3, 0x48, 0], 22),
            ([99, 3, 3, 0, 1, 0], 10),
        ] as [([UInt8], Int32)])
    func `a record that is none ends the connection with an alert, and only that one`(bytes: [UInt8], alert: Int32)
        async throws
    {
        try await withTLS(workers: 1) { port, _ in
            try await blocking {
                let other = try RawClient(port: port, handshake: .init())
                let client = try RawClient(port: port, handshake: .init())
                try client.send(Self.hello)
                _ = try client.answer()
                client.offerAsItIs(bytes)
                #expect(client.rest().text.isEmpty)
                #expect(client.alert == alert)
                try other.send(Self.hello)
                #expect(try other.answer().body == "hello")
            }
        }
    }

    @Test func `plain HTTP within a connection gets no answer in plain HTTP`() async throws {
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init())
                try client.send(Self.hello)
                _ = try client.answer()
                client.offerAsItIs(Array(Self.hello.utf8))
                #expect(client.rest().text.isEmpty)
                #expect(client.alert != 0)
            }
        }
    }

    @Test func `after a fatal error nothing is read from the socket or written to it`() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        guard let session = TLSSession(try TestCertificate.server().context, descriptor: ends[0]) else {
            throw RawClient.Failure.handshake(alert: 0)
        }
        // A record with a message that no client begins with.
        let bytes: [UInt8] = [22, 3, 1, 0, 35] + Array(repeating: 2, count: 35)
        var buffer = [UInt8](repeating: 0, count: 1000)
        for _ in 0..<2 {
            #expect(send(ends[1], bytes, bytes.count, 0) == bytes.count)
            let read = buffer.withUnsafeMutableBytes { session.read(into: $0, isLast: false) }
            #expect(read == (0, .failed))
        }
        // The alert.
        #expect(recv(ends[1], &buffer, buffer.count, 0) == 7)
        #expect(bytes.withUnsafeBytes { session.write($0) } == nil)
        session.shutdown()
        #expect(recv(ends[1], &buffer, buffer.count, 0) == -1)
        #expect(recv(ends[0], &buffer, buffer.count, 0) == bytes.count)
    }

    @Test func `another handshake within the connection is refused`() async throws {
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init(version: 0x0303))
                try client.send(Self.hello)
                _ = try client.answer()
                #expect(!client.renegotiates())
            }
        }
    }

    // MARK: The end

    @Test func `close_notify ends the client's half`() async throws {
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init())
                try client.send(Self.hello)
                client.endOutput()
                #expect(try client.answer().body == "hello")
                #expect(client.rest().end == .closed)
            }
        }
    }

    @Test(arguments: ["", "GET /hel", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx"])
    func `an end without close_notify is the same, as over TCP`(unfinished: String) async throws {
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init())
                try client.send(Self.hello + unfinished)
                client.endOutput(withNotice: false)
                #expect(try client.answer().body == "hello")
                #expect(client.rest() == ("", .closed))
            }
        }
    }

    @Test func `an answer that ends the connection is followed by close_notify`() async throws {
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init())
                try client.send("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                #expect(try client.answer().body == "hello")
                #expect(client.rest() == ("", .closed))
            }
        }
    }

    @Test func `a connection that was idle for too long ends with close_notify`() async throws {
        try await withTLS(configure: { $0.deadlines.idle = .milliseconds(200) }) { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init())
                try client.send(Self.hello)
                _ = try client.answer()
                #expect(client.rest() == ("", .closed))
            }
        }
    }

    @Test func `what comes after the last answer is thrown away`() async throws {
        try await withTLS(configure: { $0.limits.maxLingerBytes = 1 << 20 }) { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init())
                try client.send("POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n")
                try client.send(Array(repeating: 0x78, count: 500_000))
                let answer = try client.answer()
                #expect(answer.fields["connection"] == "close")
                client.endOutput()
                #expect(client.rest().end == .closed)
            }
        }
    }

    // MARK: Tickets and certificates

    @Test(arguments: [0x0303, 0x0304]) func `a client that comes back to any worker resumes`(version: Int32)
        async throws
    {
        try await withTLS { port, _ in
            try await blocking {
                var client = try RawClient(port: port, handshake: .init(version: version))
                #expect(!client.isResumed)
                var ticket: RawClient.Ticket?
                for _ in 0..<8 {
                    try client.send(Self.hello)
                    #expect(try client.answer().body == "hello")
                    // A client uses each ticket of TLS 1.3 once, and gets another.
                    ticket = client.ticket ?? ticket
                    client = try RawClient(port: port, handshake: .init(version: version, ticket: ticket))
                    #expect(client.isResumed)
                }
            }
        }
    }

    @Test(arguments: [0x0303, 0x0304]) func `a ticket is for no early data, and nothing but a ticket resumes`(
        version: Int32
    ) async throws {
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init(version: version))
                try client.send(Self.hello)
                _ = try client.answer()
                #expect(try #require(client.ticket).maxEarlyData == 0)
                // In TLS 1.2 a session without a ticket would be one of the server's cache.
                let without = try RawClient(port: port, handshake: .init(version: 0x0303, takesTickets: false))
                try without.send(Self.hello)
                _ = try without.answer()
                let again = RawClient.Handshake(version: 0x0303, ticket: without.ticket, takesTickets: false)
                #expect(try !RawClient(port: port, handshake: again).isResumed)
            }
        }
    }

    @Test func `a ticket of another server begins a handshake`() async throws {
        let ticket = try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init())
                try client.send(Self.hello)
                _ = try client.answer()
                return try #require(client.ticket)
            }
        }
        try await withTLS { port, _ in
            try await blocking {
                let client = try RawClient(port: port, handshake: .init(ticket: ticket))
                #expect(!client.isResumed)
                try client.send(Self.hello)
                #expect(try client.answer().body == "hello")
            }
        }
    }

    @Test func `another certificate is for connections from now on, and tickets stay good`() async throws {
        let (one, two) = (try TestCertificate(serial: 11), try TestCertificate(serial: 12))
        let certificate = try ServerCertificate(chain: one.chain, privateKey: one.key)
        try await withTLS(certificate) { port, _ in
            let before = try await blocking {
                let client = try RawClient(port: port, handshake: .init())
                try client.send(Self.hello)
                _ = try client.answer()
                #expect(client.serial == 11)
                return client
            }
            try certificate.replace(chain: two.chain, privateKey: two.key)
            try await blocking {
                try before.send(Self.hello)
                #expect(try before.answer().body == "hello")
                #expect(try RawClient(port: port, handshake: .init()).serial == 12)
                let resumed = try RawClient(port: port, handshake: .init(ticket: before.ticket))
                #expect(resumed.isResumed)
            }
        }
    }

    @Test func `no request fails while the certificate is replaced under load`() async throws {
        let pairs = try (21...22).map { try TestCertificate(serial: $0) }
        let certificate = try ServerCertificate(chain: pairs[0].chain, privateKey: pairs[0].key)
        try await withTLS(certificate) { port, _ in
            let replacing = Task {
                var count = 0
                while !Task.isCancelled {
                    count += 1
                    try certificate.replace(chain: pairs[count % 2].chain, privateKey: pairs[count % 2].key)
                    await Task.yield()
                }
                return count
            }
            defer { replacing.cancel() }
            let serials = try await withThrowingTaskGroup(of: Set<Int>.self) { group in
                for _ in 0..<3 {
                    group.addTask { try await blocking { try Self.serialsUnderLoad(port, connections: 60) } }
                }
                return try await group.reduce(into: Set()) { $0.formUnion($1) }
            }
            replacing.cancel()
            #expect(try await replacing.value > 20)
            #expect(serials == [21, 22])
        }
    }

    @Test func `a key that does not belong to the certificate changes nothing`() async throws {
        let one = try TestCertificate(serial: 11)
        let others = [
            try TestCertificate(serial: 12), try TestCertificate(serial: 13, key: "rsa", "rsa_keygen_bits:2048"),
        ]
        let certificate = try ServerCertificate(chain: one.chain, privateKey: one.key)
        let context = certificate.context
        for other in others {
            #expect(throws: TLSError.self) { try certificate.replace(chain: other.chain, privateKey: one.key) }
            #expect(throws: TLSError.self) { try certificate.replace(chain: one.chain, privateKey: other.key) }
        }
        #expect(throws: TLSError.self) { try certificate.replace(chain: Array("x".utf8), privateKey: one.key) }
        #expect(throws: TLSError.self) {
            try certificate.replace(
                chain: one.chain + Array("-----BEGIN CERTIFICATE-----\nAA".utf8), privateKey: one.key)
        }
        #expect(throws: TLSError.self) { try certificate.replace(chain: one.chain, privateKey: []) }
        #expect(certificate.context === context)
    }

    @Test func `certificates of RSA work`() async throws {
        let made = try TestCertificate(serial: 1, key: "rsa", "rsa_keygen_bits:2048")
        try await withTLS(try ServerCertificate(chain: made.chain, privateKey: made.key)) { port, _ in
            try await blocking {
                for version: Int32 in [0x0303, 0x0304] {
                    let client = try RawClient(port: port, handshake: .init(version: version))
                    try client.send(Self.hello)
                    #expect(try client.answer().body == "hello")
                }
            }
        }
    }
}
