/// The state that the background work keeps from round to round.
package struct UpkeepProgress: Sendable {
    /// The change mark at which the cache was current.
    var mark: ChangeMark?
    package var written = ContinuousClock.now
    /// The sealing key that the backend has recorded.
    package var notedKey: KeyRing.KeyID?
    /// The progress of resealing; nil when there is nothing to reseal.
    package var resealing: Resealing?
    /// Whether the backend has more to tidy up.
    package var isTidying = false
    /// The problems of this server beside others, as of its last report.
    var besideOthers: [StoreConcern] = []
    /// The keys that this server last reported to others, with the time.
    var reported: (keys: Set<KeyRing.KeyID>, at: ContinuousClock.Instant)?

    /// Starts at the opening of the database, which has recorded the key.
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
    /// The interval at which uses are written and expired rows purged: short enough for another server to notice a use.
    var writeInterval: Duration { min(.seconds(60), .milliseconds(rules.lifetimes.idle) / 4) }
    /// The number of uses that are written at a time. A sign-in waits for all of them.
    private static let batch = 100

    /// Does one round of the background work, each second.
    package func upkeepRound(_ progress: UpkeepProgress) async -> UpkeepProgress {
        var progress = progress
        progress.mark = await noticeOutsideChanges(since: progress.mark)
        await report(&progress)
        note(progress.besideOthers + ownConcerns)
        await lookAtClock()
        await followRotation(&progress)
        if progress.written.duration(to: .now) >= writeInterval {
            progress.written = .now
            // Uses are written first. If the disk refuses, the next minute tries again.
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

    /// Shortens times that were recorded while the clock was ahead. If the disk refuses, the next round tries again.
    private func lookAtClock() async {
        guard let now = time.look() else { return }
        cache.bringBack(to: now)
        if (try? await backend.bringBack(to: now)) != nil { time.broughtBack() }
        cache.endAll()
    }

    /// Ends all cache entries if another process has changed something since `mark`, and reads the key file again if it
    /// has changed. Returns the current mark.
    package func noticeOutsideChanges(since mark: ChangeMark?) async -> ChangeMark? {
        await followKeyFile()
        guard let now = await backend.changeMark() else { return mark }
        if let mark, mark != now { cache.endAll() }
        return now
    }

    /// Reseals everything with the current key, after a rotation and at each start while there are older keys, a fifth
    /// of a second at a time. After an error, such as a full disk, the next round continues.
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
                    // If values were found, look once more: a write in progress may have used the older key.
                    progress.resealing = state.count > 0 ? Resealing(key: state.key) : nil
                }
            } catch {
                return
            }
        }
    }

    /// Writes the times when sessions were last used, a hundred in each transaction.
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

    /// Deletes what has expired, in small batches, and returns the number of sessions. Safe beside a running server.
    public func purgeExpired() async throws(StoreError) -> Int { try await purge(by: now) }

    /// Deletes what had expired by `now`.
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

    /// Returns whether a write is stored (`/readyz`). A write within the last second counts.
    public func probeWritable() async -> Bool {
        if let since = backend.sinceLastWrite, since < .seconds(1) { return true }
        do throws(StoreError) {
            try await requireWritable()
            return true
        } catch {
            return false
        }
    }

    /// Checks that writing works, before something is spent whose result can only be kept here.
    ///
    /// - Throws: `unavailable` when no write can be stored now. An earlier successful write does not count.
    public func requireWritable() async throws(StoreError) {
        try await backend.confirmWritable(now: now)
    }
}
