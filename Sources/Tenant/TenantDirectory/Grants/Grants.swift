/// The grants of people and administrators to applications, and the policies under which they hold.
package struct Grants: Sendable {
    let directory: Directory
    let registrations: Registrations
    let scopes: Scopes
    let state: TenantState
    /// The policies of authentication contexts.
    let contexts: [String: ContextPolicy]
    /// Whether applications may sign people in by their passwords alone.
    package let allowsPasswords: Bool

    package init(
        directory: Directory, registrations: Registrations, scopes: Scopes, state: TenantState,
        contexts: [String: ContextPolicy], allowsPasswords: Bool
    ) {
        self.directory = directory
        self.registrations = registrations
        self.scopes = scopes
        self.state = state
        self.contexts = contexts
        self.allowsPasswords = allowsPasswords
    }
}
