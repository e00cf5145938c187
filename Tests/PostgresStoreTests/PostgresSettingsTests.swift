import Foundation
import SessionStore
import TestSupport
import Testing

@testable import PostgresStore

/// The address and settings of a database.
@Suite struct PostgresSettingsTests {
    @Test(arguments: [
        ("postgresql://adele@db.example:5433/sessions", "postgresql://adele@db.example:5433/sessions"),
        ("postgres://db.example/sessions", "postgresql://db.example/sessions"),
        ("host=/run/postgresql dbname=sessions user=companion", "postgresql://companion@/run/postgresql/sessions"),
        ("postgresql://one,two:5433/s", "postgresql://one,two:5433/s"),
        ("postgresql://adele:hidden@db.example/s?sslmode=require", "postgresql://adele@db.example/s"),
    ]) func `settings are described without the password`(_ text: String, name: String) throws {
        #expect(PostgresSettings.isMeant(by: text))
        let settings = try PostgresSettings(text)
        #expect(settings.description == name)
        var dumped = ""
        dump(settings, to: &dumped)
        #expect(!"\(settings) \(dumped)".contains("hidden"))
    }

    @Test(arguments: ["companion.sqlite", "/var/lib/companion/companion.sqlite", "postgres.db", ""])
    func `a file's path is no PostgreSQL address`(_ text: String) {
        #expect(!PostgresSettings.isMeant(by: text))
        #expect(throws: StoreError.self) { try PostgresSettings(text) }
    }

    @Test(arguments: [
        "postgresql://db/s?options=-csearch_path=x", "postgresql://db/s?gssencmode=require", "host=db nonsense=1",
        "postgresql://adele:hidden@[db/s", "postgresql://db/s?sslmode=verify-full&sslpassword=hidden",
        "service=hidden", "postgresql:///?service=hidden",
    ]) func `the error does not quote a refused address`(_ text: String) {
        let error = #expect(throws: StoreError.self) { try PostgresSettings(text) }
        #expect(error?.description.contains("hidden") == false)
    }

    @Test func `each host is tried with its own port, at the address that its name has`() throws {
        let settings = try PostgresSettings("host=one,/run/two,192.0.2.1 port=5433,5434, dbname=s")
        #expect(settings.endpoints.map(\.host) == ["one", "/run/two", "192.0.2.1"])
        #expect(settings.endpoints.map(\.port) == ["5433", "5434", nil])
        #expect(settings.endpoints.map(\.needsResolution) == [true, false, true])
        let parameters = settings.parameters(for: settings.endpoints[0], at: "192.0.2.7")
        #expect(parameters["host"] == "one")
        #expect(parameters["hostaddr"] == "192.0.2.7")
        #expect(parameters["target_session_attrs"] == "read-write")
        #expect(parameters["gssencmode"] == "disable")
    }

    @Test(arguments: [
        ("postgresql://db.example/s", true), ("postgresql://db.example/s?sslmode=require", true),
        ("postgresql://db.example/s?sslmode=verify-full", false), ("postgresql://localhost/s", false),
        ("host=/run/postgresql dbname=s", false),
    ]) func `a connection that others could read is recognised`(_ text: String, isUnprotected: Bool) throws {
        #expect(try PostgresSettings(text).isUnprotected == isUnprotected)
    }

    @Test(arguments: [
        ("postgresql://db.example/s", "require"), ("postgresql://192.0.2.2/s", "require"),
        ("postgresql://127.0.0.2/s", nil),
        ("postgresql://localhost,db.example/s", "require"), ("postgresql://localhost/s?hostaddr=192.0.2.1", "require"),
        ("postgresql://db.example/s?sslmode=disable", "disable"), ("postgresql://db.example/s?sslmode=allow", "allow"),
        ("postgresql://db.example/s?sslmode=prefer", "prefer"),
        ("postgresql://db.example/s?sslmode=verify-ca", "verify-ca"), ("postgresql://localhost/s", nil),
        ("postgresql://db.example/s?hostaddr=127.0.0.1", nil), ("host=/run/postgresql dbname=s", nil),
        ("dbname=s", nil),
    ]) func `a connection to another machine requires TLS, unless the address says otherwise`(
        _ text: String, mode: String?
    ) throws {
        let settings = try PostgresSettings(text)
        #expect(settings.parameters["sslmode"] == mode)
        #expect(settings.endpoints.allSatisfy { settings.parameters(for: $0, at: nil)["sslmode"] == mode })
    }

    @Test func `variables of libpq count as if they stood in the address, which takes precedence`() async {
        await #expect(processExitsWith: .success) {
            func found(_ text: String = "postgresql:///s") throws -> [String] {
                let settings = try PostgresSettings(text)
                return [settings.description, settings.parameters["sslmode"] ?? "", "\(settings.isUnprotected)"]
            }
            #expect(try found() == ["postgresql://localhost/s", "", "false"])
            setenv("PGHOST", "192.0.2.1", 1)
            setenv("PGPORT", "6432", 1)
            #expect(try found() == ["postgresql://192.0.2.1:6432/s", "require", "true"])
            #expect(try found("postgresql://localhost:5432/s") == ["postgresql://localhost:5432/s", "", "false"])
            setenv("PGSSLMODE", "prefer", 1)
            #expect(try found() == ["postgresql://192.0.2.1:6432/s", "prefer", "true"])
            setenv("PGSSLMODE", "verify-full", 1)
            #expect(try found() == ["postgresql://192.0.2.1:6432/s", "verify-full", "false"])
            #expect(try found("postgresql://db/s?sslmode=require")[1] == "require")
            for name in ["PGHOST", "PGPORT", "PGSSLMODE"] { unsetenv(name) }
            let file = TemporaryFolder.ofProcess.appendingPathComponent(UUID().uuidString)
            try Data("[far]\nhost=192.0.2.2\nsslmode=verify-ca\n".utf8).write(to: file)
            setenv("PGSERVICEFILE", file.path, 1)
            setenv("PGSERVICE", "far", 1)
            #expect(try found() == ["postgresql://192.0.2.2/s", "verify-ca", "false"])
            try FileManager.default.removeItem(at: file)
        }
    }
}
