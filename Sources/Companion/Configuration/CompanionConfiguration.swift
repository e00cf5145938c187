import Foundation
import OpenIDConnect
import PostgresStore
import SQLiteStore
import SessionStore

/// Everything that an operator can decide, checked, so that nobody need check it again. `Settings.swift` declares the keys;
/// ``CompanionConfiguration/read(options:environment:file:needsApplications:)`` reads them.
public struct CompanionConfiguration: Sendable {
    /// The address to bind.
    public var host: String
    /// The port to bind; 0 lets the kernel choose (tests).
    public var port: Int
    /// The address that users see. Redirect URIs and the cookie's attributes follow from it, never from a request.
    public var publicURL: PublicURL
    /// Where the store keeps its database: the file, or what people call the one of ``postgres``.
    public var database: String
    /// The database that several machines share; nil where it is a file.
    public var postgres: PostgresSettings?
    /// The file of its password.
    public var databasePasswordFile: String?
    /// The folder of pages.
    public var publicFolder: String
    /// Whether one person or several use this machine.
    public var deviceMode: DeviceMode
    /// How much of an access token the pages may show.
    public var tokenDisplay: TokenDisplay
    /// Where the key that seals tokens comes from.
    public var encryptionKey: EncryptionKey
    /// How long a session lives without use.
    public var sessionIdle: Duration
    /// How long a session lives at most.
    public var sessionMaximum: Duration
    /// How long nobody touches a kiosk until its page counts down.
    public var kioskCountdownAfter: Duration
    /// How long nobody touches a kiosk until the person who is signed in there is signed out, by the server if not by the page.
    public var kioskIdle: Duration
    /// The hosts that the kiosk's browser may go to besides our own, the authorities' and Microsoft's: those of federated
    /// providers. See ``KioskPolicy``.
    public var kioskHosts: [String]
    /// The organiser's picture on the kiosk's pages; nil shows ours.
    var kioskLogo: KioskLogo?
    /// The organiser's colour on the kiosk's pages; nil leaves ours.
    var kioskColor: KioskColor?
    /// What the kiosk says to people who walk up, by the language's tag; without one, the page's own words.
    var kioskWelcome: [String: String]
    /// The networks of the fronts whose `X-Forwarded-Proto` counts (what came to them by plain http is sent to https), and
    /// whose `X-Forwarded-For`: whom ``limits`` count.
    public var trustedProxies: [AddressRange]
    /// How much one address may ask for.
    public var limits: Limits
    /// The applications, in the order in which the home page lists them.
    public var applications: [Application]
    /// The secret of the demo's application at the demo tenant; nil makes one that nobody knows. For trying the tenant
    /// with another client.
    public var demoClientSecret: String?
    /// The address that the demo and its tenant listen on; nil leaves the tenant to this machine alone.
    public var demoHost: String?
    /// The control page of the built-in demo tenant; nil outside the demo.
    public var demoControlURL: String?

    /// Where `/metrics` is served, apart from everything else; nil serves it to this machine itself on `host` and `port`.
    public var metricsListener: ListenAddress?
    /// The bytes of the disk that stay free for those who are signed in; 0 keeps none.
    public var freeBytes: Int
    /// Settings that are given and have no effect any more.
    public internal(set) var withoutEffect: [String] = []
    /// Whether each request is a line of level info; else only of level debug, and a warning where it failed here.
    public var logRequests: Bool

    /// The least severe log level that is written: trace, debug, info, notice, warning, error or critical.
    public var logLevel: String
    /// The shape of log lines.
    public var logFormat: LogFormat
    /// Where the audit log is appended, JSON lines; nil writes it to the ordinary log, level info.
    public var auditLogFile: String?
    /// How long requests are taken after a stop signal while `/readyz` says that no more should come.
    public var drain: Duration
    /// How long what belongs to a refresh may take. No operator sets it: others depend on these times.
    var refreshTimes = RefreshTimes()

    /// How long a session lives without use: at a kiosk no longer than nobody touches it.
    public var effectiveSessionIdle: Duration {
        applications.contains { $0.page == .kiosk } ? min(sessionIdle, kioskIdle) : sessionIdle
    }

    /// Everything at its default, for the demo and for tests.
    ///
    /// - Parameters:
    ///   - port: the port to bind.
    ///   - applications: the applications to serve.
    public init(port: Int, applications: [Application] = []) {
        var reading = ConfigurationReading(options: ["port": String(port)])
        self.init(reading: &reading)
        self.applications = applications
    }
}

extension CompanionConfiguration {
    /// Takes applications that no file names, as the demo's.
    ///
    /// - Throws: when the public URL's path is one of theirs.
    public mutating func serve(_ applications: [Application]) throws(ConfigurationMistakes) {
        self.applications = applications
        guard let reason = publicURL.conflict(with: applications.map(\.id)) else { return }
        var mistakes = ConfigurationMistakes()
        mistakes.add("public_url", reason)
        throw mistakes
    }
}

/// An address to listen on.
public struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// Where the server listens unless configured.
    public static let standard = ListenAddress(host: "127.0.0.1", port: 8080)

    /// A name or an address.
    public var host: String
    /// The TCP port; 0 lets the kernel choose.
    public var port: Int

    /// An address and its port.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// As the configuration has it: `host:port`, with an IPv6 address in brackets.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

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
public enum DeviceMode: String, Sendable, CaseIterable {
    /// One person's own machine.
    case `private`
    /// A kiosk.
    case shared

    /// How long a session lives without use unless configured.
    public var sessionIdle: Duration { self == .private ? .seconds(60 * 60) : .seconds(2 * 60) }
    /// How long a session lives at most unless configured.
    public var sessionMaximum: Duration { self == .private ? .seconds(12 * 60 * 60) : .seconds(15 * 60) }
}

/// How much of an access token the pages may show.
public enum TokenDisplay: String, Sendable, CaseIterable {
    /// Nothing.
    case hidden
    /// The first characters, which every JWT shares, and the length.
    case masked
    /// All of it; refused in shared mode.
    case full
}

/// The shape of log lines.
public enum LogFormat: String, Sendable, CaseIterable {
    /// For people.
    case text
    /// One JSON object a line.
    case json
}

/// Where the key that seals tokens comes from.
public enum EncryptionKey: Sendable, CustomStringConvertible {
    /// A file, made on first start.
    case file(String)
    /// The key itself, base64 of 32 bytes; further ones behind it open what they sealed before.
    case value(String)

    /// The key itself where it is given, else a file.
    init(_ text: String?, file: String?, besides database: String) {
        let folder = URL(fileURLWithPath: database).deletingLastPathComponent()
        self = text.map(Self.value) ?? .file(file ?? folder.appendingPathComponent("companion.key").path)
    }

    /// Never the key itself.
    public var description: String {
        switch self {
        case .file(let path): "file \(path)"
        case .value: "from the environment"
        }
    }
}
