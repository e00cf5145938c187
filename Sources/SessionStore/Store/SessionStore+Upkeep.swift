import Foundation

/// What the background work remembers from round to round.
package struct UpkeepProgress: Sendable {
    /// The mark for which the cache is right.
    var mark: ChangeMark?
    package var written = ContinuousClock.now
    /// The key that seals, once the backend knows of it.
    package var notedKey: KeyRing.KeyID?
    /// nil when nothing is to be sealed anew.
    package var resealing: Resealing?
    /// Whether the backend has something to tidy up.
    package var isTidying = false
    /// What this server has reported of itself to others on the same place, and when.
    var reported: (keys: Set<KeyRing.KeyID>, at: ContinuousClock.Instant)?

    /// As at the opening of the backend, which has noted the key.
    package init(mark: ChangeMark? = nil, ring: KeyRing) {
        self.mark = mark
        follow(ring)
    }

    mutating func follow(_ ring: KeyRing) {
        notedKey = ring.currentKeyID
        resealing = ring.older.isEmpty ? nil : Resealing(key: ring.currentKeyID)
    }
}

extension SessionStore {
    /// How often uses are written and expired rows purged: often enough for another server to know of a use.
    var writeInterval: Duration { min(.seconds(60), .milliseconds(rules.lifetimes.idle) / 4) }
    /// How many uses are written at a time. A sign-in waits for all of them.
    private static let batch = 100

    /// One round of the background work, each second.
    package func upkeepRound(_ progress: UpkeepProgress) async -> UpkeepProgress {
        var progress = progress
        progress.mark = await noticeOutsideChanges(since: progress.mark)
        await report(&progress)
        await lookAtClock()
        await followRotation(&progress)
        if progress.written.duration(to: .now) >= writeInterval {
            progress.written = .now
            // Writes the uses first. When the disk refuses, the next minute tries again.
            if await hasChore(.purge) {
                _ = try? await purge(by: time.deleting)
            } else {
                try? await writeLastUses()
            }
            progress.isTidying = true
        }
        if progress.isTidying { progress.isTidying = (try? await backend.tidyUp()) ?? false }
        return progress
    }

    /// What was noted while the clock was ahead lasts no longer for it. When the disk refuses, the next round tries again.
    private func lookAtClock() async {
        guard let now = time.look() else { return }
        cache.bringBack(to: now)
        if (try? await backend.bringBack(to: now)) != nil { time.broughtBack() }
        cache.endAll()
    }

    /// Ends all cache entries when somebody else has changed something since `mark`, and reads the key file again when
    /// it changed. Returns the mark now.
    package func noticeOutsideChanges(since mark: ChangeMark?) async -> ChangeMark? {
        _ = sealer.reloadIfChanged()
        guard let now = await backend.changeMark() else { return mark }
        if let mark, mark != now { cache.endAll() }
        return now
    }

    /// After a rotation, and at each start while there are older keys: seals everything with the current key, a fifth
    /// of a second at a time. An error (the disk is full) leaves the rest for the next round.
    private func followRotation(_ progress: inout UpkeepProgress) async {
        let ring = sealer.ring
        if progress.notedKey != ring.currentKeyID {
            guard (try? await noteCurrentKey()) != nil else { return }
            progress.follow(ring)
            onRotation?(ring.currentKeyID)
        }
        guard progress.resealing != nil, await hasChore(.resealing) else { return }
        let end = ContinuousClock.now + .milliseconds(200)
        while let state = progress.resealing, ContinuousClock.now < end, !Task.isCancelled {
            do throws(StoreError) {
                if let next = try await resealStep(state) {
                    progress.resealing = next
                } else {
                    // Once more when there was something: a write that was under way may have used the older key.
                    progress.resealing = state.count > 0 ? Resealing(key: state.key) : nil
                }
            } catch {
                return
            }
        }
    }

    /// Writes when sessions were last used, a hundred in each transaction.
    package func writeLastUses() async throws(StoreError) {
        let uses = cache.takeUnwrittenUses().map { (key: $0.key, at: $0.value) }.sorted { $0.key.value < $1.key.value }
        do {
            var held: [SessionKey] = []
            for start in stride(from: 0, to: uses.count, by: Self.batch) {
                held += try await backend.noteUses(Array(uses[start..<min(start + Self.batch, uses.count)]))
            }
            cache.usesWritten(but: held)
        } catch {
            cache.usesNotWritten()
            throw error
        }
    }

    /// Deletes what has expired, in small batches, and returns how many sessions. Safe beside a running server.
    public func purgeExpired() async throws(StoreError) -> Int { try await purge(by: now) }

    /// Deletes what was over by then.
    private func purge(by now: Int64) async throws(StoreError) -> Int {
        try await writeLastUses()
        var count = 0
        func take(_ step: PurgeStep) {
            cache.end(step.ended)
            count += step.ended.count
        }
        var cursor = StoreCursor.beginning
        var isMore = true
        while isMore {
            let step = try await backend.purgeSessions(from: cursor, rules, now: now)
            take(step)
            (cursor, isMore) = (step.next, step.isMore)
        }
        isMore = true
        while isMore {
            let step = try await backend.purgeAttempts(rules, now: now)
            take(step)
            isMore = step.isMore
        }
        return count
    }

    /// True when a write is stored (`/readyz`). One within the last second answers for it.
    public func probeWritable() async -> Bool {
        if let since = backend.sinceLastWrite, since < .seconds(1) { return true }
        do throws(StoreError) {
            try await requireWritable()
            return true
        } catch {
            return false
        }
    }

    /// Before something is spent that can only be kept here.
    ///
    /// - Throws: `unavailable` when no write is stored now; that one was a moment ago says nothing.
    public func requireWritable() async throws(StoreError) {
        try await backend.confirmWritable(now: now)
    }
}
