/// Names one account in one application of one session: what its tokens are kept under.
public struct AccountKey: Sendable, Hashable {
    /// The session that it is signed in to.
    public let session: SessionKey
    /// The configured application's name.
    public let app: String
    /// The home account id, `uid.utid`.
    public let id: String

    /// Every property, in their order.
    public init(session: SessionKey, app: String, id: String) {
        self.session = session
        self.app = app
        self.id = id
    }
}
