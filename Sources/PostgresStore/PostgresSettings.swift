import CPostgres
import SessionStore
import WebFormats

/// Which PostgreSQL database sessions live in, and how it is reached.
public struct PostgresSettings: Sendable, Equatable, Redacted {
    /// Whether statements are prepared.
    public enum Preparation: String, Sendable, CaseIterable {
        /// Once for each connection. Where a pooler turns out to be between (PgBouncer before 1.21), not at all.
        case auto
        /// Never.
        case off
    }

    /// One server that may be the one.
    struct Endpoint: Sendable, Equatable {
        /// nil for libpq's default, a Unix socket.
        var host: String?
        /// An address that was given, so that no name has to be resolved.
        var address: String?
        var port: String?

        /// Whether a name has to be resolved before libpq connects, which would block its thread.
        var needsResolution: Bool {
            guard address == nil, let host else { return false }
            return !host.hasPrefix("/") && !host.hasPrefix("@")
        }
    }

    /// libpq's connection parameters (PostgreSQL's documentation, section 34.1.2) but those of the endpoints.
    private(set) var parameters: [String: String]
    let endpoints: [Endpoint]
    /// Whether statements are prepared.
    public var preparation = Preparation.auto
    /// The most connections for transactions of one process.
    public var poolSize = 8
    /// How long a cached session is trusted.
    public var staleness: Duration = .seconds(1)

    /// Whether a configured database is one of PostgreSQL: a URL, or libpq's keywords.
    public static func isMeant(by text: String) -> Bool {
        ["postgresql://", "postgres://"].contains { text.hasPrefix($0) } || text.hasPrefix("host=")
            || text.hasPrefix("dbname=") || text.hasPrefix("service=")
    }

    /// Reads a connection string: a URL (`postgresql://user@host:5432/database?sslmode=verify-full`) or keywords
    /// (`host=… dbname=…`), as libpq does.
    ///
    /// - Parameter password: takes the place of the one in the text.
    /// - Throws: `unavailable` with a sentence for the person who wrote the text; it never quotes it.
    public init(_ text: String, password: String? = nil) throws(StoreError) {
        guard Self.isMeant(by: text) else { throw .unavailable("the database is not one of PostgreSQL") }
        var found = try Self.parse(text)
        for refused in ["options", "replication", "gssencmode", "client_encoding"] where found[refused] != nil {
            throw .unavailable("the database's address must not set \(refused)")
        }
        let hosts = found.removeList("host"), addresses = found.removeList("hostaddr")
        let ports = found.removeList("port")
        endpoints = (0..<max(1, hosts.count, addresses.count)).map { index in
            Endpoint(
                host: hosts.element(index), address: addresses.element(index),
                port: ports.element(ports.count == 1 ? 0 : index))
        }
        if let password { found["password"] = password }
        found["target_session_attrs"] = found["target_session_attrs"] ?? "read-write"
        found["application_name"] = found["application_name"] ?? "companion"
        // An encrypted connection is TLS's. Kerberos would be asked for a ticket, on the thread that connects.
        found["gssencmode"] = "disable"
        found["client_encoding"] = "UTF8"
        parameters = found
    }

    /// The same with a password.
    public func with(password: String) -> PostgresSettings {
        var settings = self
        settings.parameters["password"] = password
        return settings
    }

    /// The parameters for one endpoint.
    ///
    /// - Parameter address: the one that its name was resolved to.
    func parameters(for endpoint: Endpoint, at address: String?) -> [String: String] {
        var all = parameters
        all["host"] = endpoint.host
        all["hostaddr"] = address ?? endpoint.address
        all["port"] = endpoint.port
        return all
    }

    /// Where it is, for people: without the password.
    public var description: String {
        let hosts = endpoints.map { endpoint in
            let host = endpoint.host ?? endpoint.address ?? "localhost"
            return endpoint.port.map { "\(host):\($0)" } ?? host
        }
        let user = parameters["user"].map { $0 + "@" } ?? ""
        return "postgresql://\(user)\(hosts.joined(separator: ","))/\(parameters["dbname"] ?? "")"
    }

    /// Whether what is sent could be read, or answered, by somebody between: another machine, without a certificate that
    /// is checked.
    public var isUnprotected: Bool {
        let isLocal = endpoints.allSatisfy { endpoint in
            guard let host = endpoint.address ?? endpoint.host else { return true }
            return host.hasPrefix("/") || host.hasPrefix("@") || ["localhost", "127.0.0.1", "::1"].contains(host)
        }
        return !isLocal && !["verify-ca", "verify-full"].contains(parameters["sslmode"] ?? "prefer")
    }

    /// The role, where one is named.
    package var user: String? { parameters["user"] }

    /// Whether a password is set.
    public var hasPassword: Bool { parameters["password"] != nil }

    private static func parse(_ text: String) throws(StoreError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &message) else {
            // The message may quote the text, and with it a password.
            PQfreemem(message)
            throw .unavailable(
                "the database's address is not one of PostgreSQL: write postgresql://user@host:5432/database")
        }
        defer { PQconninfoFree(options) }
        var found: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { found[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return found
    }
}

extension [String: String] {
    /// Takes a list with commas out.
    fileprivate mutating func removeList(_ name: String) -> [String] {
        removeValue(forKey: name)?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    }
}

extension [String] {
    /// The element, unless it is empty or not there.
    fileprivate func element(_ index: Int) -> String? {
        indices.contains(index) && !self[index].isEmpty ? self[index] : nil
    }
}
