/// The audit log's events. Their names are stable: programs that read the log rely on them.
package enum AuditEvent: String, Sendable, CaseIterable {
    /// Somebody has signed in; written after the session is stored.
    case signedIn = "signed_in"
    /// Somebody came back from the provider and is not signed in; the outcome is the problem's code.
    case refused
    /// Somebody has signed out here.
    case signedOut = "signed_out"
    /// Somebody has taken an account off the list of their browser.
    case accountRemoved = "account_removed"
    /// Somebody has changed their profile in a user flow.
    case profileEdited = "profile_edited"
    /// An administrator has agreed for a tenant.
    case adminConsented = "admin_consented"
    /// The provider has ended the sign-in of an account.
    case signedOutByProvider = "signed_out_by_provider"
    /// An account was signed out because the configuration does not admit it any more.
    case noLongerAdmitted = "no_longer_admitted"
    /// An operator has ended a session, in the portal or by the command line.
    case sessionEndedByOperator = "session_ended_by_operator"
    /// The running server seals with another key.
    case keysRotated = "keys_rotated"
    /// A limit has refused a request; the outcome is the limit's name.
    case limitReached = "limit_reached"
}
