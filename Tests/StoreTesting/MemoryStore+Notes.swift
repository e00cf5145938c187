package import Foundation
package import SessionStore

/// Notes about sessions that stores on the same contents keep for each other.
extension MemoryStore {
    package func add(_ notes: [SessionNoteRow]) async throws(StoreError) {
        try write { state in
            state.notes += notes
            for session in Set(notes.filter(\.makesRoom).map(\.session)) {
                let isSignedIn = state.row(session)?.hasAccounts == true
                let most = isSignedIn ? SignInRules.maxNotes : SignInRules.maxNotesOfNewcomer
                let gone = Set(state.notes(of: session).map(\.id).dropLast(most))
                state.notes.removeAll { gone.contains($0.id) }
            }
        }
    }

    package func notes(of session: SessionKey, since: Int64) async throws(StoreError) -> [SessionNoteRow] {
        try read { $0.notes(of: session).filter { $0.id >= since } }
    }

    package func forgetNotes(of session: SessionKey) async throws(StoreError) {
        try write { state in state.notes.removeAll { $0.session == session } }
    }

    package func addTrip(_ trip: SessionNoteRow, unlessThereAre most: Int, since: Int64)
        async throws(StoreError) -> Int64?
    {
        try write { state in
            let found = state.notes(of: trip.session).filter {
                $0.app == trip.app && $0.id > since && $0.kind != .record
            }
            let oldest = SignInRules.oldestTrip(among: found.map { ($0.id, $0.kind) }, most: most)
            if oldest == nil { state.notes.append(trip) }
            return oldest
        }
    }

    package func keep(_ answer: PostedAnswer, now: Int64) async throws(StoreError) -> Bool {
        try write { state in
            state.answers = state.answers.filter { $0.value.endsAt > now && $0.key != answer.handle }
            let own = state.answers.filter { $0.value.asker == answer.asker }.sorted {
                $0.value.endsAt > $1.value.endsAt
            }
            let staying = SignInRules.answersThatStay(own.map { $0.value.sealed.count }, beside: answer.sealed.count)
            for (handle, _) in own.dropFirst(staying) { state.answers[handle] = nil }
            let size = state.answers.values.reduce(0) { $0 + $1.sealed.count }
            guard
                SignInRules.hasRoom(
                    forAnswer: answer.sealed.count, beside: Int64(state.answers.count), Int64(size))
            else { return false }
            state.answers[answer.handle] = answer
            return true
        }
    }

    package func postedAnswer(_ handle: SHA256Hash, now: Int64) async throws(StoreError) -> Data? {
        try read { state in state.answers[handle].flatMap { $0.endsAt > now ? $0.sealed : nil } }
    }
}

extension MemoryContents.State {
    /// Returns a session's notes in the order of their ids.
    fileprivate func notes(of session: SessionKey) -> [SessionNoteRow] {
        notes.filter { $0.session == session }.sorted { $0.id < $1.id }
    }

    /// Deletes what has expired.
    mutating func purgeNotes(now: Int64) {
        let oldest = SessionNoteRow.id(at: now - SignInRules.noteLifetime.milliseconds)
        notes.removeAll { $0.id < oldest }
        answers = answers.filter { $0.value.endsAt > now }
    }
}
