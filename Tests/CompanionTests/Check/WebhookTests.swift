import Crypto
import EventLoop
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import OpenIDConnect
import Synchronization
import TestSupport
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore

/// The webhook learns of findings that appear or go.
@Suite struct WebhookTests {
    private static let secret = Data("the key of the webhook's signatures".utf8)

    @Test func `a finding that appears and goes is reported, signed, also to a receiver that was down`() async throws {
        let receiver = Receiver()
        let workers = try WorkerGroup(count: 1)
        let server = HTTPServer(
            configuration: ServerConfiguration(), workers: workers, responder: receiver, logger: Logger(label: "hook"))
        let port = try await server.start()
        let url = try #require(Endpoint("http://localhost:\(port)/hook"))
        try await Site.run(configured: {
            $0.notify = NotifySettings(url: url, secret: Self.secret, every: .milliseconds(100))
        }) { site in
            let rounds = try await site.count("discovery")
            #expect(await eventually { ((try? await site.count("discovery")) ?? 0) > rounds + 20 }, "rounds are run")
            #expect(receiver.messages.isEmpty, "what the first round finds is not news")
            try await site.control(#"{"provider_down": "all"}"#)
            #expect(await eventually { !receiver.messages.isEmpty })
            let first = try #require(receiver.messages.first)
            #expect(Self.changes(first).allSatisfy { $0 == "appeared" } && !Self.changes(first).isEmpty)
            try Self.checkSignature(first)
            #expect(!first.body.contains("secret-of") && first.authorization == nil)
            try await site.control(#"{"provider_down": null}"#)
            #expect(await eventually { receiver.messages.contains { Self.changes($0).contains("gone") } })
            let ids = Set(receiver.messages.map(\.id))
            // The first message came twice, because the first time it was refused.
            #expect(ids.count == receiver.messages.count - 1)
        }
        await server.stop(grace: .zero)
        await workers.shutdown()
    }

    private static func changes(_ message: Receiver.Message) -> [String] {
        JSONValue(parsing: message.body.utf8)?["changes"]?.array?.compactMap { $0["change"]?.string } ?? []
    }

    private static func checkSignature(_ message: Receiver.Message) throws {
        let signed = Data("\(message.id).\(message.time).\(message.body)".utf8)
        let expected = HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: secret))
        #expect(message.signature == "v1," + Data(expected).base64EncodedString())
    }
}

/// A receiver that refuses the first message.
private final class Receiver: Responder {
    struct Message: Sendable {
        let id, time, signature, body: String
        let authorization: String?
    }

    private let kept = Mutex<[Message]>([])
    var messages: [Message] { kept.withLock { $0 } }

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        .handler(maxBodyBytes: 1 << 20) { [self] request in
            func field(_ name: String) -> String { HTTPField.Name(name).flatMap { request.head[$0] } ?? "" }
            let message = Message(
                id: field("webhook-id"), time: field("webhook-timestamp"), signature: field("webhook-signature"),
                body: String(decoding: request.body, as: UTF8.self), authorization: request.head[.authorization])
            let count = kept.withLock { kept in
                kept.append(message)
                return kept.count
            }
            return Response(status: count == 1 ? .serviceUnavailable : .noContent)
        }
    }
}
