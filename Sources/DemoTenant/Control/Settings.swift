import WebFormats

extension Controls {
    /// The settings for the request that this task answers.
    var settings: Settings { Settings(controls: self) }

    /// Each value is the effect of a rule, or else normal. To read one is to use the rule.
    struct Settings: Sendable {
        fileprivate let controls: Controls

        var accessTokenSeconds: Int { controls.use(\.accessTokenSeconds) ?? 3600 }
        var refreshTokenSeconds: Int { controls.use(\.refreshTokenSeconds) ?? 90 * 24 * 3600 }
        var hasSingleUseRefreshTokens: Bool { controls.use(\.hasSingleUseRefreshTokens) ?? false }
        var declinedScope: String? { controls.use(\.declinedScope) }
        var omitsAuthTime: Bool { controls.use(\.omitsAuthTime) ?? false }
        var ignoresFreshness: Bool { controls.use(\.ignoresFreshness) ?? false }
        var hasIssuerWithoutPolicy: Bool { controls.use(\.hasIssuerWithoutPolicy) ?? false }
        var idTokenClaims: [String: JSONValue] { controls.use(\.idTokenClaims) ?? [:] }
        var publishesUnknownKey: Bool { controls.use(\.publishesUnknownKey) ?? false }
        var isGeneric: Bool { controls.use(\.isGeneric) ?? false }

        /// Returns the milliseconds by which an endpoint is late.
        func delay(of endpoint: Endpoint) -> Int? {
            switch endpoint {
            case .token: controls.use(\.tokenDelay)
            case .graph: controls.use(\.graphDelay)
            }
        }

        /// Whether a tenant with this path does not respond.
        func isDown(_ tenant: String) -> Bool { controls.use(\.outage) { $0.covers(tenant) } != nil }

        /// Returns the scope that the APIs require and that these are not.
        func missingScope(of scopes: [String]) -> String? {
            controls.use(\.missingScope) { missing in
                !scopes.contains { $0.lowercased() == missing.lowercased() }
            }
        }

        /// Returns the claims challenge that an access token has not met.
        func unmetChallenge(of claims: JSONValue) -> Int? {
            let met = claims[AccessToken.challengeClaim]?.integer ?? 0
            return controls.use(\.claimsChallenge) { met < $0 }
        }

        /// Whether an access token was let expire before its time.
        func letsExpire(_ claims: JSONValue) -> Bool {
            let number = claims[AccessToken.expiryClaim]?.integer ?? 0
            return controls.use(\.tokenExpiry) { number < $0 } != nil
        }
    }

    /// Takes a response to send instead of the real one.
    func takeInjected(_ endpoint: Endpoint) -> InjectedAnswer? {
        switch endpoint {
        case .token: use(\.tokenError)
        case .graph: use(\.graphError)
        }
    }

    /// Returns whether this request is to get no response.
    func takeClose(_ endpoint: Endpoint) -> Bool { use(\.closedConnection) { $0 == endpoint } != nil }

    /// Returns whether the response to this request is to be lost.
    func takeLostTokenAnswer() -> Bool { use(\.losesTokenAnswer) ?? false }

    /// Returns the error that this request ends with.
    ///
    /// - Parameter namesUser: whether only rules for a single person count.
    func takePlatformError(_ endpoint: PlatformErrorEndpoint, namesUser: Bool = false) -> PlatformError? {
        let number =
            switch endpoint {
            case .authorize: use(\.authorizePlatformError, namesUser: namesUser)
            case .token: use(\.tokenPlatformError, namesUser: namesUser)
            }
        return number.flatMap(PlatformError.numbered)
    }

    func takeIDTokenFault() -> DemoIDTokenFault? { use(\.idTokenFault) }
}
