public import WebFormats

/// The person and the tenant that a validated ID token names, apart from the home account id.
public struct AccountIdentity: Sendable, Equatable, Redacted {
    /// `preferred_username`, which is shown to people.
    public var username: String
    /// The display name, when the ID token had one.
    public var name: String?
    /// `tid`, when the ID token had one.
    public var tenantID: String?
    /// The authority's host, such as `login.microsoftonline.com`.
    public var environment: String
    /// `oid`, when the ID token had one.
    public var objectID: String?
    /// `iss`.
    public var issuer: String
    /// `sub`.
    public var subject: String
    /// The provider's session id, by which single sign-out finds the account.
    public var sid: String?
    /// The B2C user flow that the account came from, in lower case.
    public var policy: String?

    /// Creates an identity.
    public init(
        username: String, name: String? = nil, tenantID: String? = nil, environment: String, objectID: String? = nil,
        issuer: String, subject: String, sid: String? = nil, policy: String? = nil
    ) {
        self.username = username
        self.name = name
        self.tenantID = tenantID
        self.environment = environment
        self.objectID = objectID
        self.issuer = issuer
        self.subject = subject
        self.sid = sid
        self.policy = policy
    }
}
