import CPostgres
import Foundation
public import SessionStore
public import WebFormats

/// The PostgreSQL database for sessions, and the way to reach it.
public struct PostgresSettings: Sendable, Equatable, Redacted {
    /// Whether statements are prepared.
    public enum Preparation: String, Sendable, CaseIterable {
        /// Once for each connection. Not at all if there turns out to be a pooler that does not support it (PgBouncer
        /// before 1.21).
        case auto
        /// Never.
        case off
    }

    /// One of the possible servers.
    struct Endpoint: Sendable, Equatable {
        /// The host; nil for libpq's default, a Unix socket.
        var host: String?
        /// An address from the settings, so that no name has to be resolved.
        var address: String?
        var port: String?

        /// Whether a name has to be resolved before libpq connects, which would block its thread.
        var needsResolution: Bool {
            guard address == nil, let host else { return false }
            return !host.hasPrefix("/") && !host.hasPrefix("@")
        }

        /// Whether the connection stays on this machine.
        var isLocal: Bool {
            guard let host = address ?? host else { return true }
            return host.hasPrefix("/") || host.hasPrefix("@") || Loopback.contains(host)
        }
    }

    /// libpq's connection parameters (PostgreSQL's documentation, section 34.1.2), except those of the endpoints.
    private(set) var parameters: [String: String]
    private var passwordFile: String?
    let endpoints: [Endpoint]
    /// Whether statements are prepared.
    public var preparation = Preparation.auto
    /// The most connections that one process uses for transactions.
    public var poolSize = 8
    /// The time for which a cached session is trusted.
    public var staleness: Duration = .seconds(1)

    /// Whether a configured database is a PostgreSQL database: a URL, or libpq's keywords.
    public static func isMeant(by text: String) -> Bool {
        ["postgresql://", "postgres://"].contains { text.hasPrefix($0) } || text.hasPrefix("host=")
            || text.hasPrefix("dbname=") || text.hasPrefix("service=")
    }

    /// Parameters that an address must not set: those that change the meaning of statements, a secret, and a file that
    /// names the server.
    public static let refused = ["options", "replication", "gssencmode", "client_encoding", "sslpassword", "service"]

    /// Reads a connection string: a URL (`postgresql://user@host:5432/database?sslmode=verify-full`) or keywords
    /// (`host=… dbname=…`), like libpq. libpq's environment variables (`PGHOST`) apply where the text says nothing.
    ///
    /// TLS is requested from a server on another machine (`sslmode=require`), unless the text or the environment says
    /// otherwise.
    ///
    /// - Parameter password: replaces the password in the text.
    /// - Throws: `unavailable` with a sentence for the author of the text; it never quotes the text.
    public init(_ text: String, password: String? = nil) throws(StoreError) {
        guard Self.isMeant(by: text) else { throw .unavailable("the database is not a PostgreSQL database") }
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
        // Only TLS encrypts connections. Kerberos would request a ticket, on the thread that connects.
        found["gssencmode"] = "disable"
        found["client_encoding"] = "UTF8"
        if found["sslmode"] == nil, !endpoints.allSatisfy(\.isLocal) { found["sslmode"] = "require" }
        parameters = found
    }

    /// The parameters that libpq takes from environment variables, and from the service that one of them names: the
    /// server's address, and the protection of the connection.
    private static var environment: [String: String] {
        let meant = ["host", "hostaddr", "port", "sslmode"]
        guard let options = PQconndefaults() else { return [:] }
        defer { PQconninfoFree(options) }
        let isMeant: (PQconninfoOption) -> Bool = { option in
            guard meant.contains(String(cString: option.keyword)) else { return false }
            if let variable = option.envvar, getenv(variable) != nil { return true }
            // A parameter that is not set has libpq's compiled value.
            return option.compiled.map { strcmp($0, option.val) != 0 } ?? true
        }
        return values(of: options, where: isMeant)
    }

    /// Reads the values of a list of libpq, which ends with an entry without a name.
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

    /// Returns the settings with the password from a file. The file is read again for each connection, because the
    /// password may have changed.
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

    /// The parameters with the current password.
    var currentParameters: [String: String] {
        guard let password = filedPassword else { return parameters }
        return parameters.merging(["password": password]) { $1 }
    }

    /// Returns the parameters for one endpoint.
    ///
    /// - Parameter address: the address to which its name was resolved.
    func parameters(for endpoint: Endpoint, at address: String?) -> [String: String] {
        var all = currentParameters
        all["host"] = endpoint.host
        all["hostaddr"] = address ?? endpoint.address
        all["port"] = endpoint.port
        return all
    }

    /// The database's location, without the password, to be shown to people.
    public var description: String {
        let hosts = endpoints.map { endpoint in
            let host = endpoint.host ?? endpoint.address ?? "localhost"
            return endpoint.port.map { "\(host):\($0)" } ?? host
        }
        let user = parameters["user"].map { $0 + "@" } ?? ""
        return "postgresql://\(user)\(hosts.joined(separator: ","))/\(parameters["dbname"] ?? "")"
    }

    /// Whether a third party could read or change the traffic: the server is on another machine, and its certificate is
    /// not checked.
    public var isUnprotected: Bool {
        !endpoints.allSatisfy(\.isLocal) && !["verify-ca", "verify-full"].contains(parameters["sslmode"])
    }

    /// Returns the protection of the connections, as the end of a sentence about the database.
    ///
    /// - Parameter isEncrypted: whether the connections turned out to be encrypted.
    public func protection(isEncrypted: Bool) -> String {
        switch (isEncrypted, isUnprotected) {
        case (true, false): "reached by encrypted connections"
        case (true, true): "reached by encrypted connections, but its certificate is not checked"
        case (false, false): "reached by connections that do not leave this machine"
        case (false, true): "reached by connections that are not encrypted"
        }
    }

    /// The role, if one is named.
    package var user: String? { parameters["user"] }

    /// Whether a password is set.
    public var hasPassword: Bool { parameters["password"] != nil }

    private static func parse(_ text: String) throws(StoreError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &message) else {
            // The message may quote the text, and with it a password.
            PQfreemem(message)
            throw .unavailable(
                "the database's address is not a PostgreSQL address: write postgresql://user@host:5432/database")
        }
        defer { PQconninfoFree(options) }
        return values(of: options)
    }
}

extension [String: String] {
    /// Removes and returns a list that is separated by commas.
    fileprivate mutating func removeList(_ name: String) -> [String] {
        removeValue(forKey: name)?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    }
}

extension [String] {
    /// Returns the element; nil if it is empty or out of range.
    fileprivate func element(_ index: Int) -> String? {
        indices.contains(index) && !self[index].isEmpty ? self[index] : nil
    }
}
