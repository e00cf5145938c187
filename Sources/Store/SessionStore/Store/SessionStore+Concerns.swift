extension SessionStore {
    /// The problems with this server's own files, and known damage of the database.
    var ownConcerns: [StoreConcern] {
        let file = keyProblem.map { StoreConcern(kind: .keyFile, description: $0, keepsFromServing: false) }
        let database = databaseProblem.map {
            StoreConcern(kind: .database, description: $0, keepsFromServing: !isClustered)
        }
        return [database, file].compactMap(\.self)
    }

    /// The problems of this server, as they were some seconds ago.
    public var concerns: [StoreConcern] { found.withLock { $0 } }

    /// The time by which this machine's clock is ahead of the database's; nil if the database is not clustered.
    public var clockAhead: Duration? { time.wallAhead.map { .milliseconds($0) } }

    /// Records the problems, and reports those that are new and those that are solved.
    func note(_ concerns: [StoreConcern]) {
        let before = found.withLock { found in
            defer { found = concerns }
            return found
        }
        for concern in concerns where !before.contains(where: concern.repeats) { onConcern?(concern, false) }
        for concern in before where !concerns.contains(where: { $0.kind == concern.kind }) { onConcern?(concern, true) }
    }
}
