/// A problem of this server's store that is not a failed operation: beside the other servers on the same database, or
/// with files of its own.
public struct StoreConcern: Sendable, Hashable, CustomStringConvertible {
    /// The subject of the problem.
    public enum Kind: Sendable {
        /// The machine's clock.
        case clock
        /// A key that this server lacks seals sessions.
        case key
        /// The tables have a version that this server does not know.
        case schema
        /// The key file would not serve a restart.
        case keyFile
        /// The database is damaged, or its file no longer the one that has its name.
        case database

        /// Whether other servers on the same database are concerned.
        public var isBesideOthers: Bool { ![.keyFile, .database].contains(self) }
    }

    /// The subject of the problem.
    public let kind: Kind
    /// The problem and its remedy, for the log.
    public let description: String
    /// Whether requests should go to other servers.
    public let keepsFromServing: Bool

    /// Whether both report the same problem, possibly with different numbers.
    func repeats(_ other: StoreConcern) -> Bool {
        kind == other.kind && keepsFromServing == other.keepsFromServing
    }
}

extension StoreConcern {
    /// The error of a clock above which a warning is logged, in milliseconds.
    static let clockTolerance: Int64 = 5_000
    /// The error of a clock above which a server leaves the work to others whose clocks are right, in milliseconds.
    static let clockLimit: Int64 = 30_000

    /// Returns the problems of a server.
    ///
    /// - Parameters:
    ///   - standing: what the database reports.
    ///   - living: the running servers on the same database.
    ///   - living: the servers that work with it.
    static func all(of own: ServerProcess, _ standing: PlaceStanding, beside living: [ServerProcess]) -> [StoreConcern]
    {
        var found: [StoreConcern] = []
        if let refusal = standing.refusal {
            found.append(StoreConcern(kind: .schema, description: refusal.description, keepsFromServing: true))
        }
        let missing = standing.sealingKeys.subtracting(own.keys).map(\.description).sorted()
        if !missing.isEmpty {
            found.append(
                StoreConcern(
                    kind: .key,
                    description:
                        "Sessions are sealed with \(missing.joined(separator: ", ")), a key that this server does "
                        + "not have. Give it the key file of the others.", keepsFromServing: true))
        }
        if let ahead = own.clockAhead, abs(ahead) > clockTolerance {
            // If no server's clock agrees with the database's, the database's clock is wrong.
            let others = living.filter { $0.id != own.id }.compactMap(\.clockAhead)
            let isOwn = others.contains { abs($0) < clockTolerance }
            let isDatabases = !others.isEmpty && others.allSatisfy { abs($0 - ahead) < clockTolerance }
            let seconds = abs(ahead) / 1000
            found.append(
                StoreConcern(
                    kind: .clock,
                    description: isDatabases
                        ? "The database's clock is \(seconds) s \(ahead > 0 ? "behind" : "ahead of") the clocks of all "
                            + "servers that use it, which agree with each other. Set the database's clock right."
                        : "This machine's clock is \(seconds) s \(ahead > 0 ? "ahead of" : "behind") the "
                            + "database's. Is the time synchronisation of both machines running?",
                    keepsFromServing: isOwn && abs(ahead) > clockLimit))
        }
        return found
    }
}
