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

// MARK: Posted answers

extension SessionStore {
    /// Keeps an answer of the provider's that came as a cross-site POST, without the browser's cookie, until the browser
    /// fetches it with its cookie, at whichever server. An earlier one to the same sign-in is replaced.
    ///
    /// - Parameters:
    ///   - text: the answer. A secret.
    ///   - state: of the sign-in. A secret.
    ///   - address: of whoever posted it.
    /// - Returns: its handle, which says nothing about it; nil when there is no room, or the place is not cluster.
    public func keepAnswer(_ text: String, state: String, from address: [UInt8]) async throws(StoreError) -> String? {
        guard let cluster else { return nil }
        let handle = Base64URL.encode(SHA256Hash(of: "posted answer \(state)").blob.prefix(16))
        let hash = SHA256Hash(of: handle)
        let answer = PostedAnswer(
            handle: hash, asker: Data(sign(address, as: .address)),
            sealed: try sealer.seal(text, for: .postedAnswer(handle: hash)),
            endsAt: now + PostedAnswer.lifetime.milliseconds)
        return try await cluster.keep(answer, now: now) ? handle : nil
    }

    /// The answer that a handle stands for; nil when it is unknown or too old.
    public func answer(_ handle: String) async throws(StoreError) -> String? {
        let hash = SHA256Hash(of: handle)
        guard let sealed = try await cluster?.postedAnswer(hash, now: now) else { return nil }
        return try sealer.open(sealed, for: .postedAnswer(handle: hash))
    }
}

/// An answer that the provider had the browser post, until the browser fetches it. Anyone who has begun a sign-in may post, so
/// that all of them together are bounded, and what is kept is pushed out by answers from the same address only.
package struct PostedAnswer: Sendable {
    /// How long one is kept.
    package static let lifetime: Duration = .seconds(60)
    /// How many are kept at a time.
    package static let maxCount = 1_000
    /// How many of one address; the oldest make room.
    package static let maxPerAddress = 10
    /// How many bytes they take together.
    package static let maxBytes = 2 << 20

    package let handle: SHA256Hash
    /// Says whether two of them are from one address.
    package let asker: Data
    package let sealed: Data
    /// In milliseconds since 1970.
    package let endsAt: Int64
}

extension SignInRules {
    /// Whether there is room for one more posted answer.
    ///
    /// - Parameters:
    ///   - bytes: of the new one.
    ///   - count: how many there are of others.
    ///   - size: their bytes.
    package static func hasRoom(forAnswer bytes: Int, beside count: Int64, _ size: Int64) -> Bool {
        count < PostedAnswer.maxCount && size + Int64(bytes) <= PostedAnswer.maxBytes
    }
}
