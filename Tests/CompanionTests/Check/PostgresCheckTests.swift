import Foundation
import PostgresStore
import SessionStore
import StoreTesting
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore

/// The findings of `companion check` about a PostgreSQL database.
@Suite(.closesStores, .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresCheckTests {
    private func findings(_ settings: PostgresSettings) -> [String: CheckFinding] {
        let all = PostgresFindings(found: PostgresStore.inspect(settings, keyRing: nil), settings: settings).all
        return Dictionary(all.map { ($0.subject, $0) }) { first, _ in first }
    }

    @Test func `each check has a line of its own, before and after the first start`() async throws {
        let fixture = try StoreFixture(.postgres)
        let settings = try #require(fixture.postgres)
        var found = findings(settings)
        #expect(found["database"]?.severity == .good)
        #expect(found["database_schema"]?.what.english.hasPrefix("There are no tables yet.") == true)
        #expect(found["database_timeouts"]?.severity == .advice)
        let store = try fixture.open(backgroundWork: true)
        #expect(await eventually { (try? await store.servers().isEmpty) == false })
        found = findings(settings)
        #expect(found["database_schema"]?.what.english == "The tables have version 8, as this program expects.")
        for subject in ["database_writable", "database_clock", "database_connection", "database_servers"] {
            #expect(found[subject]?.severity == .good, "\(subject)")
        }
        #expect(found["database_servers"]?.what.english.hasPrefix("Companions that work with it: ") == true)
        #expect(found["database_latency"] != nil)
        try fixture.refuseWrites(true)
        #expect(findings(settings)["database_writable"]?.severity == .mistake)
    }

    @Test func `a database that takes more than 20 ms to answer is too far away`() throws {
        let fixture = try StoreFixture(.postgres)
        let settings = try #require(fixture.postgres)
        var found = PostgresStore.inspect(settings, keyRing: nil)
        let expected: [(Duration, CheckFinding.Severity)] = [
            (.milliseconds(20), .good), (.microseconds(20_001), .advice),
        ]
        for (latency, severity) in expected {
            found.latency = latency
            let all = PostgresFindings(found: found, settings: settings).all
            #expect(all.first { $0.subject == "database_latency" }?.severity == severity, "\(latency)")
        }
    }

    @Test func `a database that cannot be reached is one mistake, which names it`() throws {
        let found = findings(try PostgresSettings("host=/nonexistent dbname=sessions user=companion"))
        #expect(found.keys.sorted() == ["database"])
        #expect(found["database"]?.severity == .mistake)
        #expect(found["database"]?.what.english.contains("postgresql://companion@/nonexistent/sessions") == true)
    }

    @Test func `a host that cannot say whether it takes writes is reported as unknown`() throws {
        let server = try PostgresServer.shared.get()
        let (role, ports) = (try server.makeRole(), try HeldPorts())
        let closed = ports.first
        func primaries(_ hosts: String) throws -> CheckFinding? {
            findings(try PostgresSettings("postgresql://\(role)@\(hosts)/postgres?sslmode=disable"))[
                "database_primaries"]
        }
        let own = "127.0.0.1:\(server.port)"
        let found = try primaries("\(own),127.0.0.1:\(closed)")
        #expect(found?.severity == .unknown)
        #expect(
            found?.what.english
                == "Whether only one host takes writes is not known: 127.0.0.1:\(closed) cannot say.")
        #expect(try primaries("\(own),\(own)")?.severity == .good, "the same server twice")
        #expect(try primaries(own) == nil)
    }

    @Test func `a role that may not create tables is found, before the first start and before an update`() throws {
        let fixture = try StoreFixture(.postgres)
        let settings = try #require(fixture.postgres)
        let connection = try BlockingConnection(settings)
        let role = try #require(settings.user)
        func schema(mayCreate: Bool) throws -> CheckFinding? {
            try connection.query(
                mayCreate ? "GRANT CREATE ON SCHEMA \(role) TO \(role)" : "REVOKE CREATE ON SCHEMA \(role) FROM \(role)"
            )
            return findings(settings)["database_schema"]
        }
        #expect(try schema(mayCreate: false)?.severity == .mistake)
        #expect(try schema(mayCreate: false)?.what.english.contains("42501") == true)
        #expect(findings(settings)["database_writable"] == nil)
        #expect(try schema(mayCreate: true)?.severity == .good)
        _ = try PostgresStore.migrate(settings)
        #expect(try schema(mayCreate: false)?.severity == .good, "nothing is missing")
        try connection.query("UPDATE companion_schema SET version = version - 1")
        #expect(try schema(mayCreate: false)?.severity == .mistake)
        #expect(try schema(mayCreate: true)?.severity == .advice)
    }

    @Test(arguments: [
        ("", CheckFinding.Severity.advice, "encrypted connections, but its certificate is not checked"),
        ("?sslmode=disable", .advice, "connections that are not encrypted"),
    ]) func `connections to another machine that others could read are reported`(
        _ more: String, severity: CheckFinding.Severity, what: String
    ) throws {
        let server = try PostgresServer.shared.get()
        let found = findings(try server.remoteSettings(user: server.makeRole(), more))["database_connection"]
        #expect(found?.severity == severity)
        #expect(found?.what.english == "The database is reached by \(what).")
    }

    @Test(arguments: [
        ("", "warning the database is reached by encrypted connections, but its certificate is not checked"),
        ("?sslmode=disable", "warning the database is reached by connections that are not encrypted"),
    ]) func `the start says how the connections are protected`(_ more: String, line: String) async throws {
        let server = try PostgresServer.shared.get()
        let settings = try server.remoteSettings(user: server.makeRole(), more)
        try await Site.run(configured: { $0.database = .postgres(settings) }) { site in
            let lines = site.log.all.filter { $0.contains("the database is") }
            #expect(lines == ["\(line) [\"database\": \(settings)]"])
        }
    }

    @Test(arguments: [
        ("postgresql://adele:secret@db/s", "must not contain the password"),
        ("postgresql://db/s?sslpassword=adele:secret", "sslpassword"), ("service=adele:secret", "service"),
        ("postgresql://db/s?options=-cx=y", "must be a file, or an address"),
    ]) func `a wrong address is a mistake that does not quote it`(_ text: String, reason: String) throws {
        let mistakes = #expect(throws: ConfigurationMistakes.self) {
            try CompanionConfiguration.read(
                environment: ["COMPANION_DATABASE": text], file: nil, needsApplications: false)
        }
        #expect(mistakes?.description.contains(reason) == true)
        #expect(mistakes?.description.contains("adele:secret") == false)
    }

    @Test func `the password is read from its file, and the key is not looked for at the database's address`() throws {
        let file = TemporaryFolder.ofProcess.appendingPathComponent("password-\(UUID().uuidString)")
        try Data("hidden\n".utf8).write(to: file)
        let configuration = try CompanionConfiguration.read(
            environment: [
                "COMPANION_DATABASE": "postgresql://companion@db.example/sessions",
                "COMPANION_DATABASE_PASSWORD_FILE": file.path, "COMPANION_DEVICE_MODE": "shared",
            ], file: nil, needsApplications: false)
        #expect(configuration.database.description == "postgresql://companion@db.example/sessions")
        let place = try #require(configuration.place as? PostgresPlace)
        #expect(try place.complete().hasPassword && place.settings.staleness == .zero)
        #expect(configuration.encryptionKey.description.hasSuffix("companion.key"))
        #expect(!configuration.encryptionKey.description.contains("db.example"))
    }
}
