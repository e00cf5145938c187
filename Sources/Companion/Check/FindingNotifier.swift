import CompanionCore
import CompanionSignIn
import Crypto
import Foundation
import HTTPClient
import HTTPTypes
import Logging
import OpenIDConnect
import SessionStore
import Synchronization
import WebFormats

/// Runs rounds of checks while the server runs, and reports findings that appear or go to a webhook.
///
/// A message is signed as in Standard Webhooks 1.0: `webhook-id`, `webhook-timestamp`, and `webhook-signature` with the
/// HMAC-SHA256 of the three. The first round after a start is what the next ones are compared with, and is not sent.
final class FindingNotifier: Sendable {
    /// The pauses before a message is sent again. After the last one it waits for the next round.
    private static let pauses: [Duration] = [.seconds(2), .seconds(20), .seconds(120)]
    private static let timeout: Duration = .seconds(10)
    /// Changes that wait for a receiver that does not answer; the oldest are dropped.
    private static let mostWaiting = 500

    private let settings: NotifySettings
    private let applications: [Application]
    private let rounds: CheckRounds
    private let client: HTTPClient
    private let logger: Logger
    private let now: @Sendable () -> Date
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(
        _ settings: NotifySettings, applications: [Application], rounds: CheckRounds, client: HTTPClient,
        logger: Logger, now: @escaping @Sendable () -> Date
    ) {
        self.settings = settings
        self.applications = applications
        self.rounds = rounds
        self.client = client
        self.logger = logger
        self.now = now
    }

    /// Starts the rounds; they end with ``stop()``.
    func start() {
        task.withLock { $0 = Task { [self] in await run() } }
    }

    func stop() { task.withLock { $0 }?.cancel() }

    private func run() async {
        var waiting: [CheckRounds.Change] = []
        // The rounds of operators and programs find changes too.
        await rounds.keepChanges()
        while !Task.isCancelled {
            _ = await rounds.run(applications)
            waiting = Array((waiting + (await rounds.takeChanges())).suffix(Self.mostWaiting))
            if !waiting.isEmpty, await deliver(waiting) { waiting = [] }
            guard (try? await Task.sleep(for: settings.every)) != nil else { return }
        }
    }

    /// Sends a message until the receiver accepts it; returns whether it has.
    private func deliver(_ changes: [CheckRounds.Change]) async -> Bool {
        let id = "msg_" + Base64URL.encode(SessionStore.secureRandomBytes(16))
        let body = JSONValue.object([
            "event": "findings.changed", "at": .string(Timeline.text(now())),
            "changes": .array(changes.map { ["change": .string($0.kind.rawValue), "finding": $0.finding.json] }),
        ]).bytes
        var reason = ""
        for pause in [.zero] + Self.pauses {
            if pause > .zero, (try? await Task.sleep(for: pause)) == nil { return false }
            do throws(HTTPClientError) {
                let answer = try await client.send(request(id, body), body: body, timeout: Self.timeout)
                if answer.status.kind == .successful { return true }
                reason = "it returned \(answer.status.code)"
            } catch {
                reason = error.reason
            }
        }
        logger.warning(
            "The webhook notify.url does not accept the changed findings: \(reason). They wait for the next round.")
        return false
    }

    private func request(_ id: String, _ body: [UInt8]) -> HTTPRequest {
        let time = String(Int(now().timeIntervalSince1970))
        let signed = Data("\(id).\(time).".utf8) + Data(body)
        let signature = HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: settings.secret))
        var request = HTTPRequest(
            method: .post, scheme: settings.url.scheme, authority: settings.url.authority,
            path: settings.url.pathAndQuery)
        request.headerFields[.contentType] = "application/json"
        request.headerFields[.literal("webhook-id")] = id
        request.headerFields[.literal("webhook-timestamp")] = time
        request.headerFields[.literal("webhook-signature")] = "v1," + Data(signature).base64EncodedString()
        return request
    }
}
