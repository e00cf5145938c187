import TestSupport
import Testing

@testable import HTTPServer

/// The things that strangers may do with connections, at the limit of an address and at that of the whole server.
enum Occupation: String, CaseIterable, CustomTestStringConvertible {
    case silent = "silent connections"
    case halfHandshake = "half handshakes of TLS"
    case halfHead = "half heads"
    case halfBody = "half bodies"
    case halfAfterAnswer = "half heads after an answer"
    case idle = "idle connections"
    case unread = "answers that nobody reads"
    case noRequest = "bytes that are no request"

    var testDescription: String { rawValue }

    /// Begins it on a new connection.
    func begin(port: Int, from source: UInt32) throws -> RawClient {
        let client =
            try self == .halfHandshake
            ? RawClient(port: port, handshake: nil, from: source)
            : RawClient(port: port, receiveBuffer: self == .unread ? 4096 : nil, from: source)
        switch self {
        case .silent: break
        case .halfHandshake: try client.send(Array(RawClient.hello().prefix(5)))
        case .halfHead: try client.send("GET /he")
        case .halfBody: try client.send(Transition.post("/echo") + "ab")
        case .halfAfterAnswer, .idle:
            try client.send(Transition.hello)
            _ = try client.answer()
            if self == .halfAfterAnswer { try client.send("GET /he") }
        case .unread:
            try client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = client.hasInput(withinMilliseconds: 10_000)
        case .noRequest:
            try client.send("nonsense\r\n\r\n")
            _ = try client.answer()
        }
        return client
    }
}

/// Strangers keep nobody out, however their connections wait. Each row is one of the table of limits in SECURITY.md.
@Suite(.timeLimit(.minutes(5))) struct OccupiedPlacesTests {
    private static let others: UInt32 = 0x7F00_0001
    /// The most connections of an address, and of the server.
    private static let (ofAddress, ofAll) = (24, 90)

    @Test(arguments: Occupation.allCases, [1, 30])
    func `20 of 20 others get in beside strangers`(_ what: Occupation, addresses: Int) async throws {
        let certificate = try what == .halfHandshake ? TestCertificate.server() : nil
        try await withServer(
            workers: 1,
            configure: { configuration in
                configuration.certificate = certificate ?? configuration.certificate
                configuration.limits.maxConnections = Self.ofAll
                configuration.addressLimit = .init(maxConnections: Self.ofAddress)
                // Nobody leaves by himself.
                for deadline in [\ServerConfiguration.Deadlines.head, \.body, \.write, \.idle, \.linger] {
                    configuration.deadlines[keyPath: deadline] = .seconds(600)
                }
                configuration.deadlines.unread = .zero
            }
        ) { port, server in
            let counts = try await blocking {
                // From one address, that of the others; or from thirty, of which none comes near its own limit.
                let isOne = addresses == 1
                func begin(_ number: Int) throws -> RawClient {
                    try what.begin(port: port, from: isOne ? Self.others : Self.others + 1 + UInt32(number % addresses))
                }
                let full = isOne ? Self.ofAddress : Self.ofAll
                var held = try (0..<full).map(begin)
                var answered = 0
                var kept: [RawClient] = []
                for number in 0..<20 {
                    // Those that were pushed out come again.
                    held += try (0..<3).map { try begin(number * 3 + $0) }
                    let other = try RawClient(port: port, from: Self.others)
                    answered += try other.isGreeted() ? 1 : 0
                    kept.append(other)
                }
                return withExtendedLifetime((held, kept)) { (answered, server.connectionCount) }
            }
            #expect(counts == (20, addresses == 1 ? Self.ofAddress : Self.ofAll))
        }
    }

    /// At the limit of the server the place comes from the address that has most, and never from a request in progress.
    @Test func `the address with most connections makes room for the others`() async throws {
        let responder = TestResponder()
        try await withServer(responder, workers: 1, configure: { $0.limits.maxConnections = 9 }) { port, server in
            let busy = try (0..<4).map { _ in try RawClient(port: port, from: 0x7F00_0002) }
            for client in busy { try client.send(Transition.gate) }
            try #require(await eventually { responder.gate.waiting == 4 })
            let few = try RawClient(port: port, from: 0x7F00_0003)
            let many = try (0..<4).map { _ in try RawClient(port: port, from: 0x7F00_0004) }
            try #require(await eventually { server.connectionCount == 9 })
            var newcomers: [RawClient] = []
            for (number, gone) in many.prefix(3).enumerated() {
                let newcomer = try RawClient(port: port, from: 0x7F00_0005 + UInt32(number))
                newcomers.append(newcomer)
                #expect(try await blocking { try newcomer.isGreeted() })
                #expect(try await blocking { gone.rest().end == .closed })
            }
            for client in [few] + many.suffix(1) + newcomers {
                #expect(try await blocking { try client.isGreeted() })
            }
            responder.gate.open()
            for client in busy { #expect(try await blocking { try client.answer().status == 200 }) }
        }
    }
}

extension RawClient {
    fileprivate func isGreeted() throws -> Bool {
        try send(Transition.hello)
        return try answer().body == "hello"
    }
}
