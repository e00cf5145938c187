/// The knowledge that this server has about a session's latest change.
enum RecentChange: Equatable {
    /// The session has not changed recently.
    case none
    /// The session has changed, and was read since.
    case version(Int64)
    /// The session has changed, and was not read since.
    case unread
}

/// The sessions that this server has changed recently, or read for the first time since a change, with the times. When there are too many, the oldest half is
/// dropped.
struct RecentChanges {
    private static let maxCount = 20_000

    private var young: [SessionKey: ContinuousClock.Instant] = [:]
    private var old: [SessionKey: ContinuousClock.Instant] = [:]

    /// Records sessions that were changed just now.
    mutating func note(_ sessions: [SessionKey]) {
        let now = ContinuousClock.now
        for session in sessions { young[session] = now }
        guard young.count > Self.maxCount else { return }
        old = young
        young = [:]
    }

    /// Whether a session was changed within `duration`.
    func contains(_ session: SessionKey, within duration: Duration) -> Bool {
        guard let time = young[session] ?? old[session] else { return false }
        return time.duration(to: .now) < duration
    }
}
