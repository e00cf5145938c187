package import TenantDirectory
package import WebFormats

extension Controls {
    /// The settings for the request that this task answers.
    package var settings: Settings { Settings(controls: self) }

    /// Each value is the effect of a rule, or else normal. To read one is to use the rule.
    @dynamicMemberLookup
    package struct Settings: Sendable {
        fileprivate let controls: Controls

        /// An effect that is a switch.
        package subscript(dynamicMember effect: KeyPath<Effects, Bool?>) -> Bool { controls.use(effect) ?? false }
        /// Any other effect; nil for normal.
        package subscript<Value: Sendable>(dynamicMember effect: KeyPath<Effects, Value?>) -> Value? {
            controls.use(effect)
        }

        /// Returns the lifetime of refresh tokens: 90 days, and a user flow's 14 (id-b2c-14).
        package func refreshTokenSeconds(at segment: TenantSegment) -> Int {
            controls.use(\.refreshTokenSeconds) ?? (segment.userFlow == nil ? 90 : 14) * 86_400
        }
        package var idTokenClaims: [String: JSONValue] { controls.use(\.idTokenClaims) ?? [:] }

        /// Whether a tenant with this path does not respond.
        package func isDown(_ tenant: String) -> Bool { controls.use(\.outage) { $0.covers(tenant) } != nil }

        /// Returns the scope that the APIs require and that these are not.
        package func missingScope(of scopes: [String]) -> String? {
            controls.use(\.missingScope) { missing in
                !scopes.contains { $0.lowercased() == missing.lowercased() }
            }
        }

        /// Returns the claims challenge that an access token has not met.
        package func unmetChallenge(of claims: JSONValue) -> Int? {
            let met = claims[AccessToken.challengeClaim]?.integer ?? 0
            return controls.use(\.claimsChallenge) { met < $0 }
        }

        /// Whether an access token was let expire before its time.
        package func letsExpire(_ claims: JSONValue) -> Bool {
            let number = claims[AccessToken.expiryClaim]?.integer ?? 0
            return controls.use(\.tokenExpiry) { number < $0 } != nil
        }
    }

    /// Takes a response to send instead of the real one.
    package func takeInjected(_ endpoint: Endpoint) -> InjectedAnswer? {
        switch endpoint {
        case .token: use(\.tokenError)
        case .graph: use(\.graphError)
        }
    }

    /// Returns whether this request is to get no response.
    package func takeClose(_ endpoint: Endpoint) -> Bool { use(\.closedConnection) { $0 == endpoint } != nil }

    /// Returns whether the response to this request is to be lost.
    package func takeLostTokenAnswer() -> Bool { use(\.losesTokenAnswer) ?? false }

    /// Returns the error that this token request ends with.
    package func takeTokenError() -> PlatformError? { use(\.tokenPlatformError).flatMap(PlatformError.numbered) }

    /// Returns the error that a sign-in ends with at this moment. A rule for one person waits until the account is known,
    /// which the request need not name.
    package func takeSignInError(at moment: PlatformError.Moment) -> PlatformError? {
        func isDue(_ number: Int, from first: PlatformError.Moment) -> Bool {
            PlatformError.numbered(number).map { (first...moment).contains($0.moment) } ?? false
        }
        let number =
            use(\.authorizePlatformError) { isDue($0, from: min(moment, .account)) }
            ?? use(\.authorizePlatformError, where: { isDue($0, from: .request) }, namesUser: true)
        return number.flatMap(PlatformError.numbered)
    }

    package func takeIDTokenFault() -> DemoIDTokenFault? { use(\.idTokenFault) }
}
