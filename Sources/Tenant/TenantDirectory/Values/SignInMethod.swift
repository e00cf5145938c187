/// The way in which a person of the external tenant signs in.
public enum SignInMethod: String, Sendable, Hashable, Codable, CaseIterable {
    /// With the e-mail address and a password.
    case password
    /// With a one-time code by e-mail.
    case code
}

/// The second factor of a person at the external tenant.
public enum SecondFactorMethod: String, Sendable, Hashable, CaseIterable {
    /// A code to the e-mail address.
    case email
    /// A code by text message to the mobile phone.
    case sms
    /// One is demanded, and the person has registered none yet.
    case unregistered
}
