import Foundation
import TenantDirectory
import TenantSignIn
import WebFormats

/// The page for people: the mails and text messages, newest first.
struct OutboxPage: Page {
    let bar: HTML?
    let messages: [Outbox.Delivery]
    let names: [String: String]
    let now: Date

    var title: HTML { "Outbox" }
    var layout: String { "wide-layout" }

    private let lead: HTML =
        "The mails and text messages with codes that an identity platform would send. Nothing leaves this computer."
    private let note: HTML =
        "A test gets the same as JSON from %@, which waits up to 30 seconds for the next code."

    var content: HTML {
        """
        <h1>\(HTML(saying: title))</h1>
        <p class="lead">\(HTML(saying: lead))</p>
        <p>\(HTML(saying: note, "<code>/outbox?to=…&amp;wait=30</code>"))</p>
        <p><a href="/outbox?ui_locales=\(DemoLanguage.tag)">\(HTML(saying: "Look again"))</a></p>
        \(list)
        \(rules)
        """
    }

    /// The rules that an app learns by the suberror alone.
    private var rules: HTML {
        let rows = PasswordRefusal.allCases.map { refusal in
            """
            <dt><code>\(refusal.rawValue)</code></dt><dd>\(refusal.rule)</dd>

            """ as HTML
        }
        return """
            <details class="panel steps">
            <summary>\(HTML(saying: "Rules for new passwords"))</summary>
            <p>\(HTML(saying: "An app learns the first rule that a new password breaks:"))</p>
            <dl>
            \(rows)</dl>
            </details>
            """
    }

    private var list: HTML {
        guard !messages.isEmpty else { return "<p>\(HTML(saying: "Nothing was sent yet."))</p>" }
        return "\(messages.map(panel))"
    }

    private func panel(_ message: Outbox.Delivery) -> HTML {
        """
        <article class="panel message" aria-labelledby="message-\(message.id)">
        <h2 id="message-\(message.id)">\(heading(message))</h2>
        \(message.contact.channel == .email ? mail(message) : text(message))
        <p class="small">\(state(message)) · \(flow(message)) · \(names[message.clientID] ?? message.clientID) · \
        \(HTML(saying: "the app shows %@", "\(message.contact.label)")) · \(message.time.clock)</p>
        </article>

        """
    }

    private func heading(_ message: Outbox.Delivery) -> HTML {
        switch message.contact.channel {
        case .email: HTML(saying: "Mail to %@", "\(message.contact.target)")
        case .sms: HTML(saying: "Text message to %@", "\(message.contact.target)")
        }
    }

    private func mail(_ message: Outbox.Delivery) -> HTML {
        """
        <p><strong>\(HTML(saying: "Your verification code"))</strong></p>
        <p>\(HTML(saying: "Enter this code to continue. Do not pass it on."))</p>
        <p class="code">\(message.code)</p>
        """
    }

    private func text(_ message: Outbox.Delivery) -> HTML {
        "<p class=\"bubble\">\(HTML(saying: "Use the code %@ for your sign-in.", "<strong>\(message.code)</strong>"))</p>"
    }

    private func state(_ message: Outbox.Delivery) -> HTML {
        switch message.state(at: now) {
        case .valid: HTML(saying: "Valid for %@ min", "\(message.minutesLeft(now))")
        case .used: HTML(saying: "Used")
        case .void: HTML(saying: "No longer valid")
        case .expired: HTML(saying: "Expired")
        }
    }

    private func flow(_ message: Outbox.Delivery) -> HTML {
        switch message.flowKind {
        case "sign_up": HTML(saying: "Sign-up")
        case "password_reset": HTML(saying: "Password reset")
        default: HTML(saying: "Sign-in")
        }
    }
}

extension PasswordRefusal {
    /// The rule that such a password breaks.
    fileprivate var rule: HTML {
        switch self {
        case .tooShort: HTML(saying: "It has at least %@ characters.", "\(Self.leastCharacters)")
        case .tooLong: HTML(saying: "It has at most %@ characters.", "\(Self.mostCharacters)")
        case .invalid: HTML(saying: "It has ASCII characters alone.")
        case .banned: HTML(saying: "It contains no word of four or more letters of the address or the name.")
        case .recentlyUsed: HTML(saying: "It is none of the last four passwords.")
        case .tooWeak: HTML(saying: "It has three of these: small letters, capitals, digits, symbols.")
        }
    }
}
