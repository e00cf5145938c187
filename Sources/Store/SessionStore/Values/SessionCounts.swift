/// The number of stored sessions, including ended ones that are not deleted yet.
public struct SessionCounts: Sendable, Equatable {
    /// All sessions.
    public let sessions: Int
    /// The sessions in which a person is signed in.
    public let signedIn: Int

    package init(sessions: Int, signedIn: Int) {
        self.sessions = sessions
        self.signedIn = signedIn
    }
}
