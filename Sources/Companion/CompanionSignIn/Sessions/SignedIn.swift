package import CompanionCore
package import SessionStore

/// The account behind a call, with its application and session. This is a class because it is passed through every step
/// of a call, and copying its contents each time would take dozens of reference counts.
package final class SignedIn: Sendable {
    package let application: Application
    package let session: Session
    package let account: Account
    /// A tenant where the account is a guest, instead of the one in which it signed in.
    package let tenant: String?

    package init(application: Application, session: Session, account: Account, tenant: String?) {
        self.application = application
        self.session = session
        self.account = account
        self.tenant = tenant
    }

    /// The key under which the account's tokens are stored.
    package var key: AccountKey { session.key(of: account) }
}
