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

    /// The remedy where a state file cannot be read or written, or is another tenant's.
    package static let otherStateFile = "name another with --state, or in the demo with --database"

    /// The description of the error, with the remedy.
    public var description: String {
        switch self {
        case .hostIsNotLoopback(let host):
            "The demo tenant serves this computer only, and '\(host)' is not localhost, 127.0.0.1 or ::1."
        case .client(let name, let reason): "The application '\(name)' cannot be registered: \(reason)."
        case .user(let name, let reason): "The user '\(name)' cannot be used: \(reason)."
        case .group(let name, let reason): "The group '\(name)' cannot be used: \(reason)."
        case .stateFile(let path, let reason):
            "The demo tenant's state file \(path) cannot be used: \(reason)."
        case .texts(let reason): "The demo tenant's texts cannot be used: \(reason)"
        case .cannotListen(let reason): "The demo tenant cannot listen: \(reason)"
        case .signingKey(let reason): "The demo tenant's signing key could not be made: \(reason)"
        }
    }
}
