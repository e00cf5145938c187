/// The events of the audit log. Their names are stable, because programs that read the log rely on them.
package enum AuditEvent: String, Sendable, CaseIterable {
    /// A person has signed in. Written after the session is stored.
    case signedIn = "signed_in"
    /// A person came back from the provider but could not be signed in. The outcome is the problem's code.
    case refused
    /// A person has signed out here.
    case signedOut = "signed_out"
    /// A person has removed an account from their browser.
    case accountRemoved = "account_removed"
    /// A person has changed their profile in a user flow.
    case profileEdited = "profile_edited"
    /// An administrator has consented for a tenant.
    case adminConsented = "admin_consented"
    /// The provider has ended an account's sign-in.
    case signedOutByProvider = "signed_out_by_provider"
    /// An account was signed out because the configuration no longer admits it.
    case noLongerAdmitted = "no_longer_admitted"
    /// An operator has ended a session, in the portal or on the command line.
    case sessionEndedByOperator = "session_ended_by_operator"
    /// An operator has used an application's own token.
    case appOnlyTokenUsed = "app_only_token_used"
    /// The running server has changed its encryption key.
    case keysRotated = "keys_rotated"
    /// A limit has refused a request; the outcome is the limit's name.
    case limitReached = "limit_reached"
}
