import TestSupport

/// One thing that happens. Between any two the clock moves by 61 seconds, so that no limit for a minute is met.
enum LifecycleStep {
    typealias Slot = LifecycleModel.Slot
    typealias Call = LifecycleModel.Call

    /// The way in which a callback comes.
    enum Arrival: CaseIterable { case once, twiceAtOnce, inAnotherBrowser, withItsFirstAnswerLost }

    /// The browser goes to the provider and has its answer, which it does not yet deliver.
    case begin(Slot)
    /// The callback of a sign-in, the last one or one before, perhaps not for the first time.
    case callback(before: Int, Arrival)
    /// One or several at once.
    case refresh(Slot, [Call])
    case refreshDuringSignOut(Slot, Call)
    case refreshDuringCallback(Slot, Call)
    /// The refresh is refused after a new sign-in.
    case signInDuringRefusal(Slot)
    case signOut(Slot)
    case switchTo(Slot)
    case wait(seconds: Int)
    /// The machine's clock is wrong by so much while the browser looks who is signed in.
    case wrongClock(seconds: Int)
    case fail(LifecycleModel.Failure)
    case providerGoes
    case providerComes
    case revoke(String)
    case lockStore
    case unlockStore
    case lockStoreDuringRefresh(Slot)
    /// The answer to a refresh comes when its caller has gone.
    case lateAnswer(Slot)
    case restart
    case restartDuringRefresh(Slot)
}

extension LifecycleStep: CustomStringConvertible {
    private static func name(_ slot: Slot) -> String { "\(slot.app)/\(slot.person.prefix { $0 != "@" })" }

    var description: String {
        switch self {
        case .begin(let slot): "begin \(Self.name(slot))"
        case .callback(let before, let arrival): "callback -\(before) \(arrival)"
        case .refresh(let slot, let calls): "refresh \(Self.name(slot)) \(calls.map(\.rawValue))"
        case .refreshDuringSignOut(let slot, let call): "sign out \(Self.name(slot)) during \(call)"
        case .refreshDuringCallback(let slot, let call): "sign in \(Self.name(slot)) during \(call)"
        case .signInDuringRefusal(let slot): "sign in \(Self.name(slot)) during a refusal"
        case .signOut(let slot): "sign out \(Self.name(slot))"
        case .switchTo(let slot): "switch to \(Self.name(slot))"
        case .wait(let seconds): "wait \(seconds)"
        case .wrongClock(let seconds): "clock wrong by \(seconds)"
        case .fail(let failure): "fail \(failure)"
        case .providerGoes: "provider goes"
        case .providerComes: "provider comes"
        case .revoke(let person): "revoke \(person.prefix { $0 != "@" })"
        case .lockStore: "lock store"
        case .unlockStore: "unlock store"
        case .lockStoreDuringRefresh(let slot): "lock store during refresh \(Self.name(slot))"
        case .lateAnswer(let slot): "late answer \(Self.name(slot))"
        case .restart: "restart"
        case .restartDuringRefresh(let slot): "restart during refresh \(Self.name(slot))"
        }
    }
}

extension LifecycleStep {
    fileprivate var isTrouble: Bool {
        switch self {
        case .wait, .fail, .providerGoes, .lockStore: true
        default: false
        }
    }
}

/// A random order of steps; the same for the same seed.
struct LifecycleSchedule {
    let seed: UInt64
    let isSingleUse: Bool
    let steps: [LifecycleStep]

    /// - Parameter isLocking: whether the store may fail. What it did not take of a refresh, only the server that has made the
    ///   refresh can store later: at another one, the model would have to know which that was.
    init(seed: UInt64, isLocking: Bool = true) {
        self.seed = seed
        var random = SeededGenerator(seed: seed)
        isSingleUse = Int.random(in: 0..<5, using: &random) > 0
        // Steps that take long are rare.
        let locks = Int.random(in: 0..<10, using: &random) == 0 && isLocking
        let restarts = Int.random(in: 0..<8, using: &random) == 0
        let isLate = Int.random(in: 0..<25, using: &random) == 0
        var steps: [LifecycleStep] = [
            .begin(Self.slot(&random)), .callback(before: 0, .allCases.randomElement(using: &random) ?? .once),
        ]
        for _ in 0..<Int.random(in: 5...10, using: &random) {
            let step = Self.step(&random, locks: locks, restarts: restarts)
            steps.append(step)
            // A failure matters to somebody who asks: now, and with a token that is old but still good.
            guard Bool.random(using: &random) else { continue }
            if case .wait = step { steps.append(.fail(Self.failure(&random))) }
            if step.isTrouble { steps.append(.refresh(Self.slot(&random), [Self.call(&random)])) }
        }
        if isLate {
            let place = Int.random(in: 2...steps.count, using: &random)
            steps.insert(.lateAnswer(Self.slot(&random)), at: place)
        }
        self.steps = steps
    }

    /// Mostly the same account, so that much happens to one.
    private static func slot(_ random: inout SeededGenerator) -> LifecycleModel.Slot {
        LifecycleModel.Slot(
            app: Int.random(in: 0..<6, using: &random) == 0 ? "macos" : "ios",
            person: Int.random(in: 0..<5, using: &random) == 0 ? "megan@contoso.example" : "adele@contoso.example")
    }

    private static func call(_ random: inout SeededGenerator) -> LifecycleModel.Call {
        .allCases.randomElement(using: &random) ?? .ordinary
    }

    private static func failure(_ random: inout SeededGenerator) -> LifecycleModel.Failure {
        .allCases.randomElement(using: &random) ?? .unavailable
    }

    private static func step(_ random: inout SeededGenerator, locks: Bool, restarts: Bool) -> LifecycleStep {
        let slot = slot(&random)
        let call = call(&random)
        let number = Int.random(in: 0..<(100 + (locks ? 30 : 0) + (restarts ? 20 : 0)), using: &random)
        switch number {
        case 0..<12: return .begin(slot)
        case 12..<28:
            let before = max(0, Int.random(in: -2...3, using: &random))
            return .callback(before: before, .allCases.randomElement(using: &random) ?? .once)
        case 28..<46: return .refresh(slot, [call])
        case 46..<56:
            let calls = (0..<Int.random(in: 2...4, using: &random)).map { _ in
                LifecycleModel.Call.allCases.filter { $0 != .me }.randomElement(using: &random) ?? .forced
            }
            return .refresh(slot, calls)
        case 56..<62: return .wait(seconds: Bool.random(using: &random) ? 960 : 2 * 960)
        case 62..<64: return .wrongClock(seconds: [7200, 600, -7200].randomElement(using: &random) ?? 7200)
        case 64..<80: return .fail(failure(&random))
        case 80..<83: return .signOut(slot)
        case 83..<85: return .switchTo(slot)
        case 85..<87: return .revoke(slot.person)
        case 87..<90: return .refreshDuringSignOut(slot, call)
        case 90..<94: return .refreshDuringCallback(slot, call)
        case 94..<96: return .signInDuringRefusal(slot)
        case 96..<98: return .providerGoes
        case 98..<100: return .providerComes
        default: break
        }
        let rest = number - 100
        if locks, rest < 30 {
            return rest < 9 ? .lockStore : rest < 16 ? .unlockStore : .lockStoreDuringRefresh(slot)
        }
        return Bool.random(using: &random) ? .restart : .restartDuringRefresh(slot)
    }
}
