import EventLoop
import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import PostgresStore
@testable import SessionStore

/// An address with several hosts has one server that takes writes.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PrimariesTests {
    private func settings(_ role: String, _ ports: [Int]) throws -> PostgresSettings {
        let hosts = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
        return try PostgresSettings("postgresql://\(role)@\(hosts)/postgres?sslmode=disable")
    }

    @Test func `two servers that both take writes are refused, before anything is written`() throws {
        let (first, second) = (try PostgresServer.shared.get(), try PostgresServer.second.get())
        let both = try settings("postgres", [first.port, second.port])
        let refusal =
            "127.0.0.1:\(first.port) and 127.0.0.1:\(second.port) both take writes, so one of them has been replaced. What "
            + "people do at one is missing at the other: stop the one that was replaced, and make it a standby of the other"
        let ring = try KeyRing(text: Data(repeating: 1, count: 32).base64EncodedString())
        #expect(throws: StoreError.unavailable("\(both.description): \(refusal)")) {
            try PostgresStore(both, keyRing: ring)
        }
        let found = PostgresStore.inspect(both, keyRing: nil)
        #expect(found.primaries?.refusal == refusal)
        #expect(found.primaries?.unknown == [])
        #expect(
            try BlockingConnection(second.settings(user: "postgres"))
                .query("SELECT 1 FROM pg_tables WHERE tablename = 'session'").rows.isEmpty)
    }

    @Test func `one server that is reached in two ways is one`() async throws {
        let server = try PostgresServer.shared.get()
        let way = try LossyWay(to: server.port)
        let fixture = try StoreFixture(.postgres)
        let both = try settings(try #require(fixture.postgres?.user), [server.port, way.port])
        let found = try #require(Primaries(both))
        #expect(found.places == 2 && found.writable == ["127.0.0.1:\(server.port)"] && found.unknown == [])
        let store = try PostgresStore(both, keyRing: KeyRing.load(orCreateAt: fixture.keyPath))
        await store.close()
        way.close()
    }

    @Test func `a standby is none, and a host that does not answer is not known`() throws {
        let server = try PostgresServer.shared.get()
        let role = try server.makeRole()
        try BlockingConnection(server.settings(user: "postgres"))
            .query("ALTER ROLE \(role) SET default_transaction_read_only = on")
        let ports = try HeldPorts()
        let closed = ports.first
        let found = try #require(Primaries(settings(role, [server.port, closed])))
        #expect(found.writable == [])
        #expect(found.unknown == ["127.0.0.1:\(closed)"])
        #expect(found.refusal == nil)
    }

    @Test func `beside the server that took over, none is used that has come back`() async throws {
        let (first, second) = (try PostgresServer.shared.get(), try PostgresServer.second.get())
        let administrators = try [first, second].map { try BlockingConnection($0.settings(user: "postgres")) }
        for administrator in administrators {
            try administrator.query("DROP ROLE IF EXISTS replaced")
            try administrator.query("CREATE ROLE replaced LOGIN")
        }
        try administrators[0].query("ALTER ROLE replaced SET default_transaction_read_only = on")
        let workers = try WorkerGroup(count: 1)
        let lane = PostgresLane(
            worker: workers.next(), settings: try settings("replaced", [first.port, second.port]), limit: 5,
            recovery: Recovery())
        var taken = [try await lane.taken()]
        try administrators[0].query("ALTER ROLE replaced RESET default_transaction_read_only")
        for _ in 0..<4 { taken.append(try await lane.taken()) }
        #expect(taken.map(\.place) == Array(repeating: "127.0.0.1 \(second.port)", count: 5))
        await lane.worker.perform { [taken] _ in
            lane.close()
            for connection in taken { lane.giveBack(connection) }
        }
        await workers.shutdown()
    }

    @Test func `an address with one host is not asked`() throws {
        #expect(Primaries(try settings("nobody", [1])) == nil)
    }
}
