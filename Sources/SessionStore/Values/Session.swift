public import Foundation
import Synchronization
public import WebFormats

/// Names one session for as long as it lives: unlike its id, it survives every rotation, and it is no secret.
public struct SessionKey: Sendable, Hashable, CustomStringConvertible {
    /// A backend's name for it. It is never used again for another session.
    package let value: Int64

    package init(_ value: Int64) { self.value = value }

    /// The key that a person typed, as `companion sessions list` printed it.
    public init?(_ text: String) {
        guard let value = Int64(text), value > 0 else { return nil }
        self.value = value
    }

    /// The number.
    public var description: String { String(value) }
}

/// What is known of one browser's session at one moment.
public struct Session: Sendable {
    /// The session's lasting name inside the server.
    public let key: SessionKey
    /// When its first account signed in (or when it began, while nobody has): `maxAge` counts from here.
    public let createdAt: Date
    /// When it was last used, as the database knew it at the time of reading.
    public let lastSeenAt: Date
    /// Every account of every application, in the order of their first sign-in.
    public let accounts: [Account]
    let previousUsernames: [String: String]
    /// When its latest sign-in began, in milliseconds since 1970; nil when none is kept any more.
    var lastAttemptAt: Int64?
    /// What was derived from it.
    public let derived = DerivedFromSession()

    /// What names one of its accounts.
    public func key(of account: Account) -> AccountKey {
        AccountKey(session: key, app: account.app, id: account.id)
    }

    /// The accounts that are signed in to one application.
    public func accounts(for app: String) -> [Account] {
        accounts.filter { $0.app == app }
    }

    /// One account of one application.
    public func account(for app: String, id: String) -> Account? {
        accounts.first { $0.app == app && $0.id == id }
    }

    /// The account that the application's page shows; nil when nobody is signed in there.
    public func currentAccount(for app: String) -> Account? {
        accounts.first { $0.app == app && $0.current }
    }

    /// Whether it keeps the name of somebody who was signed in before.
    public var remembersSomebody: Bool { !previousUsernames.isEmpty }

    /// Who was signed in to the application before, when that may be shown.
    public func previousUsername(for app: String) -> String? {
        previousUsernames[app]
    }
}

/// Values that an application has derived from a session as it was read, one of each type. They live as long as the cache has
/// that session: whatever changes the session ends both.
public final class DerivedFromSession: Sendable {
    private let values = Mutex<[any AnyObject & Sendable]>([])

    init() {}

    /// Returns the value that was derived before, else what `derive` makes now; two callers at once may both derive.
    ///
    /// - Parameter derive: returns nil when it cannot be derived now.
    public func value<Value: AnyObject & Sendable>(orMake derive: () -> Value?) -> Value? {
        for known in values.withLock({ $0 }) {
            if let known = known as? Value { return known }
        }
        let made = derive()
        if let made { values.withLock { $0.append(made) } }
        return made
    }
}

/// One account in one application of one session.
public struct Account: Sendable, Redacted {
    /// The home account id, `uid.utid`.
    public let id: String
    /// The configured application's name.
    public let app: String
    /// The person, and the place where the account signed in.
    public let identity: AccountIdentity
    /// The ID token's claims, the JSON text as it was validated. Sealed at rest: they include the nonce.
    public let idTokenClaims: String
    /// Why the provider wants the person to sign in again; nil when it does not.
    public let needsInteraction: String?
    /// The claims challenge that the next sign-in must carry, if the provider gave one.
    public let interactionClaims: String?
    /// True for the account that the application's page shows.
    public let current: Bool
    /// When this account last signed in with the person present.
    public let signedInAt: Date

    /// Application and account id; no claims.
    public var description: String { "Account(\(app), \(id))" }
}

/// One line of `companion sessions list`.
public struct SessionSummary: Sendable, Hashable {
    /// The session's lasting name.
    public let key: SessionKey
    /// When it began.
    public let createdAt: Date
    /// When it was last used, up to a minute ago.
    public let lastSeenAt: Date
    /// Application and username of each account.
    public let accounts: [Entry]

    package init(key: SessionKey, createdAt: Date, lastSeenAt: Date, accounts: [Entry]) {
        self.key = key
        self.createdAt = createdAt
        self.lastSeenAt = lastSeenAt
        self.accounts = accounts
    }

    /// One account of the session.
    public struct Entry: Sendable, Hashable {
        /// The configured application's name.
        public let app: String
        /// `preferred_username`.
        public let username: String

        package init(app: String, username: String) {
            self.app = app
            self.username = username
        }
    }
}
