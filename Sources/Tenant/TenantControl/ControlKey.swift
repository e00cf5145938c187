import Foundation
package import TenantDirectory
package import WebFormats

/// A key of `/control` as one row: its words, its field on the page, and its effect. The JSON interface, the page, the
/// sentence that confirms a change, and the guide's table come out of it.
package struct ControlKey: Sendable {
    package typealias Problem = ControlChange.Problem

    /// The kinds of fields on the page.
    package enum Field: Sendable {
        case number(upTo: Int, unset: String)
        case text
        /// One of these values by its title; the empty one is normal.
        case choice([(value: String, title: HTML)])
        /// One of the platform's errors, whose names are the same in every language, in groups by their moment.
        case platformError([(title: HTML, moments: ClosedRange<PlatformError.Moment>)])
        /// One of these responses, or normal.
        case answer([Controls.InjectedAnswer.Preset])
        /// An error of an endpoint of native authentication.
        case nativeFailure
        /// On or off.
        case toggle
        /// One of the accounts, for a change that happens at once.
        case account(verb: HTML)
        /// A change that happens at once.
        case button(value: String, verb: HTML? = nil, style: String = "")
        /// None, because only programs use the key; and the values that it takes.
        case json(String)
    }

    /// A failure that a person chooses happens twice where MSAL for iOS and macOS asks again: after a 5xx or a dropped
    /// connection at the token endpoint (common core 1.26.0, MSIDAADRequestErrorHandler.m:54-72).
    package struct Repetition: Sendable {
        package var note: HTML
        var isNeeded: @Sendable (JSONValue) -> Bool
    }

    /// The change that a key makes.
    enum Action: Sendable {
        case effect(EffectAccess)
        /// One that happens at once.
        case act(Act)
    }

    typealias Act = @Sendable (JSONValue, ControlChange.Known) throws(Problem) -> [ControlChange]

    /// One of the effects as the JSON interface has it.
    struct EffectAccess: Sendable {
        /// The value that stands for normal.
        let normal: JSONValue
        /// Whether it is used up by the next request, if it does not stand in a rule of the list.
        let isOnce: Bool
        /// Sets the effect, or none for a value that stands for normal.
        let set: @Sendable (JSONValue, inout Effects) throws(Problem) -> Void
        /// The value of the effect; nil if it is not set.
        let json: @Sendable (Effects) -> JSONValue?
    }

    /// The field of a key with its action.
    struct Kind: Sendable {
        let field: Field
        let action: Action

        init(_ field: Field, act: @escaping Act) { (self.field, action) = (field, .act(act)) }

        init<Value>(
            _ field: Field, _ effect: any WritableKeyPath<Effects, Value?> & Sendable, normal: JSONValue,
            isOnce: Bool = false, _ parse: @escaping @Sendable (JSONValue) throws(Problem) -> Value?,
            _ json: @escaping @Sendable (Value) -> JSONValue
        ) {
            self.field = field
            action = .effect(
                EffectAccess(
                    normal: normal, isOnce: isOnce,
                    set: { (value, effects) throws(Problem) in effects[keyPath: effect] = try parse(value) },
                    json: { $0[keyPath: effect].map(json) }))
        }
    }

    package let name: String
    /// The name on the page, in English like all words here; nil for a key of the JSON interface alone.
    package let title: HTML?
    /// The name of a rule that stays, if the title is that of what happens once.
    package let lastingTitle: HTML?
    /// The sentence about what changes for people.
    package let meaning: HTML
    /// The sentence that confirms a change, beside the one that says how an effect is set.
    package let done: HTML?
    package let field: Field
    package let repetition: Repetition?
    /// The mission of the companion's tutorials that shows it whole, with its title; nil if none does.
    package let mission: (id: String, title: HTML)?
    /// The words for it that people type and the page has not. They are the platform's, in every language.
    package let searchWords: String
    /// Whether the page offers it for one app or person.
    package let isForRules: Bool
    let action: Action

    init(
        _ name: String, _ title: HTML?, _ meaning: HTML, _ kind: Kind, done: HTML? = nil,
        isForEveryone: Bool = false, repetition: Repetition? = nil, lastingTitle: HTML? = nil,
        searchWords: String = "", mission: (id: String, title: HTML)? = nil
    ) {
        self.mission = mission
        (self.name, self.title, self.meaning, self.done, self.repetition) = (name, title, meaning, done, repetition)
        (field, action, self.lastingTitle, self.searchWords) = (kind.field, kind.action, lastingTitle, searchWords)
        if case .effect = action { isForRules = !isForEveryone } else { isForRules = false }
    }

    /// Those that set an effect.
    package static let effects = all.filter(\.isEffect)

    /// The key with a name.
    package static func named(_ name: String) -> ControlKey? { all.first { $0.name == name } }

    /// The value that stands for normal; null for a change that happens at once.
    package var normal: JSONValue { effect?.normal ?? .null }

    /// Returns the value among effects; nil if it is not set, or for a change that happens at once.
    package func json(_ effects: Effects) -> JSONValue? { effect?.json(effects) }

    /// Whether it sets an effect, for which a rule can say to whom and how often.
    package var isEffect: Bool { effect != nil }

    var effect: EffectAccess? { if case .effect(let effect) = action { effect } else { nil } }

    /// The number of requests that have to fail for an app to notice.
    func timesNoticed(_ value: JSONValue) -> Int { repetition?.isNeeded(value) == true ? 2 : 1 }
}

