import Foundation
package import PostgresStore
import SessionStore
import Synchronization
import TestSupport

/// The tests' own PostgreSQL server. It is started once for the process, in a temporary folder, and ends with the
/// process.
///
/// Each test has a role and a schema of the same name, which PostgreSQL searches first.
package final class PostgresServer: Sendable {
    /// The folder of the newest version of Debian's programs; nil if none is installed.
    private static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.compactMap(Int.init).sorted().reversed().map { "\(root)/\($0)/bin" }
            .first { access($0 + "/postgres", X_OK) == 0 }
    }()
    package static var isInstalled: Bool { programs != nil }

    /// The server, which is started at its first use.
    package static let shared = Result { try PostgresServer() }
    /// Another server, with nothing of the first.
    package static let second = Result { try PostgresServer() }

    package let folder: String
    /// The TCP port on which it listens with TLS, beside its Unix socket.
    package let port: Int
    private let ports: HeldPorts
    private let nextNumber = Mutex(0)
    /// The process whose end stops the server, however this process ends.
    private let process: ChildProcess

    private init() throws {
        guard let programs = Self.programs else { throw UnexpectedOutcome(name: "PostgreSQL is not installed") }
        folder = try ChildProcess.temporaryFolder("postgres")
        ports = try HeldPorts()
        port = ports.first
        // A statement that waits for a lock for longer than a test is patient fails, and says so.
        process = try ChildProcess(
            """
            set -e
            # A step removes its folder itself, with the thousands of files in this one.
            [ -z "$STEP_FOLDER" ] || trap - EXIT
            cd \(folder)
            \(programs)/initdb -D data -U postgres --auth=trust --no-sync -E UTF8 --locale=C >initdb.log 2>&1
            openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
                -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout data/server.key -out data/server.crt 2>/dev/null
            cp data/server.crt authority.crt
            chmod 600 data/server.key
            echo 'local all +password_holders scram-sha-256' | cat - data/pg_hba.conf >hba.conf
            mv hba.conf data/pg_hba.conf
            \(programs)/postgres -D data -c unix_socket_directories=\(folder) \
                -c listen_addresses=127.0.0.1 -c port=\(port) -c ssl=on -c fsync=off -c max_connections=1000 -c shared_buffers=64MB -c checkpoint_timeout=30s \
                -c lock_timeout=\(Int(patience))s \
                >server.log 2>&1 &
            """, folder: folder, endedBy: "QUIT")
        try Self.waitUntilReady(settings(user: "postgres"))
    }

    /// Waits until a server accepts connections.
    static func waitUntilReady(_ settings: PostgresSettings) throws {
        let end = ContinuousClock.now + .seconds(patience)
        while true {
            do {
                _ = try BlockingConnection(settings)
                return
            } catch {
                guard ContinuousClock.now < end else { throw error }
                usleep(50_000)
            }
        }
    }

    /// Creates a role with its own schema, and returns its name.
    package func makeRole() throws -> String {
        let role = nextNumber.withLock { number in
            number += 1
            return "test\(number)"
        }
        let connection = try BlockingConnection(settings(user: "postgres"))
        try connection.query("CREATE ROLE \(role) LOGIN")
        try connection.query("CREATE SCHEMA \(role) AUTHORIZATION \(role)")
        return role
    }

    /// Drops a role with its schema. What is still connected would hold locks.
    func dropRole(_ role: String) throws {
        let connection = try BlockingConnection(settings(user: "postgres"))
        try connection.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", [.text(role)])
        try connection.query("DROP SCHEMA \(role) CASCADE")
        try connection.query("DROP ROLE \(role)")
    }

    /// Requires a role's password on the Unix socket from now on.
    package func demandPassword(of role: String) throws {
        let connection = try BlockingConnection(settings(user: "postgres"))
        if try connection.query("SELECT 1 FROM pg_roles WHERE rolname = 'password_holders'").rows.isEmpty {
            try connection.query("CREATE ROLE password_holders")
        }
        try connection.query("GRANT password_holders TO \(role)")
    }

    /// Makes the server refuse or accept a role's writes. Reads still work.
    package func refuseWrites(_ isRefused: Bool, of role: String) throws {
        let verbs = "INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(role)"
        try BlockingConnection(settings(user: "postgres"))
            .query(isRefused ? "REVOKE \(verbs) FROM \(role)" : "GRANT \(verbs) TO \(role)")
    }

    /// Returns the settings with which a role reaches the server over its Unix socket.
    package func settings(user: String) throws -> PostgresSettings {
        try PostgresSettings("host=\(folder) port=\(port) user=\(user) dbname=postgres")
    }

    /// Returns the settings with which a role reaches the server over TCP, at an address of this machine that does not
    /// count as loopback.
    ///
    /// - Parameter more: further parameters, added to the address.
    package func remoteSettings(user: String, _ more: String = "") throws -> PostgresSettings {
        try PostgresSettings("postgresql://\(user)@0.0.0.0:\(port)/postgres\(more)")
    }

    /// Returns the settings with which a role reaches the server over TLS and checks its certificate.
    package func encryptedSettings(user: String) throws -> PostgresSettings {
        try PostgresSettings(
            "postgresql://\(user)@localhost:\(port)/postgres?sslmode=verify-full&sslrootcert=\(folder)/authority.crt")
    }
}

/// A program that a shell starts, and that ends with this process. If this process runs as root, the program runs as
/// the user nobody, because PostgreSQL refuses root.
package final class ChildProcess: Sendable {
    private let input: Pipe

    /// - Parameters:
    ///   - script: Starts a program in the background, with `&` at its end.
    ///   - signal: The signal that ends the program even while it has clients.
    package init(_ script: String, folder: String, endedBy signal: String) throws {
        input = Pipe()
        let process = Process()
        // The folder goes also where the program fails.
        let command =
            "trap 'cd /; rm -rf \(folder)' EXIT\n\(script)\npid=$!\ncat >/dev/null\nkill -\(signal) $pid\nwait $pid"
        let isRoot = getuid() == 0
        process.executableURL = URL(fileURLWithPath: isRoot ? "/usr/bin/setpriv" : "/bin/sh")
        process.arguments =
            (isRoot ? ["--reuid=nobody", "--regid=nogroup", "--clear-groups", "/bin/sh"] : []) + ["-c", command]
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    /// Ends the program.
    package func end() { try? input.fileHandleForWriting.close() }

    /// Creates a folder that the program may use.
    package static func temporaryFolder(_ name: String) throws -> String {
        // The path is short, because the path of a Unix socket must be short.
        let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        let folder = "\(parent)/companion-\(name)-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        if getuid() == 0, let nobody = getpwnam("nobody")?.pointee { chown(folder, nobody.pw_uid, nobody.pw_gid) }
        return folder
    }
}
