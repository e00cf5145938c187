/// What is known of a session's latest change at this server.
enum RecentChange: Equatable {
    /// There was none lately.
    case none
    /// There was, and the session was read since.
    case version(Int64)
    /// There was, and the session was not read since.
    case unread
}

/// The sessions that this server has changed lately, and when. Bounded: the oldest half goes when there are too many.
struct RecentChanges {
    private static let maxCount = 20_000

    private var young: [SessionKey: ContinuousClock.Instant] = [:]
    private var old: [SessionKey: ContinuousClock.Instant] = [:]

    /// Notes sessions that were changed just now.
    mutating func note(_ sessions: [SessionKey]) {
        let now = ContinuousClock.now
        for session in sessions { young[session] = now }
        guard young.count > Self.maxCount else { return }
        old = young
        young = [:]
    }

    /// Whether a session was changed within the last so long.
    func contains(_ session: SessionKey, within duration: Duration) -> Bool {
        guard let time = young[session] ?? old[session] else { return false }
        return time.duration(to: .now) < duration
    }
}
