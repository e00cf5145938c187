import Languages
import PostgresStore
import SessionStore

/// Reports findings about a PostgreSQL database to the operator.
struct PostgresFindings {
    /// A database that responds more slowly is too far away.
    private static let slow: Duration = .milliseconds(20)
    /// Clocks that differ by more than this are not synchronized.
    private static let clockTolerance: Duration = .seconds(5)

    let found: PostgresInspection
    let settings: PostgresSettings

    var all: [CheckFinding] {
        guard found.serverVersion != nil else { return [reachable] + primaries }
        let isWritable = found.creationFailure == nil ? [writable] : []
        return [reachable] + primaries + [protection, schema] + isWritable + [timeouts, clock, latency, servers]
    }

    private var name: String { settings.description }

    private var reachable: CheckFinding {
        guard let version = found.serverVersion else {
            return .mistake(
                "database",
                found.health.failure.map { Message(verbatim: $0.description) } ?? "\(name) cannot be reached.",
                why: "Nobody can sign in without the database.",
                remedy: "Try the same address with `psql`, as the server's user and from its machine.")
        }
        return .good("database", "\(name) can be reached (PostgreSQL \(version), \(found.health.bytes >> 10) KB).")
    }

    /// Nothing if the address names one host.
    private var primaries: [CheckFinding] {
        guard let primaries = found.primaries else { return [] }
        if let refusal = primaries.refusal {
            return [
                .mistake(
                    "database_primaries", Message(verbatim: refusal + "."),
                    why:
                        "Companions that work with different primaries sign out each other's people. The server does not start.",
                    remedy:
                        "Stop the one that was replaced (fencing) before anything connects to it; then rejoin it as a standby, with pg_rewind or a new base backup."
                )
            ]
        }
        guard primaries.unknown.isEmpty else {
            return [
                .unknown(
                    "database_primaries",
                    "Whether only one host takes writes is not known: \(primaries.unknown.joined(separator: ", ")) cannot say."
                )
            ]
        }
        return [.good("database_primaries", "Of the \(primaries.places) hosts, only one server takes writes.")]
    }

    private var protection: CheckFinding {
        let what: Message = "The database is \(settings.protection(isEncrypted: found.isEncrypted))."
        guard settings.isUnprotected else { return .good("database_connection", what) }
        return .advice(
            "database_connection", what,
            why: "Anyone between the machines can read who is signed in, and change it. Tokens are sealed.",
            remedy: "Add sslmode=verify-full to the address, and sslrootcert=FILE where the certificate is your own.")
    }

    private var schema: CheckFinding {
        if let failure = found.health.failure {
            return .mistake(
                "database_schema", Message(verbatim: failure.description),
                why: "The server does not start with these tables.",
                remedy: "Run the newer version, or give the server a schema of its own.")
        }
        if let failure = found.creationFailure {
            return .mistake(
                "database_schema", "The server cannot create its tables: \(failure.description)",
                why: "It creates and updates them when it starts, and does not start otherwise.",
                remedy:
                    "Run as the database's administrator, in this database: GRANT USAGE, CREATE ON SCHEMA public TO … (the role). Or make the role the owner of a database of its own."
            )
        }
        guard found.health.exists else {
            return .good("database_schema", "There are no tables yet. The server creates them at its first start.")
        }
        guard found.health.pendingMigrations.isEmpty else {
            return .advice(
                "database_schema",
                "The tables are from an older version. The next start migrates them (\(found.health.pendingMigrations.count) steps).",
                why: "Servers of the previous version keep working with the new tables; older ones do not.",
                remedy: "Run `companion migrate --dry-run` to see the steps.")
        }
        return .good("database_schema", "The tables have version \(found.schema), as this program expects.")
    }

    private var writable: CheckFinding {
        guard let failure = found.health.writeFailure else {
            return .good("database_writable", "The database can be written.")
        }
        return .mistake(
            "database_writable", "The database cannot be written: \(failure.description)",
            why: "Nobody can sign in or out for now, but people who are signed in stay signed in.",
            remedy: "Name the primary server in the address, or all servers: host1,host2.")
    }

    private var timeouts: CheckFinding {
        let role = "ALTER ROLE … SET statement_timeout = '10s', idle_in_transaction_session_timeout = '30s'"
        guard found.statementTimeout > 0, found.idleTransactionTimeout > 0 else {
            return .advice(
                "database_timeouts", "The role has no statement_timeout, or no idle_in_transaction_session_timeout.",
                why: "Statements of a companion that has lost its connection continue, and keep their locks.",
                remedy: "Run as the database's administrator: \(role)")
        }
        return .good(
            "database_timeouts",
            "The role's statements end after \(found.statementTimeout) ms, idle transactions after \(found.idleTransactionTimeout) ms."
        )
    }

    private var clock: CheckFinding {
        let difference = found.clockDifference
        guard difference > Self.clockTolerance || difference < .zero - Self.clockTolerance else {
            return .good("database_clock", "The database's clock agrees with this machine's.")
        }
        // The difference is the database's lead, that of the servers is their own.
        let others = found.servers.compactMap(\.clockAhead)
        let tolerated = (.zero - Self.clockTolerance)...Self.clockTolerance
        if !others.isEmpty, others.allSatisfy({ tolerated.contains($0 + difference) }) {
            return .mistake(
                "database_clock",
                "The database's clock differs by \(difference.components.seconds) s from this machine's and those of all companions that work with it, which agree with each other.",
                why: "Sessions end by the database's clock: everyone may be signed out while it is wrong.",
                remedy: "Run a time service (chrony, systemd-timesyncd) on the database's machine.")
        }
        return .advice(
            "database_clock", "The database's clock differs from this machine's by \(difference.components.seconds) s.",
            why:
                "Sessions depend on the database's clock, tokens on this machine's. From 5 minutes on, no one can sign in. From 30 s "
                + "on, this companion is not ready if another one agrees with the database.",
            remedy:
                "Run a time service (chrony, systemd-timesyncd) on all machines. `timedatectl` shows whether the clock is synchronized."
        )
    }

    private var latency: CheckFinding {
        let milliseconds = Int((found.latency / .milliseconds(1)).rounded(.up))
        let what: Message = "The database answers within \(milliseconds) ms."
        guard found.latency > Self.slow else { return .good("database_latency", what) }
        return .advice(
            "database_latency", what, why: "Each request that reads a session waits for it, a sign-in several times.",
            remedy: "Put the companion and the database into the same data centre.")
    }

    private var servers: CheckFinding {
        let list = found.servers.map { server -> String in
            let ahead = server.clockAhead?.components.seconds ?? 0
            return "\(server.host) (\(server.version)\(abs(ahead) > 5 ? ", its clock is off by \(ahead) s" : ""))"
        }.joined(separator: ", ")
        return .good(
            "database_servers",
            list.isEmpty ? "No companion works with it now." : "Companions that work with it: \(list).")
    }
}
