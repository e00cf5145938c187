import SessionStore
import Testing

@testable import PostgresStore

/// Where a database is said to be.
@Suite struct PostgresSettingsTests {
    @Test(arguments: [
        ("postgresql://adele@db.example:5433/sessions", "postgresql://adele@db.example:5433/sessions"),
        ("postgres://db.example/sessions", "postgresql://db.example/sessions"),
        ("host=/run/postgresql dbname=sessions user=companion", "postgresql://companion@/run/postgresql/sessions"),
        ("postgresql://one,two:5433/s", "postgresql://one,two:5433/s"),
        ("postgresql://adele:hidden@db.example/s?sslmode=require", "postgresql://adele@db.example/s"),
    ]) func `it is named without its password`(_ text: String, name: String) throws {
        #expect(PostgresSettings.isMeant(by: text))
        let settings = try PostgresSettings(text)
        #expect(settings.description == name)
        var dumped = ""
        dump(settings, to: &dumped)
        #expect(!"\(settings) \(dumped)".contains("hidden"))
    }

    @Test(arguments: ["companion.sqlite", "/var/lib/companion/companion.sqlite", "postgres.db", ""])
    func `a file is none`(_ text: String) {
        #expect(!PostgresSettings.isMeant(by: text))
        #expect(throws: StoreError.self) { try PostgresSettings(text) }
    }

    @Test(arguments: [
        "postgresql://db/s?options=-csearch_path=x", "postgresql://db/s?gssencmode=require", "host=db nonsense=1",
        "postgresql://adele:hidden@[db/s",
    ]) func `what is refused is not quoted`(_ text: String) {
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
    ]) func `who could read what is sent is known`(_ text: String, isUnprotected: Bool) throws {
        #expect(try PostgresSettings(text).isUnprotected == isUnprotected)
    }
}
