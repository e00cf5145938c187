import Foundation
import OpenIDConnect
import SessionStore

/// Everything that an operator can decide, checked, so that nobody need check it again. `Settings.swift` declares the keys;
/// ``CompanionConfiguration/read(options:environment:file:needsApplications:)`` reads them.
package struct CompanionConfiguration: Sendable {
    /// The address to bind.
    package var host: String
    /// The port to bind; 0 lets the kernel choose (tests).
    package var port: Int
    /// The address that users see. Redirect URIs and the cookie's attributes follow from it, never from a request.
    package var publicURL: PublicURL
    /// Where sessions live.
    package var database: StoreAddress
    /// The folder of pages.
    package var publicFolder: String
    /// Whether one person or several use this machine.
    package var deviceMode: DeviceMode
    /// How much of an access token the pages may show.
    package var tokenDisplay: TokenDisplay
    /// Where the key that seals tokens comes from.
    package var encryptionKey: EncryptionKey
    /// How long a session lives without use.
    package var sessionIdle: Duration
    /// How long a session lives at most.
    package var sessionMaximum: Duration
    /// How long nobody touches a kiosk until its page counts down.
    package var kioskCountdownAfter: Duration
    /// How long nobody touches a kiosk until the person who is signed in there is signed out, by the server if not by the page.
    package var kioskIdle: Duration
    /// The hosts that the kiosk's browser may go to besides our own, the authorities' and Microsoft's: those of federated
    /// providers.
    package var kioskHosts: [String]
    /// The organiser's picture on the kiosk's pages; nil shows ours.
    package var kioskLogo: KioskLogo?
    /// The organiser's colour on the kiosk's pages; nil leaves ours.
    package var kioskColor: KioskColor?
    /// What the kiosk says to people who walk up, by the language's tag; without one, the page's own words.
    package var kioskWelcome: [String: String]
    /// The networks of the fronts whose `X-Forwarded-Proto` counts (what came to them by plain http is sent to https), and
    /// whose `X-Forwarded-For`: whom ``limits`` count.
    package var trustedProxies: [AddressRange]
    /// How much one address may ask for.
    package var limits: Limits
    /// The applications, in the order in which the home page lists them.
    package var applications: [Application]
    /// The secret of the demo's application at the demo tenant; nil makes one that nobody knows. For trying the tenant
    /// with another client.
    package var demoClientSecret: String?
    /// The address that the demo and its tenant listen on; nil leaves the tenant to this machine alone.
    package var demoHost: String?
    /// The control page of the built-in demo tenant; nil outside the demo.
    package var demoControlURL: String?

    /// Where `/metrics` is served, apart from everything else; nil serves it to this machine itself on `host` and `port`.
    package var metricsListener: ListenAddress?
    /// The bytes of the disk that stay free for those who are signed in; 0 keeps none.
    package var freeBytes: Int
    /// Settings that are given and have no effect any more.
    package internal(set) var withoutEffect: [String] = []
    /// Whether each request is a line of level info; else only of level debug, and a warning where it failed here.
    package var logRequests: Bool

    /// The least severe log level that is written: trace, debug, info, notice, warning, error or critical.
    package var logLevel: String
    /// The shape of log lines.
    package var logFormat: LogFormat
    /// Where the audit log is appended, JSON lines; nil writes it to the ordinary log, level info.
    package var auditLogFile: String?
    /// How long requests are taken after a stop signal while `/readyz` says that no more should come.
    package var drain: Duration
    /// How long what belongs to a refresh may take. No operator sets it: others depend on these times.
    package var refreshTimes = RefreshTimes()

    /// How long a session lives without use: at a kiosk no longer than nobody touches it.
    package var effectiveSessionIdle: Duration {
        applications.contains { $0.page == .kiosk } ? min(sessionIdle, kioskIdle) : sessionIdle
    }

    /// Everything at its default, for the demo and for tests.
    ///
    /// - Parameters:
    ///   - port: the port to bind.
    ///   - applications: the applications to serve.
    package init(port: Int, applications: [Application] = []) {
        var reading = ConfigurationReading(options: ["port": String(port)])
        self.init(reading: &reading)
        self.applications = applications
    }
}

extension CompanionConfiguration {
    /// Takes applications that no file names, as the demo's.
    ///
    /// - Throws: when the public URL's path is one of theirs.
    package mutating func serve(_ applications: [Application]) throws(ConfigurationMistakes) {
        self.applications = applications
        guard let reason = publicURL.conflict(with: applications.map(\.id)) else { return }
        var mistakes = ConfigurationMistakes()
        mistakes.add("public_url", reason)
        throw mistakes
    }
}

/// An address to listen on.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// Where the server listens unless configured.
    package static let standard = ListenAddress(host: "127.0.0.1", port: 8080)

    /// A name or an address.
    package var host: String
    /// The TCP port; 0 lets the kernel choose.
    package var port: Int

    /// An address and its port.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// As the configuration has it: `host:port`, with an IPv6 address in brackets.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Takes `host:port` apart, with an IPv6 address in brackets; nil when it is neither.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), colon != text.startIndex,
            let port = Int(digits: text[text.index(after: colon)...]), (0...65535).contains(port)
        else { return nil }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, !host.contains(where: { "[]".contains($0) }) else { return nil }
        self.init(host: String(host), port: port)
    }
}

/// Who uses the machine; MSAL's device mode, decided by configuration because a browser has no managed shared mode.
package enum DeviceMode: String, Sendable, CaseIterable {
    /// One person's own machine.
    case `private`
    /// A kiosk.
    case shared

    /// How long a session lives without use unless configured.
    package var sessionIdle: Duration { self == .private ? .seconds(60 * 60) : .seconds(2 * 60) }
    /// How long a session lives at most unless configured.
    package var sessionMaximum: Duration { self == .private ? .seconds(12 * 60 * 60) : .seconds(15 * 60) }
}

/// How much of an access token the pages may show.
package enum TokenDisplay: String, Sendable, CaseIterable {
    /// Nothing.
    case hidden
    /// The first characters, which every JWT shares, and the length.
    case masked
    /// All of it; refused in shared mode.
    case full
}

/// The shape of log lines.
package enum LogFormat: String, Sendable, CaseIterable {
    /// For people.
    case text
    /// One JSON object a line.
    case json
}

/// Where the key that seals tokens comes from.
package enum EncryptionKey: Sendable, CustomStringConvertible {
    /// A file, made on first start.
    case file(String)
    /// The key itself, base64 of 32 bytes; further ones behind it open what they sealed before.
    case value(String)

    /// The key itself where it is given, else a file.
    package init(_ text: String?, file: String?, besides database: String) {
        let folder = URL(fileURLWithPath: database).deletingLastPathComponent()
        self = text.map(Self.value) ?? .file(file ?? folder.appendingPathComponent("companion.key").path)
    }

    /// Never the key itself.
    package var description: String {
        switch self {
        case .file(let path): "file \(path)"
        case .value: "from the environment"
        }
    }
}
