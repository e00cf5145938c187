import Foundation
package import PostgresStore
import SessionStore
import TestSupport

/// Debian's PgBouncer in front of the tests' PostgreSQL, in transaction mode: each transaction may use a different
/// connection, on which prepared statements are missing. It is started at its first use, and ends with the process.
package final class PgBouncer: Sendable {
    private static let program = "/usr/sbin/pgbouncer"
    package static var isInstalled: Bool { PostgresServer.isInstalled && access(program, X_OK) == 0 }
    package static let shared = Result { try PgBouncer(before: PostgresServer.shared) }

    private let folder: String
    private let port: Int
    private let ports: HeldPorts
    private let process: ChildProcess

    private init(before server: Result<PostgresServer, any Error>) throws {
        let server = try server.get()
        folder = try ChildProcess.temporaryFolder("pgbouncer")
        ports = try HeldPorts()
        port = ports.first
        let users = (1...5000).map { "\"test\($0)\" \"\"" }.joined(separator: "\n")
        try users.write(toFile: folder + "/users", atomically: false, encoding: .utf8)
        try """
        [databases]
        * = host=\(server.folder) port=\(server.port)
        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = \(port)
        unix_socket_dir = \(folder)
        auth_type = trust
        auth_file = \(folder)/users
        pool_mode = transaction
        max_client_conn = 2000
        default_pool_size = 6
        max_db_connections = 150
        server_idle_timeout = 2
        """.write(toFile: folder + "/pgbouncer.ini", atomically: false, encoding: .utf8)
        // PgBouncer inherits the mask of blocked signals and does not unblock them.
        process = try ChildProcess(
            "cd \(folder)\n\(Self.program) -q pgbouncer.ini >pgbouncer.log 2>&1 &", folder: folder, endedBy: "KILL")
        let first = try settings(user: server.makeRole())
        try PostgresServer.waitUntilReady(first)
    }

    /// Returns the settings with which a role reaches PostgreSQL through PgBouncer.
    package func settings(user: String) throws -> PostgresSettings {
        try PostgresSettings("host=\(folder) port=\(port) user=\(user) dbname=postgres")
    }
}
