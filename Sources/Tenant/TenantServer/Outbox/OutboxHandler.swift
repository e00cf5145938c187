import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import TenantControl
import TenantDirectory
import TenantSignIn
import WebFormats

/// `/outbox`: the mails and text messages that the platform would have sent.
struct OutboxHandler: PlatformHandler {
    private static let mostSeconds = 30

    let platform: Platform
    let outbox: Outbox
    let layout: PageLayout
    let rooms: RoomsBeside

    /// `GET /outbox`: the page, or the same as JSON, which can wait for a code.
    func show(_ request: Request) async -> Response {
        let query = request.head.query.flatMap { try? FormFields(query: $0) }
        guard request.head[.accept]?.contains("text/html") != true else { return page(request, query) }
        guard let after = Self.number(query?.text("after"), upTo: .max),
            let seconds = Self.number(query?.text("wait"), upTo: Self.mostSeconds)
        else {
            return .json(
                .badRequest,
                [
                    "error": "bad_request",
                    "message": .string("'after' is the id of a message, and 'wait' 0 to \(Self.mostSeconds) seconds."),
                ])
        }
        let address = query?.text("to")
        if seconds > 0 {
            let isOver = await !outbox.wait(
                for: address, after: after, now: clock.now(), atMost: .seconds(seconds))
            if isOver { return .json(.serviceUnavailable, ["error": "busy", "message": "Too many requests wait."]) }
        }
        let now = clock.now()
        let messages = outbox.messages(to: address, after: after).map { json($0, now) }
        return .json(.ok, ["messages": .array(messages)])
    }

    private func page(_ request: Request, _ query: FormFields?) -> Response {
        let language = layout.languages.language(
            uiLocales: query?["ui_locales"], acceptLanguage: request.head[.acceptLanguage])
        return DemoLanguage.$current.withValue(language) {
            layout.page(
                OutboxPage(
                    bar: rooms.bar(nil), messages: outbox.messages(to: query?.text("to")), names: registrations.names,
                    now: clock.now()))
        }
    }

    /// Returns a whole number, 0 for none; nil if it is not one.
    private static func number(_ text: String?, upTo limit: Int) -> Int? {
        guard let text else { return 0 }
        return Int(text).flatMap { (0...limit).contains($0) ? $0 : nil }
    }

    private func json(_ message: Outbox.Delivery, _ now: Date) -> JSONValue {
        [
            "id": .integer(message.id), "time": .string(message.time.formatted(.iso8601)),
            "channel": .string(message.contact.channel.rawValue), "to": .string(message.contact.target),
            "label": .string(message.contact.label), "code": .string(message.code),
            "flow": .string(message.flowKind), "username": .string(message.username),
            "client_id": .string(message.clientID),
            "application": JSONValue(registrations.client(id: message.clientID)?.name),
            "minutes_left": .integer(message.minutesLeft(now)), "state": .string(message.state(at: now).rawValue),
        ]
    }
}

extension Outbox.Delivery {
    /// The minutes for which the code can be used, rounded up.
    func minutesLeft(_ now: Date) -> Int {
        state(at: now) == .valid ? Int((expires.timeIntervalSince(now) / 60).rounded(.up)) : 0
    }
}
