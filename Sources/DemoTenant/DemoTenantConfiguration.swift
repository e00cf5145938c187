public import Foundation
public import HTTPServer
public import HTTPWire
public import TLS
import WebFormats

/// The configuration of the demo tenant.
public struct DemoTenantConfiguration: Sendable {
    /// The host in its URLs: `localhost`, or another name or address of the loopback interface. A request to another of
    /// these names gets that name in its answers.
    public var host: String
    /// The address to listen on, if it is not ``host``. Beyond loopback the tenant serves everyone who can reach it,
    /// for example in a container with a published port. The host name in their URLs still has to be a loopback name, or
    /// that of ``publicURL``.
    public var listenHost: String?
    /// The port; 0 picks any free one.
    public var port: Int
    /// With it the tenant speaks https.
    public var certificate: ServerCertificate?
    /// The origin under which others reach the tenant, such as `https://tenant.example:8443`; nil if it is only reached
    /// under the names of loopback.
    public var publicURL: String?
    /// The registered applications. Microsoft's samples are known besides.
    public var clients: [DemoClient]
    /// People beside the built-in accounts, or in their place.
    public var users: [DemoUser] = []
    /// Groups and directory roles beside the built-in ones, or in their place.
    public var groups: [DemoGroup] = []
    /// The policies of authentication contexts (`c1` to `c99`). A context without one is met by everyone.
    public var contexts: [String: ContextPolicy] = ["c1": .secondFactor, "c2": .password]
    /// Whether the built-in accounts are there, whose password everyone knows.
    public var hasDemoAccounts = true
    /// The token that `/control` asks for; nil if it is open to this machine, and to no other.
    public var controlToken: String?
    /// The folder with the texts of the tenant's pages, in `languages/demo`. It is the companion's folder of pages.
    public var publicFolder: String
    /// The file (created with mode 0600) that keeps keys, consents and revocations across restarts. With nil they are
    /// kept only in memory, and every token ends with the process.
    public var stateFile: String?
    /// The start page of a kiosk, at whose distance the pages are read, so that they are as large as its own; nil if the
    /// tenant is not at a kiosk.
    public var kioskURL: String?
    /// The wall clock.
    public var now: @Sendable () -> Date
    /// Unpredictable bytes.
    public var randomBytes: @Sendable (Int) -> [UInt8]
    /// Makes the first signing keys if the state file has none.
    var makeSigningKeys: @Sendable () throws -> [DemoSigningKey] = DemoSigningKey.first
    /// Called with each request and its response, including secrets, for tests that search for these.
    public var onExchange: (@Sendable (Request, Response) -> Void)?

    /// Whether other computers are served too.
    var servesOthers: Bool { listenHost.map { !Loopback.contains($0) } ?? false }

    /// Creates a configuration with these applications; by default for any free port of localhost and in memory.
    public init(
        host: String = "localhost", port: Int = 0, clients: [DemoClient], publicFolder: String,
        stateFile: String? = nil,
        now: @escaping @Sendable () -> Date = { Date() },
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = { count in
            var generator = SystemRandomNumberGenerator()
            return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }
    ) {
        self.host = host
        self.port = port
        self.clients = clients
        self.publicFolder = publicFolder
        self.stateFile = stateFile
        self.now = now
        self.randomBytes = randomBytes
    }
}

/// The reason why the demo tenant cannot start.
public enum DemoTenantError: Error, Sendable, CustomStringConvertible {
    /// The configured host is not a name or address of this computer's loopback interface.
    case hostIsNotLoopback(String)
    /// A configured application cannot be registered.
    case client(String, reason: String)
    /// A configured person cannot exist.
    case user(String, reason: String)
    /// A configured group cannot exist.
    case group(String, reason: String)
    /// The state file cannot be read, or is not a state file.
    case stateFile(path: String, reason: String)
    /// A file with texts of the pages cannot be used.
    case texts(String)
    /// The server cannot listen on the address.
    case cannotListen(String)
    /// A signing key could not be made.
    case signingKey(String)

    /// The description of the error, with the remedy.
    public var description: String {
        switch self {
        case .hostIsNotLoopback(let host):
            "The demo tenant serves this computer only, and '\(host)' is not localhost, 127.0.0.1 or ::1."
        case .client(let name, let reason): "The application '\(name)' cannot be registered: \(reason)."
        case .user(let name, let reason): "The user '\(name)' cannot be used: \(reason)."
        case .group(let name, let reason): "The group '\(name)' cannot be used: \(reason)."
        case .stateFile(let path, let reason):
            "The demo tenant's state file \(path) cannot be used: \(reason). Remove it to start again."
        case .texts(let reason): "The demo tenant's texts cannot be used: \(reason)"
        case .cannotListen(let reason): "The demo tenant cannot listen: \(reason)"
        case .signingKey(let reason): "The demo tenant's signing key could not be made: \(reason)"
        }
    }
}
