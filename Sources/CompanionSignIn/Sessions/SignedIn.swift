package import CompanionCore
package import SessionStore

/// Who is asking: an account of an application, in a session. A class, because it is handed on through every step of a call,
/// and to copy what it holds takes dozens of reference counts each time.
package final class SignedIn: Sendable {
    package let application: Application
    package let session: Session
    package let account: Account
    /// Another tenant than the one in which the account signed in, where it is a guest.
    package let tenant: String?

    package init(application: Application, session: Session, account: Account, tenant: String?) {
        self.application = application
        self.session = session
        self.account = account
        self.tenant = tenant
    }

    /// What its tokens are kept under.
    package var key: AccountKey { session.key(of: account) }
}
