import CPostgres
import Foundation
public import SessionStore
public import WebFormats

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

        /// Whether what is sent there does not leave this machine.
        var isLocal: Bool {
            guard let host = address ?? host else { return true }
            return host.hasPrefix("/") || host.hasPrefix("@") || Loopback.contains(host)
        }
    }

    /// libpq's connection parameters (PostgreSQL's documentation, section 34.1.2) but those of the endpoints.
    private(set) var parameters: [String: String]
    private var passwordFile: String?
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

    /// What an address must not set: what would change the statements' meaning, a secret, and a file that says where the
    /// server is.
    public static let refused = ["options", "replication", "gssencmode", "client_encoding", "sslpassword", "service"]

    /// Reads a connection string: a URL (`postgresql://user@host:5432/database?sslmode=verify-full`) or keywords
    /// (`host=… dbname=…`), as libpq does, with its environment variables (`PGHOST`) for what the text does not say.
    ///
    /// A server on another machine is asked for TLS (`sslmode=require`) unless text or environment say otherwise.
    ///
    /// - Parameter password: takes the place of the one in the text.
    /// - Throws: `unavailable` with a sentence for the person who wrote the text; it never quotes it.
    public init(_ text: String, password: String? = nil) throws(StoreError) {
        guard Self.isMeant(by: text) else { throw .unavailable("the database is not one of PostgreSQL") }
        var found = try Self.parse(text)
        for refused in Self.refused where found[refused] != nil {
            throw .unavailable("the database's address must not set \(refused)")
        }
        found.merge(Self.environment) { said, _ in said }
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
        if found["sslmode"] == nil, !endpoints.allSatisfy(\.isLocal) { found["sslmode"] = "require" }
        parameters = found
    }

    /// Where libpq would connect without an address, and how it would be protected, as far as somebody has said so:
    /// environment variables, and the service that one of them names.
    private static var environment: [String: String] {
        let meant = ["host", "hostaddr", "port", "sslmode"]
        guard let options = PQconndefaults() else { return [:] }
        defer { PQconninfoFree(options) }
        let isMeant: (PQconninfoOption) -> Bool = { option in
            guard meant.contains(String(cString: option.keyword)) else { return false }
            if let variable = option.envvar, getenv(variable) != nil { return true }
            // What nobody has said has libpq's own value.
            return option.compiled.map { strcmp($0, option.val) != 0 } ?? true
        }
        return values(of: options, where: isMeant)
    }

    /// The values of a list of libpq's, which ends with an entry without a name.
    private static func values(
        of options: UnsafeMutablePointer<PQconninfoOption>, where isMeant: (PQconninfoOption) -> Bool = { _ in true }
    ) -> [String: String] {
        var found: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val, isMeant(option.pointee) {
                found[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        return found
    }

    /// The same with the password of a file, which is read again for each connection: the password may have changed since.
    ///
    /// - Throws: `unavailable` when the file cannot be read.
    public func with(passwordFile path: String) throws(StoreError) -> PostgresSettings {
        var settings = self
        settings.passwordFile = path
        guard let password = settings.filedPassword else {
            throw .unavailable("the database's password file \(path) cannot be read")
        }
        settings.parameters["password"] = password
        return settings
    }

    private var filedPassword: String? {
        passwordFile.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) }?
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The parameters with the password as it is now.
    var currentParameters: [String: String] {
        guard let password = filedPassword else { return parameters }
        return parameters.merging(["password": password]) { $1 }
    }

    /// The parameters for one endpoint.
    ///
    /// - Parameter address: the one that its name was resolved to.
    func parameters(for endpoint: Endpoint, at address: String?) -> [String: String] {
        var all = currentParameters
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
        !endpoints.allSatisfy(\.isLocal) && !["verify-ca", "verify-full"].contains(parameters["sslmode"])
    }

    /// How the connections are protected, as the end of a sentence on the database.
    ///
    /// - Parameter isEncrypted: whether they turned out to be encrypted.
    public func protection(isEncrypted: Bool) -> String {
        switch (isEncrypted, isUnprotected) {
        case (true, false): "reached by encrypted connections"
        case (true, true): "reached by encrypted connections, but its certificate is not checked"
        case (false, false): "reached by connections that do not leave this machine"
        case (false, true): "reached by connections that are not encrypted"
        }
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
        return values(of: options)
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
