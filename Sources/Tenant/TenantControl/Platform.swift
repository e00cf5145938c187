package import Logging
package import TenantDirectory

/// The values that handlers are given: who there is, what was granted, the rules, the clock and the addresses. None of
/// them knows a handler.
package struct Platform: Sendable {
    /// The configured and built-in people, and their groups.
    package let directory: Directory
    /// The applications.
    package let registrations: Registrations
    /// The permissions that applications can ask for.
    package let scopes: Scopes
    /// The part that outlives the process.
    package let state: TenantState
    /// Everyone, with those who signed up.
    package let people: People
    /// The consents, assignments and policies.
    package let grants: Grants
    /// Registers applications and people at run time; nil if nobody does.
    package let registry: RunTimeRegistry?
    /// The rules, and the counts.
    package let controls: Controls
    /// The time, which ``controls`` can move, and the identifiers.
    package let clock: TenantClock
    /// The URLs of the tenant.
    package let addresses: Addresses
    /// The destination of log lines about the tenant itself.
    package let logger: Logger

    /// - Parameters:
    ///   - configured: The directory's origin, for registrations at run time; nil for none of them.
    ///   - contexts: The policies of authentication contexts.
    ///   - allowsPasswords: Whether applications may sign people in by their passwords alone.
    package init(
        directory: Directory, registrations: Registrations, state: TenantState,
        configured: RunTimeRegistry.Configured?, contexts: [String: ContextPolicy],
        allowsPasswords: Bool, clock: TenantClock, addresses: Addresses, logger: Logger
    ) {
        self.directory = directory
        self.registrations = registrations
        self.state = state
        let controls = Controls(now: clock.now)
        self.controls = controls
        let clock = clock.ahead { controls.clockSeconds }
        self.clock = clock
        // The process before may have moved its clock.
        state.leaveFuture(clock.now())
        self.addresses = addresses
        self.logger = logger
        scopes = Scopes(registrations.all, reference: registrations.reference)
        people = People(directory: directory, state: state, clock: clock)
        grants = Grants(
            directory: directory, registrations: registrations, scopes: scopes, state: state, contexts: contexts,
            allowsPasswords: allowsPasswords)
        registry = configured.map { [scopes] configured in
            RunTimeRegistry(
                configured, registrations: registrations, scopes: scopes, directory: directory, state: state,
                clock: clock, logger: logger)
        }
    }
}

/// A handler, with the platform's values as its own.
package protocol PlatformHandler: Sendable {
    var platform: Platform { get }
}

extension PlatformHandler {
    package var directory: Directory { platform.directory }
    package var registrations: Registrations { platform.registrations }
    package var scopes: Scopes { platform.scopes }
    package var state: TenantState { platform.state }
    package var people: People { platform.people }
    package var grants: Grants { platform.grants }
    package var registry: RunTimeRegistry? { platform.registry }
    package var controls: Controls { platform.controls }
    package var clock: TenantClock { platform.clock }
    package var addresses: Addresses { platform.addresses }
    package var logger: Logger { platform.logger }
}
