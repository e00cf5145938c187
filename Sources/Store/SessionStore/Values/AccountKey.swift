/// The key of one account in one application of one session, under which its tokens are stored.
public struct AccountKey: Sendable, Hashable {
    /// The session in which it is signed in.
    public let session: SessionKey
    /// The configured application's name.
    public let app: String
    /// The home account id, `uid.utid`.
    public let id: String

    /// Creates a key.
    public init(session: SessionKey, app: String, id: String) {
        self.session = session
        self.app = app
        self.id = id
    }
}