// MARK: Kinds

extension ControlKey.Kind {
    typealias Problem = ControlChange.Problem
    typealias Effect<Value> = any WritableKeyPath<Effects, Value?> & Sendable

    /// - Parameter unset: The number that holds while none is set.
    static func number(_ effect: Effect<Int>, normal: JSONValue, upTo limit: Int, unset: String? = nil) -> Self {
        Self(.number(upTo: limit, unset: unset ?? normal.text), effect, normal: normal) { (value) throws(Problem) in
            if value == .null, normal == .null { return nil }
            guard let number = value.integer, (0...limit).contains(number) else {
                throw Problem(message: "give a whole number from 0 to \(limit).")
            }
            return number
        } _: {
            .integer($0)
        }
    }

    static func toggle(_ effect: Effect<Bool>, isOnce: Bool = false) -> Self {
        Self(
            .toggle, effect, normal: false, isOnce: isOnce, { (value) throws(Problem) in try value.flag() },
            JSONValue.bool)
    }

    /// A switch whose effect has a number, which follows when the change is applied.
    static func mark(_ effect: Effect<Int>) -> Self {
        Self(.toggle, effect, normal: false, { (value) throws(Problem) in try value.flag() ? 0 : nil }, { _ in true })
    }

    /// A switch whose effect has the time at which the change is applied.
    static func revocation(_ effect: Effect<Date>) -> Self {
        Self(
            .toggle, effect, normal: false,
            { (value) throws(Problem) in try value.flag() ? .distantFuture : nil }, { _ in true })
    }

    /// - Parameter normal: its title; nil for a key of the JSON interface alone, whose choices have none.
    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ effect: Effect<Choice>, isOnce: Bool = false, normal: HTML? = nil, _ titles: [(Choice, HTML)] = []
    ) -> Self {
        let names = Choice.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        let field = normal.map { normal in
            ControlKey.Field.choice([("", normal)] + titles.map { ($0.rawValue, $1) })
        }
        return Self(
            field ?? .json(names), effect, normal: .null, isOnce: isOnce,
            { (value) throws(Problem) in try value.choice(of: Choice.self) }, { .string($0.rawValue) })
    }

    static func platformError(
        _ effect: Effect<Int>, _ groups: [(HTML, ClosedRange<PlatformError.Moment>)]
    ) -> Self {
        Self(.platformError(groups.map { (title: $0, moments: $1) }), effect, normal: .null, isOnce: true) {
            (value) throws(Problem) in
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

    static func scope(_ effect: Effect<String>) -> Self {
        Self(.text, effect, normal: .null) { (value) throws(Problem) in
            if value == .null { return nil }
            guard let scope = value.string, !scope.isEmpty, !scope.contains(where: { $0 == "\"" || $0.isWhitespace })
            else { throw Problem(message: "give null or one scope.") }
            return scope
        } _: {
            .string($0)
        }
    }

    static func answer(
        _ effect: Effect<Controls.InjectedAnswer>, _ presets: [Controls.InjectedAnswer.Preset]
    ) -> Self {
        Self(
            .answer(presets), effect, normal: .null, isOnce: true,
            { (value) throws(Problem) in value == .null ? nil : try Controls.InjectedAnswer(value) }, { $0.json })
    }

    static func nativeFailure(_ effect: Effect<Controls.NativeFailure>) -> Self {
        Self(
            .nativeFailure, effect, normal: .null, isOnce: true,
            { (value) throws(Problem) in value == .null ? nil : try Controls.NativeFailure(value) }, { $0.json })
    }

    static func claims(_ effect: Effect<[String: JSONValue]>) -> Self {
        Self(.json("an object"), effect, normal: [:]) { (value) throws(Problem) in
            if value == .null { return nil }
            guard let claims = value.object else {
                throw Problem(message: "give null or an object of claims; a claim that is null is left out.")
            }
            return claims
        } _: {
            .object($0)
        }
    }

    static func account(verb: HTML, _ change: @escaping @Sendable (DemoAccount) -> ControlChange) -> Self {
        Self(.account(verb: verb)) { (value, known) throws(Problem) in
            [change(try ControlChange.account(value, known))]
        }
    }

    static func reset(_ value: String) -> Self {
        Self(.button(value: value, style: "danger")) { (value, _) throws(Problem) in
            if value == "seed" { return [.reset(toSeed: true)] }
            guard let isReset = value.bool else { throw Problem(message: "give true or \"seed\".") }
            return isReset ? [.reset(toSeed: false)] : []
        }
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
