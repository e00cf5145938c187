public import Cryptography
public import Foundation
public import HTTPServer
public import HTTPWire
public import TLS
public import TenantDirectory
import WebFormats

/// The configuration of the demo tenant.
public struct DemoTenantConfiguration: Sendable {
    /// The host in its URLs: `localhost`, or another name or address of the loopback interface. A request to another of
    /// these names gets that name in its answers.
    public var host: String
    /// The address to listen on, if it is not ``host``. Beyond loopback the tenant serves everyone who can reach it; with
    /// the demo accounts only this machine and, in a container, the machine on which that runs. The host name in their URLs
    /// still has to be a loopback name, or that of ``publicURL``.
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
    /// Whether applications may sign people in by their passwords alone.
    public var allowsPasswords = false
    /// Reads the applications and people that are registered at run time; nil if none are.
    package var reader: DeclarationReader?
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
    /// The rooms of the companion whose demo this is.
    package let rooms = RoomsBeside()
    /// The wall clock.
    public var now: @Sendable () -> Date
    /// Unpredictable bytes.
    public var randomBytes: @Sendable (Int) -> [UInt8]
    /// The texts and permissions of ``publicFolder``, if they have been read before, as for the many tenants of a test run.
    var content: TenantContent?
    /// Makes the first signing keys if the state file has none.
    var makeSigningKeys: @Sendable () throws -> [DemoSigningKey] = DemoSigningKey.first
    /// Called with each request and its response, including secrets, for tests that search for these.
    public var onExchange: (@Sendable (Request, Response) -> Void)?

    /// The connections that one address may have open, as many as at a companion.
    public static let connectionsOfOneAddress = 512
    /// See ``connectionsOfOneAddress``.
    var connectionsOfOneAddress = Self.connectionsOfOneAddress
    /// Syncs the state file.
    var sync: StateFile.Sync = { fsync($0) }
    /// Returns the addresses of the machine on which this one is a container.
    var containerGateways: @Sendable () -> Set<PeerAddress.Network> = ContainerGateways.ofThisMachine

    /// Whether it listens on more than loopback.
    var listensBeyondLoopback: Bool { listenHost.map { !Loopback.contains($0) } ?? false }

    /// Whether a machine may open `/control` and `/outbox` without a token. Through a proxy, everyone comes from this one.
    func opensControl(to peer: PeerAddress) -> Bool { peer.isLoopback && publicURL == nil }

    /// Creates a configuration with these applications; by default for any free port of localhost and in memory.
    public init(
        host: String = "localhost", port: Int = 0, clients: [DemoClient], publicFolder: String,
        stateFile: String? = nil,
        now: @escaping @Sendable () -> Date = { Date() },
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = { SecureRandom.bytes($0) }
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
