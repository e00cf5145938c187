import Dispatch
import Foundation
import Synchronization

/// The servers of an address that names several, by whether they take writes. After a failover there may be two: the one
/// that was promoted, and the one that it replaced, if that one is back and nobody has stopped it. What people do at one
/// is missing at the other.
public struct Primaries: Sendable {
    /// The number of places that the address leads to.
    public let places: Int
    /// The servers that take writes, each by one of its places.
    public let writable: [String]
    /// The places that cannot say whether they are a primary of their own: they did not answer, or the database has a
    /// protocol like PostgreSQL's, and several servers that take writes.
    public let unknown: [String]

    /// The reason not to use the address; nil if there is none.
    public var refusal: String? {
        guard writable.count > 1 else { return nil }
        return
            "\(writable.joined(separator: " and ")) both take writes, so one of them has been replaced. What people do at "
            + "one is missing at the other: stop the one that was replaced, and make it a standby of the other"
    }

    init(places: Int, writable: [String], unknown: [String]) {
        (self.places, self.writable, self.unknown) = (places, writable, unknown)
    }

    /// Asks every place of an address at the same time, while the calling thread waits, three seconds at most for each.
    /// nil if there is only one place.
    init?(_ settings: PostgresSettings) {
        let all = settings.places
        guard all.count > 1 else { return nil }
        let answers = Mutex<[Int: Answer]>([:])
        DispatchQueue.concurrentPerform(iterations: all.count) { index in
            let answer = Self.ask(all[index].parameters, all[index].name)
            answers.withLock { $0[index] = answer }
        }
        let found = answers.withLock { $0 }
        var servers: Set<Int64> = []
        var writable: [String] = []
        var unknown: [String] = []
        for (index, place) in all.enumerated() {
            switch found[index] {
            // The same server may be reached in several ways.
            case .primary(let start): if servers.insert(start).inserted { writable.append(place.name) }
            case .standby: break
            case .unknown, nil: unknown.append(place.name)
            }
        }
        self.init(places: all.count, writable: writable, unknown: unknown)
    }

    private enum Answer {
        /// It takes writes. `start` is when the server was started, in microseconds, which tells servers apart.
        case primary(start: Int64)
        case standby, unknown
    }

    private static func ask(_ parameters: [String: String], _ name: String) -> Answer {
        var parameters = parameters
        parameters["target_session_attrs"] = "any"
        parameters["connect_timeout"] = "3"
        guard let connection = try? BlockingConnection(parameters, name: name),
            let row = try? connection.query(
                """
                SELECT version(), current_setting('transaction_read_only'),
                    CAST(extract(epoch FROM pg_postmaster_start_time()) * 1000000 AS bigint)
                """
            ).first,
            let version = try? row.text(0), version.hasPrefix("PostgreSQL"), !version.contains("-YB-"),
            let readsOnly = try? row.text(1), let start = try? row.integer(2)
        else { return .unknown }
        return readsOnly == "on" ? .standby : .primary(start: start)
    }
}

extension PostgresSettings {
    /// The places that the address leads to, each at one address of one host, with libpq's parameters.
    fileprivate var places: [(name: String, parameters: [String: String])] {
        endpoints.flatMap { endpoint -> [(name: String, parameters: [String: String])] in
            let host = endpoint.host ?? endpoint.address ?? "localhost"
            let name = endpoint.port.map { "\(host):\($0)" } ?? host
            guard endpoint.needsResolution, let host = endpoint.host else {
                return [(name, parameters(for: endpoint, at: nil))]
            }
            let addresses = NameResolution.resolve(host)
            guard addresses.count > 1 else { return [(name, parameters(for: endpoint, at: addresses.first))] }
            return addresses.map { ("\(name) (\($0))", parameters(for: endpoint, at: $0)) }
        }
    }
}
