import Foundation
import TenantDirectory
package import WebFormats

/// A key of the JSON interface that sets one of the effects.
package struct EffectKey: Sendable {
    package typealias Problem = ControlChange.Problem

    package let name: String
    /// Whether it is used up by the next request, if it does not stand in a rule of the list.
    let isOnce: Bool
    /// The value that stands for normal.
    package let normal: JSONValue
    /// Sets the effect, or none for a value that stands for normal.
    package let set: @Sendable (JSONValue, inout Effects) throws(Problem) -> Void
    /// The value of an effect; nil if it is not set.
    package let json: @Sendable (Effects) -> JSONValue?

    private init<Value>(
        _ name: String, _ effect: any WritableKeyPath<Effects, Value?> & Sendable, normal: JSONValue,
        isOnce: Bool = false,
        _ parse: @escaping @Sendable (JSONValue) throws(Problem) -> Value?,
        _ json: @escaping @Sendable (Value) -> JSONValue
    ) {
        self.name = name
        self.isOnce = isOnce
        self.normal = normal
        set = { (value, effects) throws(Problem) in effects[keyPath: effect] = try parse(value) }
        self.json = { $0[keyPath: effect].map(json) }
    }

    /// The key of the clock, which is one for everyone, so that no rule has it.
    package static let clock = "clock_seconds"

    /// All of them, in the order in which they are listed.
    package static let all: [EffectKey] = [
        number(clock, \.clockSeconds, normal: 0, upTo: 10 * 365 * 86_400),
        number("access_token_seconds", \.accessTokenSeconds, normal: .null, upTo: 10 * 365 * 86_400),
        number(
            "refresh_token_seconds", \.refreshTokenSeconds, normal: .integer(90 * 24 * 3600), upTo: 10 * 365 * 86_400),
        flag("refresh_token_single_use", \.hasSingleUseRefreshTokens),
        answer("token_error", \.tokenError), answer("graph_error", \.graphError),
        number("token_delay_ms", \.tokenDelay, normal: 0, upTo: 600_000),
        number("graph_delay_ms", \.graphDelay, normal: 0, upTo: 600_000),
        choice("hold", \.hold), choice("close_connection", \.closedConnection, isOnce: true),
        flag("lost_token_answer", \.losesTokenAnswer, isOnce: true),
        choice("provider_down", \.outage),
        // The number follows when the change is applied.
        mark("claims_challenge", \.claimsChallenge), mark("expire_tokens", \.tokenExpiry),
        choice("bad_id_token", \.idTokenFault, isOnce: true),
        platformError("token_platform_error", \.tokenPlatformError),
        platformError("authorize_platform_error", \.authorizePlatformError),
        scope("missing_scope", \.missingScope), scope("declined_scope", \.declinedScope),
        flag("b2c_issuer_with_policy", \.hasIssuerWithPolicy),
        EffectKey("id_token_claims", \.idTokenClaims, normal: [:], claims, JSONValue.object),
        flag("omit_auth_time", \.omitsAuthTime), flag("ignore_max_age", \.ignoresFreshness),
        flag("generic_provider", \.isGeneric), flag("unknown_key", \.publishesUnknownKey),
        flag("second_factor", \.requiresSecondFactor), flag("graph_throttled", \.hasThrottledGraph, isOnce: true),
        flag("no_permissions", \.listsNoAPI), revocation("revoked", \.revokedAt),
        choice("key_set", \.keySetFault),
        EffectKey(
            "native_failure", \.nativeFailure, normal: .null, isOnce: true,
            { (value) throws(Problem) in value == .null ? nil : try Controls.NativeFailure(value) }, { $0.json }),
    ]

    /// The number of requests that have to fail for an app to notice. After a 5xx or a dropped connection, MSAL for iOS and
    /// macOS asks the token endpoint a second time (common core 1.26.0, MSIDAADRequestErrorHandler.m:54-72).
    func timesNoticed(_ value: JSONValue) -> Int {
        switch name {
        case "token_error": (value["status"]?.integer ?? 0) >= 500 ? 2 : 1
        case "token_platform_error":
            (value.integer.flatMap(PlatformError.numbered)?.status.code ?? 0) >= 500 ? 2 : 1
        case "close_connection": value == "token" ? 2 : 1
        case "lost_token_answer": 2
        default: 1
        }
    }

    /// The key with a name.
    package static func named(_ name: String) -> EffectKey? { all.first { $0.name == name } }

    // MARK: Kinds of values

    private static func number(
        _ name: String, _ effect: any WritableKeyPath<Effects, Int?> & Sendable, normal: JSONValue, upTo limit: Int
    ) -> EffectKey {
        EffectKey(name, effect, normal: normal) { (value) throws(Problem) in
            if value == .null, normal == .null { return nil }
            guard let number = value.integer, (0...limit).contains(number) else {
                throw Problem(message: "give a whole number from 0 to \(limit).")
            }
            return number
        } _: {
            .integer($0)
        }
    }

    private static func flag(
        _ name: String, _ effect: any WritableKeyPath<Effects, Bool?> & Sendable, isOnce: Bool = false
    ) -> EffectKey {
        EffectKey(
            name, effect, normal: false, isOnce: isOnce, { (value) throws(Problem) in try value.flag() },
            JSONValue.bool)
    }

    private static func mark(
        _ name: String, _ effect: any WritableKeyPath<Effects, Int?> & Sendable
    ) -> EffectKey {
        EffectKey(
            name, effect, normal: false, { (value) throws(Problem) in try value.flag() ? 0 : nil }, { _ in true })
    }

    /// A switch whose effect has the time at which the change is applied.
    private static func revocation(
        _ name: String, _ effect: any WritableKeyPath<Effects, Date?> & Sendable
    ) -> EffectKey {
        EffectKey(
            name, effect, normal: false, { (value) throws(Problem) in try value.flag() ? .distantFuture : nil },
            { _ in true })
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ effect: any WritableKeyPath<Effects, Choice?> & Sendable, isOnce: Bool = false
    ) -> EffectKey {
        EffectKey(
            name, effect, normal: .null, isOnce: isOnce,
            { (value) throws(Problem) in try value.choice(of: Choice.self) }, { .string($0.rawValue) })
    }

    private static func platformError(
        _ name: String, _ effect: any WritableKeyPath<Effects, Int?> & Sendable
    ) -> EffectKey {
        EffectKey(name, effect, normal: .null, isOnce: true) { (value) throws(Problem) in
            if value == .null { return nil }
            guard let number = value.integer, PlatformError.numbered(number) != nil else {
                let numbers = PlatformError.numbers.map(String.init).joined(separator: ", ")
                throw Problem(message: "give null or one of: \(numbers).")
            }
            return number
        } _: {
            .integer($0)
        }
    }

    private static func scope(
        _ name: String, _ effect: any WritableKeyPath<Effects, String?> & Sendable
    ) -> EffectKey {
        EffectKey(name, effect, normal: .null) { (value) throws(Problem) in
            if value == .null { return nil }
            guard let scope = value.string, !scope.isEmpty, !scope.contains(where: { $0 == "\"" || $0.isWhitespace })
            else { throw Problem(message: "give null or one scope.") }
            return scope
        } _: {
            .string($0)
        }
    }

    private static func answer(
        _ name: String, _ effect: any WritableKeyPath<Effects, Controls.InjectedAnswer?> & Sendable
    ) -> EffectKey {
        EffectKey(
            name, effect, normal: .null, isOnce: true,
            { (value) throws(Problem) in value == .null ? nil : try Controls.InjectedAnswer(value) }, { $0.json })
    }

    private static func claims(_ value: JSONValue) throws(Problem) -> [String: JSONValue]? {
        if value == .null { return nil }
        guard let claims = value.object else {
            throw Problem(message: "give null or an object of claims; a claim that is null is left out.")
        }
        return claims
    }
}

extension JSONValue {
    package func flag() throws(ControlChange.Problem) -> Bool {
        guard let bool else { throw ControlChange.Problem(message: "give true or false.") }
        return bool
    }

    /// Returns one of the choices, or nil for null.
    package func choice<Choice: RawRepresentable<String> & CaseIterable>(
        of type: Choice.Type
    ) throws(ControlChange.Problem) -> Choice? {
        if self == .null { return nil }
        guard let choice = string.flatMap(Choice.init(rawValue:)) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlChange.Problem(message: "give null or one of: \(names).")
        }
        return choice
    }
}
