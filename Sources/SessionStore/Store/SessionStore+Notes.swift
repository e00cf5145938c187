import Foundation
import WebFormats
// What servers that share a place remember of sessions for each other. Where one server has the place for itself, it keeps
// these things in its own memory, and nothing here does anything.

extension SessionStore {
    /// Notes something of a session. It is stored within a tenth of a second, or when ``settleNotes()`` returns; what a
    /// place that is away does not take is lost.
    public func note(_ note: SessionNote, of session: SessionKey) {
        guard let notes else { return }
        notes.add(SessionNoteRow(id: notes.id(now: now), session: session, note: note))
    }

    /// Returns when all that was noted until now is stored.
    public func settleNotes() async { await notes?.settle() }

    /// What all servers have noted of a session within the last hour, in the order in which it happened.
    public func notes(of session: SessionKey) async throws(StoreError) -> [SessionNote] {
        guard let cluster else { return [] }
        await settleNotes()
        let since = SessionNoteRow.id(at: now - SignInRules.noteLifetime.milliseconds)
        return try await cluster.notes(of: session, since: since).map(\.note)
    }

    /// Forgets what was noted of a session: it is signed out, and at a shared device the next person is another.
    public func forgetNotes(of session: SessionKey) async {
        guard let cluster else { return }
        await settleNotes()
        try? await cluster.forgetNotes(of: session)
    }

    /// Counts a trip to the provider that a page begins by itself, at whichever server.
    ///
    /// - Parameters:
    ///   - most: how many there may be.
    ///   - window: within how long.
    /// - Returns: nil when it was counted; when there were as many, how long ago the oldest of them began.
    public func countTrip(of session: SessionKey, app: String, most: Int, within window: Duration)
        async throws(StoreError) -> Duration?
    {
        guard let cluster, let notes else { return nil }
        // What ended the count may be on its way.
        await settleNotes()
        let now = now
        let trip = SessionNoteRow(id: notes.id(now: now), session: session, note: SessionNote(.trip, app: app))
        let oldest = try await cluster.addTrip(
            trip, unlessThereAre: most, since: SessionNoteRow.id(at: now - window.milliseconds))
        return oldest.map { .milliseconds(max(0, now - ($0 >> 20))) }
    }
}
