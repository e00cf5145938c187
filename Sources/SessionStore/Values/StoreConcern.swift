/// What is wrong with this server beside the others on the same place, though the place can be written.
public struct StoreConcern: Sendable, Hashable, CustomStringConvertible {
    /// What it is about.
    public enum Kind: Sendable {
        /// The machine's clock.
        case clock
        /// A key that this server does not have seals sessions.
        case key
        /// The tables are those of a version that this one does not know.
        case schema
    }

    /// What it is about.
    public let kind: Kind
    /// What is wrong, and what to do, for the log.
    public let description: String
    /// Whether requests should go to the other servers.
    public let keepsFromServing: Bool

    /// Whether both say the same, if not in the same numbers.
    func repeats(_ other: StoreConcern) -> Bool {
        kind == other.kind && keepsFromServing == other.keepsFromServing
    }
}

extension StoreConcern {
    /// A clock that is off by more is worth a word, in milliseconds.
    static let clockTolerance: Int64 = 5_000
    /// A server whose clock is off by more leaves the work to one whose clock is right.
    static let clockLimit: Int64 = 30_000

    /// What is wrong with a server.
    ///
    /// - Parameters:
    ///   - own: the server.
    ///   - standing: what the place says.
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
            // Where nobody's clock agrees with the database's, that one is wrong.
            let isOwn = living.contains { $0.id != own.id && $0.clockAhead.map { abs($0) < clockTolerance } == true }
            found.append(
                StoreConcern(
                    kind: .clock,
                    description:
                        "This machine's clock is \(abs(ahead) / 1000) s \(ahead > 0 ? "ahead of" : "behind") the "
                        + "database's. Is the time synchronisation of both machines running?",
                    keepsFromServing: isOwn && abs(ahead) > clockLimit))
        }
        return found
    }
}

extension SessionStore {
    /// What is wrong with this server beside the others on the same place, as it was some seconds ago.
    public var concerns: [StoreConcern] { found.withLock { $0 } }

    /// How far this machine's clock is ahead of the database's; nil where no servers share one.
    public var clockAhead: Duration? { time.wallAhead.map { .milliseconds($0) } }

    /// Takes note of what is wrong, and tells what is new and what is over.
    func note(_ concerns: [StoreConcern]) {
        let before = found.withLock { found in
            defer { found = concerns }
            return found
        }
        for concern in concerns where !before.contains(where: concern.repeats) { onConcern?(concern, false) }
        for concern in before where !concerns.contains(where: { $0.kind == concern.kind }) { onConcern?(concern, true) }
    }
}
