package import Foundation
package import OpenIDConnect

/// The webhook that learns of findings that appear or go.
package struct NotifySettings: Sendable {
    /// The receiver.
    package var url: Endpoint
    /// The key of the signatures.
    package var secret: Data
    /// The time between two rounds of checks.
    package var every: Duration

    package init(url: Endpoint, secret: Data, every: Duration) {
        self.url = url
        self.secret = secret
        self.every = every
    }
}

/// Reads the webhook; a part alone is a mistake.
extension ConfigurationReading {
    mutating func notifySettings() -> NotifySettings? {
        let url = value(
            "notify.url", .outboundURL,
            "A webhook (Standard Webhooks) that learns of findings that appear or go. With several servers, configure it on one."
        )
        let secret = value(
            "notify.secret", .webhookSecret,
            "The key of the webhook's signatures: whsec_ and the base64 of 24 to 64 bytes.")
        let secretFile = value("notify.secret_file", .path, "The file with that key.")
        let every = value(
            "notify.every_hours", .hours, default: .seconds(86_400),
            "The time between two rounds of checks for the webhook.")
        guard let url else {
            if secret != nil || secretFile != nil { mistakes.add("notify.url", "is missing beside the secret") }
            return nil
        }
        if let secret { return NotifySettings(url: url, secret: secret, every: every) }
        guard let secretFile else {
            mistakes.add("notify.secret_file", "is missing; the receiver needs it to verify a message")
            return nil
        }
        guard let text = try? String(contentsOfFile: secretFile, encoding: .utf8),
            let secret = Self.webhookKey(text.trimmingCharacters(in: .whitespacesAndNewlines))
        else {
            mistakes.add("notify.secret_file", "must be a readable file with whsec_ and the base64 of 24 to 64 bytes")
            return nil
        }
        return NotifySettings(url: url, secret: secret, every: every)
    }

    fileprivate static func webhookKey(_ text: String) -> Data? {
        guard text.hasPrefix("whsec_"), let key = Data(base64Encoded: String(text.dropFirst(6))),
            (24...64).contains(key.count)
        else { return nil }
        return key
    }
}

extension SettingType where Value == Data {
    /// The key of a webhook's signatures.
    static var webhookSecret: SettingType {
        one("text, in the environment only", form: .secret) { text throws(WrongValue) in
            guard let key = ConfigurationReading.webhookKey(text) else {
                throw WrongValue("must be whsec_ and the base64 of 24 to 64 bytes")
            }
            return key
        }
    }
}
