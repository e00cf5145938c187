/// The user flows of the Azure AD B2C tenant.
package enum UserFlow: String, Sendable, Hashable, Codable, CaseIterable {
    /// Signing up or in.
    case signIn = "b2c_1_susi"
    /// Changing the display name.
    case editProfile = "b2c_1_edit_profile"
    /// Setting a new password.
    case resetPassword = "b2c_1_reset"

    /// The name as it was registered, which tokens have (id-b2c-06).
    package var registeredName: String { "B2C_1" + rawValue.dropFirst("b2c_1".count) }
}
