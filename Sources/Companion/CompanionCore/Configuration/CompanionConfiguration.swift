import Foundation
package import WebFormats

/// The complete configuration, already validated. `Settings.swift` declares the keys;
/// ``CompanionConfiguration/read(options:environment:file:needsApplications:)`` reads them.
package struct CompanionConfiguration: Sendable {
    /// The file that was read; nil if the environment alone configures the server.
    package var file: String?
    /// The address to bind.
    package var host: String
    /// The port to bind; 0 lets the kernel choose (tests).
    package var port: Int
    /// The certificate with which the server speaks https itself; nil leaves that to a proxy.
    package var tls: TLSFiles?
    /// The separate listener that redirects plain http to the public URL; nil has none.
    package var redirectListener: ListenAddress?
    /// The address that users see. Redirect URIs and the cookie's attributes follow from it, never from a request.
    package var publicURL: PublicURL
    /// The database of the sessions.
    package var database: StoreAddress
    /// The folder of the pages.
    package var publicFolder: String
    /// Whether one person or several use this machine.
    package var deviceMode: DeviceMode
    /// The part of an access token that pages may show.
    package var tokenDisplay: TokenDisplay
    /// The source of the key that encrypts tokens.
    package var encryptionKey: EncryptionKey
    /// The time after which an unused session ends.
    package var sessionIdle: Duration
    /// The maximum lifetime of a session.
    package var sessionMaximum: Duration
    /// The time without input after which a kiosk's page starts its countdown.
    package var kioskCountdownAfter: Duration
    /// The time without input after which the person at a kiosk is signed out, by the server if the page does not do
    /// it.
    package var kioskIdle: Duration
    /// The applications among which a kiosk's visitors choose, by ID; empty for the kiosk's own.
    package var kioskTiles: [String]
    /// Additional hosts that the kiosk's browser may visit, such as those of federated providers. Our own host, the
    /// authorities and Microsoft's hosts are always allowed.
    package var kioskHosts: [String]
    /// The organiser's logo on the kiosk's pages; nil shows the product's own.
    package var kioskLogo: KioskLogo?
    /// The organiser's colour on the kiosk's pages; nil keeps the default.
    package var kioskColor: KioskColor?
    /// The kiosk's welcome texts by language tag. A language without one has the page's default text.
    package var kioskWelcome: [String: String]
    /// Proxies whose `X-Forwarded-Proto` is trusted (plain http is redirected to https), and whose `X-Forwarded-For`
    /// determines the address that ``limits`` apply to.
    package var trustedProxies: [AddressRange]
    /// The limits per address, session and browser.
    package var limits: Limits
    /// The applications, in their order on the home page.
    package var applications: [Application]
    /// The APIs that portals may call.
    package var apis: [AllowedAPI]
    /// The tokens of programs.
    package var apiTokens: [APIToken]
    /// The client secret of the demo's application at the demo tenant, for trying the tenant with another client; nil
    /// generates a random one.
    package var demoClientSecret: String?
    /// The token of the demo tenant's control page; nil if that is for this machine alone.
    package var demoControlToken: String?
    /// The address that the demo and its tenant listen on; nil restricts them to this machine.
    package var demoHost: String?
    /// The folder of the certificates for https on this machine; nil chooses one.
    package var developmentCA: String?
    /// The certificate authorities to trust beside the system's, PEM; the demo over https sets its own.
    package var authorityFile: String?
    /// The control page of the built-in demo tenant; nil outside the demo.
    package var demoControlURL: String?
    /// Lists the failures that are set at it for everyone, as a language names them; nil outside the demo.
    package var demoFailures: (@Sendable (_ tag: String) -> [JSONValue])?

    /// The separate listener for `/metrics`; nil serves it on `host` and `port`, to this machine only.
    package var metricsListener: ListenAddress?
    /// Disk space in bytes that is reserved for people who are signed in; 0 reserves none.
    package var freeBytes: Int
    /// Settings that are present but no longer have an effect.
    package internal(set) var withoutEffect: [String] = []
    /// Whether each request is logged at level info. Otherwise the level is debug, or warning for a fault of this
    /// server.
    package var logRequests: Bool

    /// The lowest log level that is written: trace, debug, info, notice, warning, error or critical.
    package var logLevel: String
    /// The format of log lines.
    package var logFormat: LogFormat
    /// The file to which the audit log is appended as JSON lines; nil writes it to the ordinary log at level info.
    package var auditLogFile: String?
    /// The time after a stop signal during which requests are still served while `/readyz` returns 503.
    package var drain: Duration
    /// Time limits of a token refresh. They are not settings, because other times depend on them.
    package var refreshTimes = RefreshTimes()

    /// The time after which an unused session ends. At a kiosk it is at most the kiosk's idle time, but not where the
    /// kiosk is a preview on a private device.
    package var effectiveSessionIdle: Duration {
        deviceMode == .shared && applications.contains { $0.page == .kiosk } ? min(sessionIdle, kioskIdle) : sessionIdle
    }

    /// Whether the person's own pages show the state, nonce, code and verifier of a sign-in that is over: only in the demo.
    package var showsSpentValues: Bool {
        demoControlURL != nil && deviceMode == .private && tokenDisplay != .hidden
    }

    /// Creates a configuration with all defaults, for the demo and for tests.
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
    /// Sets applications that are not from a file, such as the demo's.
    ///
    /// - Throws: ``ConfigurationMistakes`` if an application's name conflicts with the public URL's path, or a kiosk's
    ///   tile is none of them.
    package mutating func serve(_ applications: [Application]) throws(ConfigurationMistakes) {
        var mistakes = ConfigurationMistakes()
        setApplications(applications, &mistakes)
        if let reason = publicURL.conflict(with: applications.map(\.id)) { mistakes.add("public_url", reason) }
        guard mistakes.all.isEmpty else { throw mistakes }
    }

    /// Sets the applications. On a shared device those of a kiosk's tiles are at the kiosk wherever people sign in to
    /// them; a private device has a preview only.
    mutating func setApplications(_ applications: [Application], _ mistakes: inout ConfigurationMistakes) {
        self.applications = applications
        for index in apis.indices { apis[index].settle(among: applications, &mistakes) }
        guard !kioskTiles.isEmpty else { return }
        for id in kioskTiles {
            guard let index = applications.firstIndex(where: { $0.id == id }) else {
                mistakes.add("kiosk.tiles", "names “\(id)”, which is none of the applications")
                continue
            }
            if applications[index].page == .portal {
                mistakes.add("kiosk.tiles", "names “\(id)”, which is a portal; name tutorials and kiosks")
            }
            self.applications[index].isKioskTile = deviceMode == .shared
        }
        if Set(kioskTiles).count < kioskTiles.count { mistakes.add("kiosk.tiles", "names an application twice") }
        if !applications.contains(where: { $0.page == .kiosk }) {
            mistakes.add("kiosk.tiles", "needs a kiosk to be on: an application with the page kiosk")
        }
    }
}

