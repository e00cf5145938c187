package import CompanionCore

/// The rules where no one may sign in with the previous person's session at the provider.
enum KioskRules {
    /// The `max_age` where each person gives the password, in seconds. It is not 0, because some providers check it again
    /// after the password was entered and would ask forever. `prompt=login` asks for the password in any case.
    static let maxAge = 10

    /// Asks for the password, whatever was wanted.
    static func apply(to options: inout SignInOptions) { (options.prompt, options.maxAge) = (.login, maxAge) }
}

extension Application {
    /// Whether people sign in one after the other, each with their own password, and see no tokens.
    package var isAtKiosk: Bool { page == .kiosk || self.isKioskTile }
}
