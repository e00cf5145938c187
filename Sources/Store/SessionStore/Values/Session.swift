public import Foundation
import Synchronization
public import WebFormats

/// The lasting name of a session. Unlike the session's id, it survives every rotation, and it is not secret.
public struct SessionKey: Sendable, Hashable, CustomStringConvertible {
    /// The backend's key for the session. It is never used again for another session.
    package let value: Int64

    package init(_ value: Int64) { self.value = value }

    /// Reads a key that was typed as `companion sessions list` prints it.
    public init?(_ text: String) {
        guard let value = Int64(text), value > 0 else { return nil }
        self.value = value
    }

    /// The number.
    public var description: String { String(value) }
}

/// A browser's session at one moment.
public struct Session: Sendable {
    /// The session's lasting name.
    public let key: SessionKey
    /// The time when its first account signed in (or when it began, if none has); `maxAge` counts from here.
    public let createdAt: Date
    /// The time when it was last used, as far as the database knew when it was read.
    public let lastSeenAt: Date
    /// Every account of every application, in the order of their first sign-in.
    public let accounts: [Account]
    let previousUsernames: [String: String]
    /// The time when its latest sign-in began, in milliseconds since 1970; nil when none is kept any more.
    var lastAttemptAt: Int64?
    /// Values that were derived from the session.
    public let derived = DerivedFromSession()

    /// Returns the key of one of its accounts.
    public func key(of account: Account) -> AccountKey {
        AccountKey(session: key, app: account.app, id: account.id)
    }

    /// Returns the accounts that are signed in to one application.
    public func accounts(for app: String) -> [Account] {
        accounts.filter { $0.app == app }
    }

    /// Returns one account of one application.
    public func account(for app: String, id: String) -> Account? {
        accounts.first { $0.app == app && $0.id == id }
    }

    /// Returns the account that the application's page shows; nil if no one is signed in there.
    public func currentAccount(for app: String) -> Account? {
        accounts.first { $0.app == app && $0.current }
    }

    /// Whether the session keeps the name of a person who was signed in before.
    public var remembersSomebody: Bool { !previousUsernames.isEmpty }

    /// Returns the person who was signed in to the application before, if the name may be shown.
    public func previousUsername(for app: String) -> String? {
        previousUsernames[app]
    }
}

/// Values that an application has derived from a session, at most one of each type. They live as long as the cached
/// session: a change of the session ends both.
public final class DerivedFromSession: Sendable {
    private let values = Mutex<[any AnyObject & Sendable]>([])

    init() {}

    /// Returns the value that was derived before; otherwise calls `derive`. Two concurrent callers may both call it.
    ///
    /// - Parameter derive: returns nil when the value cannot be derived now.
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
    /// The person, and the tenant in which the account signed in.
    public let identity: AccountIdentity
    /// The JSON text of the validated ID token's claims. It is stored sealed, because it includes the nonce.
    public let idTokenClaims: String
    /// A text of the application that belongs to these claims; nil if there is none. It is stored sealed with them.
    public let annotation: String?
    /// The reason for which the provider wants the person to sign in again; nil if it does not.
    public let needsInteraction: String?
    /// The claims challenge that the next sign-in must carry, if the provider sent one.
    public let interactionClaims: String?
    /// Whether the application's page shows this account.
    public let current: Bool
    /// The time when this account last signed in interactively.
    public let signedInAt: Date

    /// The application and the account id, without claims.
    public var description: String { "Account(\(app), \(id))" }
}

/// One line of `companion sessions list`.
public struct SessionSummary: Sendable, Hashable {
    /// The session's lasting name.
    public let key: SessionKey
    /// The time when it began.
    public let createdAt: Date
    /// The time when it was last used, exact to a minute.
    public let lastSeenAt: Date
    /// The application and username of each account.
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
