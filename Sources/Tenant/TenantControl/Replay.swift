package import TenantDirectory

/// A failure of one sign-in, which the companion asks for with the parameter `companion_replay`, to repeat a case. Nobody
/// else's sign-in is concerned.
package struct Replay: Sendable, Hashable, Codable {
    package enum Place: String, Sendable, Codable, CaseIterable {
        /// The application hears of it from the authorization endpoint.
        case authorize
        /// It stays on a page of the tenant.
        case page
        /// The code is not redeemed.
        case token
    }

    package let place: Place
    private let number: Int

    /// Reads a place and a number that the tenant knows, as `page-50011`; nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "-")
        guard parts.count == 2, let place = Place(rawValue: String(parts[0])), let number = Int(parts[1]),
            PlatformError.numbered(number) != nil
        else { return nil }
        (self.place, self.number) = (place, number)
    }

    /// The error at the authorization endpoint; nil if the sign-in goes on.
    package var authorizationError: PlatformError? { place == .token ? nil : .numbered(number) }

    /// The error when the code is redeemed; nil if there is none.
    package var redemptionError: PlatformError? { place == .token ? .numbered(number) : nil }
}
