// Notes about sessions that servers on the same database keep for each other. A single server keeps such things in its
// own memory, and nothing here does anything.

extension SessionStore {
    /// Notes something about a session. It is stored within a tenth of a second, or when ``settleNotes()`` returns. It
    /// is lost if the database is unavailable.
    public func note(_ note: SessionNote, of session: SessionKey) {
        guard let notes else { return }
        let id = notes.id(now: now)
        guard let sealed = try? sealer.seal(note.text, for: .note(session, id: id)) else { return }
        notes.add(SessionNoteRow(id: id, session: session, kind: note.kind, app: note.app, sealed: sealed))
    }

    /// Waits until all earlier notes are stored.
    public func settleNotes() async { await notes?.settle() }

    /// Returns the notes of all servers about a session from the last hour, in order. Those that no key opens any more
    /// are left out.
    public func notes(of session: SessionKey) async throws(StoreError) -> [SessionNote] {
        guard let cluster else { return [] }
        await settleNotes()
        let since = SessionNoteRow.id(at: now - SignInRules.noteLifetime.milliseconds)
        return try await cluster.notes(of: session, since: since).compactMap { row in
            let text = row.sealed.isEmpty ? row.unsealed : try? sealer.open(row.sealed, for: .note(session, id: row.id))
            return text.map { SessionNote(row.kind, app: row.app, text: $0) }
        }
    }

    /// Deletes the notes about a session: it is signed out, and on a shared device the next person is another.
    public func forgetNotes(of session: SessionKey) async {
        guard let cluster else { return }
        await settleNotes()
        try? await cluster.forgetNotes(of: session)
    }

    /// Counts a trip to the provider that a page begins by itself, at any server.
    ///
    /// - Parameters:
    ///   - most: the most trips that are allowed.
    ///   - window: the time within which they count.
    /// - Returns: nil when it was counted; when the limit is reached, the time since the oldest of them began.
    public func countTrip(of session: SessionKey, app: String, most: Int, within window: Duration)
        async throws(StoreError) -> Duration?
    {
        guard let cluster, let notes else { return nil }
        // A note that resets the count may still be on its way.
        await settleNotes()
        let now = now
        let trip = SessionNoteRow(id: notes.id(now: now), session: session, kind: .trip, app: app)
        let oldest = try await cluster.addTrip(
            trip, unlessThereAre: most, since: SessionNoteRow.id(at: now - window.milliseconds))
        return oldest.map { .milliseconds(max(0, now - ($0 >> 20))) }
    }
}