/// An address to listen on.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// The default address.
    package static let standard = ListenAddress(host: "127.0.0.1", port: 8080)

    /// A host name or an IP address.
    package var host: String
    /// The TCP port; 0 lets the kernel choose.
    package var port: Int

    /// Creates an address from a host and a port.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// The form in the configuration: `host:port`, with an IPv6 address in brackets.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Parses `host:port`, with an IPv6 address in brackets; returns nil if the text is not in that form.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), colon != text.startIndex,
            let port = Int(digits: text[text.index(after: colon)...]), (0...65535).contains(port)
        else { return nil }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, !host.contains(where: { "[]".contains($0) }) else { return nil }
        self.init(host: String(host), port: port)
    }
}

/// The use of the machine by one person or several. MSAL's device mode is a setting here, because a browser has no
/// managed shared mode.
package enum DeviceMode: String, Sendable, CaseIterable {
    /// A machine that one person uses.
    case `private`
    /// A kiosk.
    case shared

    /// The default time after which an unused session ends.
    package var sessionIdle: Duration { self == .private ? .seconds(60 * 60) : .seconds(2 * 60) }
    /// The default maximum lifetime of a session.
    package var sessionMaximum: Duration { self == .private ? .seconds(12 * 60 * 60) : .seconds(15 * 60) }
}

/// The part of an access token that pages may show.
package enum TokenDisplay: String, Sendable, CaseIterable {
    /// No part of the token.
    case hidden
    /// The first characters, which are the same in every JWT, and the length.
    case masked
    /// The whole token; not allowed in shared mode.
    case full
}

/// The format of log lines.
package enum LogFormat: String, Sendable, CaseIterable {
    /// Plain lines for people.
    case text
    /// One JSON object per line.
    case json
}

/// The source of the key that encrypts tokens.
package enum EncryptionKey: Sendable, CustomStringConvertible {
    /// A file, created at the first start.
    case file(String)
    /// The key itself, as the base64 of 32 bytes. Further keys after it only decrypt older data.
    case value(String)

    /// Takes the key itself if it is given, else its file.
    package init(_ text: String?, file: String?, besides database: String) {
        let folder = URL(fileURLWithPath: database).deletingLastPathComponent()
        self = text.map(Self.value) ?? .file(file ?? folder.appendingPathComponent("companion.key").path)
    }

    /// A description that never contains the key.
    package var description: String {
        switch self {
        case .file(let path): "file \(path)"
        case .value: "from the environment"
        }
    }
}
