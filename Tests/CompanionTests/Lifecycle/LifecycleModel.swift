/// The laws of sign-ins and refreshes, which hold in every order of events: a small model of what the companion
/// and the provider know, which the real ones are compared with after each step (``LifecycleDriver``).
///
/// The laws:
/// 1. A failure (of the provider, of the disk, of the clock, a restart) signs nobody out: only the provider's own word does.
/// 2. A code is redeemed once.
/// 3. A refresh token is used once, unless the answer to its use was lost, since nobody then knows its successor.
/// 4. What was answered is true from then on, also after a restart.
/// 5. An answer of the provider is stored, also one that came late or while nothing could be stored.
/// 6. A refresh token that was refused is not sent again for two minutes.
/// 7. A response whose ID token cannot be checked now (the key is not published yet, the keys are not to be had, a clock is
///    wrong) has its refresh token stored, and is checked again instead of another request for five minutes.
struct LifecycleModel {
    typealias App = String
    typealias Person = String

    struct Slot: Hashable {
        var app: App
        var person: Person
    }

    enum Scopes: String { case main = "user.read", mail = "mail.read" }

    /// One account that is signed in.
    struct Held {
        /// When the access tokens were given.
        var issued: [Scopes: Int]
        /// The provider has said that it wants the person.
        var needsSignIn = false
        /// The stored refresh token was used, and the answer with its successor was lost.
        var isSpent = false
        /// The provider takes no token of this sign-in any more.
        var isRevoked = false
        /// The successor came when nothing could be stored; the companion has it in memory.
        var unsaved: (scopes: Scopes, at: Int)?
        /// The response whose check failed for now.
        var unchecked: Unchecked?
        /// Until when the companion that was refused does not ask for these scopes again; for the main ones, for none.
        var refusals: [Scopes: Int] = [:]
        /// It may have been restarted since.
        var mayHaveForgotten = false
        /// The store has noted a refusal for all companions, by a clock that no schedule moves.
        var isRefusedForAll = false
    }

    /// A refresh response that is checked again.
    struct Unchecked {
        var scopes: Scopes
        var at: Int
        /// The time from which its check succeeds.
        var goodAt: Int
        /// The error while it does not.
        var code: String
    }

    struct Attempt {
        enum State: Equatable { case waiting, failed, completed(at: Int) }

        var slot: Slot
        var callback: String
        var begunAt: Int
        /// The session's cookie when the browser left.
        var cookie: String?
        var state = State.waiting
        var isRevoked = false

        var isCompleted: Bool {
            if case .completed = state { true } else { false }
        }
    }

    /// The fate of the next token request.
    enum Failure: String, CaseIterable {
        case unavailable, garbage, closed, throttled, invalidClient, invalidGrant
        /// The provider did what was asked and the answer was lost.
        case lostAnswer
        /// The response is signed with a key that is not published yet, or while the keys are not to be had, or its times lie
        /// ahead of the companion's clock. It comes to an end with the next response, like the others.
        case lateKey, noKeys, clockBehind

        /// Whether the provider grants what is asked, and the companion cannot know it yet.
        var isOfCheck: Bool { [.lateKey, .noKeys, .clockBehind].contains(self) }

        var code: String {
            switch self {
            case .unavailable, .garbage, .closed, .lostAnswer, .noKeys: "provider_unavailable"
            case .lateKey, .clockBehind: LifecycleModel.unchecked
            case .throttled: "throttled"
            case .invalidClient: "provider_rejected_client"
            case .invalidGrant: "interaction_required"
            }
        }
    }

    /// The way in which a page asks for a token.
    enum Call: String, CaseIterable {
        case ordinary, forced, mail, me

        var scopes: Scopes { self == .mail ? .mail : .main }
    }

    enum Outcome: Hashable {
        case cache, refreshed
        case refused(String)
        case notSignedIn
        /// The browser got no answer, for example during a restart of the companion.
        case none
    }

    enum Landing: Hashable {
        /// On the page, without an error.
        case page
        /// On the page, which says why there is no sign-in.
        case error
        case unavailable, otherBrowser
    }

    // Seconds. The tenant gives tokens for 1200, the companion renews them 300 before their end and hands them out until 5
    // before. All times of a schedule are sums of 61 and 960, so that nothing happens near one of these bounds.
    static let accessTokenSeconds = 1200
    private static let good = 900
    private static let valid = 1195
    private static let codeLifetime = 600
    private static let attemptLifetime = 1800
    /// A session that is known to have been used within this time is not over, by far.
    private static let idle = 1800
    private static let replayWindow = 600
    private static let refusalPause = 120
    private static let uncheckedLifetime = 300
    /// A clock that is 400 s behind may be 300 s behind.
    static let clockLag = 400
    private static let lagBeyondTolerance = 100
    /// The error of a response that cannot be checked now. On a slow machine a check does not end in time, which is another
    /// error.
    static let unchecked = "provider_unavailable"

    let isSingleUse: Bool
    /// Whether several companions could use the store.
    let isClustered: Bool
    /// Whether two do: more scopes' refusals are known to one of them alone.
    let isAtTwo: Bool
    var now = 0
    var accounts: [Slot: Held] = [:]
    var current: [App: Person] = [:]
    var attempts: [Attempt] = []
    var failure: Failure?
    var isDown = false
    var isLocked = false
    /// The number of refresh tokens that were used twice, each for the reason that law 3 allows.
    var replays = 0
    /// The number of token requests that the single calls made.
    var requests = 0

    init(isSingleUse: Bool, isClustered: Bool, isAtTwo: Bool) {
        self.isSingleUse = isSingleUse
        self.isClustered = isClustered
        self.isAtTwo = isAtTwo
    }

    /// The same without the failure, where the failure is a closed connection: libcurl repeats what it sent on a connection
    /// that it had used before.
    var unharmed: LifecycleModel? {
        guard failure == .closed else { return nil }
        var model = self
        model.failure = nil
        return model
    }

    /// The same at a companion that knows less of refusals: it may have been restarted, or be the other one of two.
    func forgetful(_ slot: Slot) -> LifecycleModel? {
        guard let held = accounts[slot], !held.refusals.isEmpty, held.mayHaveForgotten || isAtTwo else { return nil }
        var model = self
        model.accounts[slot]?.refusals = [:]
        return model
    }

    /// The same at the other one of two companions, which has not kept a response that could not be checked.
    func unkept(_ slot: Slot) -> LifecycleModel? {
        guard isAtTwo, accounts[slot]?.unchecked != nil else { return nil }
        var model = self
        model.accounts[slot]?.unchecked = nil
        return model
    }

    /// Whether any response waits for its next check.
    var isAnyUnchecked: Bool { accounts.values.contains { $0.unchecked != nil } }

    // MARK: Tokens

    /// Whether the companion knows by itself that the provider would refuse.
    func isRefused(_ slot: Slot, _ scopes: Scopes) -> Bool {
        guard let held = accounts[slot] else { return false }
        return [.main, scopes].contains { held.refusals[$0].map { now < $0 } ?? false }
    }

    /// Takes note of the provider's refusal.
    private func refuse(_ held: inout Held, _ scopes: Scopes) {
        held.refusals[scopes] = now + Self.refusalPause
        held.mayHaveForgotten = false
        guard scopes == .main else { return }
        held.needsSignIn = true
        held.isRefusedForAll = isClustered
    }

    func needsRefresh(_ slot: Slot, _ call: Call) -> Bool {
        guard let held = accounts[slot] else { return false }
        return call == .forced || !isYounger(held, call.scopes, Self.good)
    }

    private func isYounger(_ held: Held, _ scopes: Scopes, _ age: Int) -> Bool {
        held.issued[scopes].map { now - $0 < age } ?? false
    }

    /// The outcome of a call when nothing else goes on.
    mutating func call(_ slot: Slot, _ call: Call) -> Outcome {
        guard var held = accounts[slot] else { return .notSignedIn }
        guard needsRefresh(slot, call) else { return .cache }
        func failed(_ code: String) -> Outcome {
            call != .forced && isYounger(held, call.scopes, Self.valid) ? .cache : .refused(code)
        }
        if isRefused(slot, call.scopes) { return .refused("interaction_required") }
        if isLocked { return failed("storage_unavailable") }
        if held.isRefusedForAll { return .refused("interaction_required") }
        if call != .forced, let kept = held.unchecked, kept.scopes == call.scopes,
            now - kept.at < Self.uncheckedLifetime
        {
            guard kept.goodAt <= now else { return failed(kept.code) }
            held.issued[kept.scopes] = kept.at
            held.needsSignIn = false
            held.unchecked = nil
            accounts[slot] = held
            return .refreshed
        }
        if isDown { return failed("provider_unavailable") }
        requests += 1
        defer { accounts[slot] = held }
        func refused() -> Outcome {
            refuse(&held, call.scopes)
            return .refused("interaction_required")
        }
        let failure = failure
        self.failure = nil
        switch failure {
        case nil: break
        case .invalidGrant: return refused()
        case .lostAnswer:
            if isGranted(&held) { held.isSpent = true }
            return failed(Failure.lostAnswer.code)
        case .some(let failure) where failure.isOfCheck:
            guard isGranted(&held) else { return refused() }
            keepUnchecked(&held, call, failure)
            return failed(failure.code)
        case .some(let failure): return failed(failure.code)
        }
        guard isGranted(&held) else { return refused() }
        renew(&held, call.scopes, at: now)
        return .refreshed
    }

    /// Takes over what a refresh brought.
    private func renew(_ held: inout Held, _ scopes: Scopes, at time: Int) {
        held.issued[scopes] = time
        held.needsSignIn = false
        held.isSpent = false
        held.refusals = [:]
        held.unchecked = nil
    }

    /// Takes over a response that cannot be checked now: nothing but its refresh token. A call that wants more than an
    /// ordinary refresh brings does not wait for it.
    private func keepUnchecked(_ held: inout Held, _ call: Call, _ failure: Failure) {
        held.isSpent = false
        held.refusals = [:]
        held.unchecked =
            call == .forced
            ? nil
            : Unchecked(
                scopes: call.scopes, at: now, goodAt: failure == .clockBehind ? now + Self.lagBeyondTolerance : now,
                code: failure.code)
    }

    /// Whether the provider takes the stored refresh token.
    private mutating func isGranted(_ held: inout Held) -> Bool {
        if isSingleUse, held.isSpent, !held.isRevoked {
            replays += 1
            held.isRevoked = true
        }
        return !held.isRevoked
    }

    /// The possible outcomes of each of several calls at once, whose order is not known.
    func outcomes(_ slot: Slot, _ calls: [Call]) -> Set<Outcome> {
        // A browser without a session hears of no account in particular.
        guard let held = accounts[slot] else { return [.notSignedIn, .refused("interaction_required")] }
        var outcomes: Set<Outcome> = [.cache, .refreshed]
        guard calls.contains(where: { needsRefresh(slot, $0) }) else { return [.cache] }
        if held.isRefusedForAll || calls.contains(where: { isRefused(slot, $0.scopes) }) {
            outcomes.insert(.refused("interaction_required"))
        }
        if isDown { outcomes.insert(.refused(Failure.unavailable.code)) }
        if let failure { outcomes.insert(.refused(failure.code)) }
        if held.isRevoked || mayBeReplayed(slot) { outcomes.insert(.refused("interaction_required")) }
        return outcomes
    }

    /// Whether law 3 allows one more use of a used token.
    func mayBeReplayed(_ slot: Slot) -> Bool {
        guard isSingleUse, let held = accounts[slot], !held.isRevoked else { return false }
        return held.isSpent || failure == .lostAnswer
    }

    /// Takes over what several calls at once came to.
    mutating func absorb(_ slot: Slot, _ answers: [(call: Call, outcome: Outcome)], wasReplayed: Bool) {
        guard var held = accounts[slot] else { return }
        let isAsked =
            answers.contains { needsRefresh(slot, $0.call) && !isRefused(slot, $0.call.scopes) }
            && !held.isRefusedForAll && !isDown
        let refreshed = answers.filter { $0.outcome == .refreshed }.map(\.call.scopes)
        let refused = Set(answers.filter { $0.outcome == .refused("interaction_required") }.map(\.call.scopes))
        for scopes in refreshed { held.issued[scopes] = now }
        if isAsked {
            held.unsaved = nil
            if failure == .lostAnswer, !held.isRevoked { held.isSpent = true }
            failure = nil
        }
        if wasReplayed {
            replays += 1
            held.isRevoked = true
        }
        if !refreshed.isEmpty {
            held.needsSignIn = false
            held.isSpent = false
            held.refusals = [:]
            held.unchecked = nil
        } else {
            for scopes in refused where !isRefused(slot, scopes) && !held.isRefusedForAll { refuse(&held, scopes) }
        }
        accounts[slot] = held
    }

    /// A forced refresh brought tokens that could not be stored.
    mutating func keepUnsaved(_ slot: Slot) { accounts[slot]?.unsaved = (.main, now) }

    /// The answers that could not be stored are stored by now.
    mutating func settle() {
        for (slot, held) in accounts {
            guard let unsaved = held.unsaved else { continue }
            var held = held
            held.unsaved = nil
            renew(&held, unsaved.scopes, at: unsaved.at)
            accounts[slot] = held
        }
    }

    /// The answer to a refresh for the main scopes came when nobody waited for it any more.
    mutating func takeLateAnswer(_ slot: Slot) {
        guard var held = accounts[slot] else { return }
        renew(&held, .main, at: now)
        accounts[slot] = held
    }

    /// Whether a restart may end the session, rightly: that it was used is known in memory alone, since uses are written
    /// now and then by the real clock.
    var mayHaveUnwrittenUses: Bool { isLocked && now > Self.idle }

    /// A restart forgets what is in memory alone.
    mutating func restart() {
        for (slot, held) in accounts {
            if !isAtTwo {
                accounts[slot]?.refusals = [:]
                accounts[slot]?.unchecked = nil
            }
            guard held.unsaved != nil else { continue }
            accounts[slot]?.unsaved = nil
            accounts[slot]?.isSpent = true
        }
    }

    // MARK: Sign-in and sign-out

    /// Whether the next callback of an attempt signs somebody in.
    func isGood(_ index: Int) -> Bool {
        let attempt = attempts[index]
        return attempt.state == .waiting && !attempt.isRevoked && now - attempt.begunAt < Self.codeLifetime
            && !isLocked && !isDown && failure == nil
    }

    /// Whether its callback comes too late.
    func isOver(_ attempt: Attempt) -> Bool { now - attempt.begunAt >= Self.attemptLifetime }

    /// A callback, from the browser that began it.
    mutating func callback(_ index: Int) -> Landing {
        let attempt = attempts[index]
        if isLocked { return .unavailable }
        // Anyone who is signed in goes to the page.
        let over: Landing = current[attempt.slot.app] == nil ? .error : .page
        switch attempt.state {
        case .failed: return over
        case .completed(let at): return now - at < Self.replayWindow ? .page : over
        case .waiting:
            guard !isOver(attempt) else { return over }
            guard isGood(index) else {
                if !isDown { failure = nil }
                attempts[index].state = .failed
                return .error
            }
            attempts[index].state = .completed(at: now)
            accounts[attempt.slot] = Held(issued: [.main: now].merging(oldMail(attempt.slot)) { $1 })
            current[attempt.slot.app] = attempt.slot.person
            return .page
        }
    }

    /// Tokens for other scopes outlive a new sign-in of the same person.
    private func oldMail(_ slot: Slot) -> [Scopes: Int] {
        (accounts[slot]?.issued ?? [:]).filter { $0.key == .mail }
    }

    mutating func signOut(_ slot: Slot) {
        accounts[slot] = nil
        if current[slot.app] == slot.person { current[slot.app] = nil }
    }

    mutating func revoke(_ person: Person) {
        for slot in accounts.keys where slot.person == person { accounts[slot]?.isRevoked = true }
        for index in attempts.indices where attempts[index].slot.person == person { attempts[index].isRevoked = true }
    }

    // MARK: What pages see

    struct Listed: Hashable, Comparable, CustomStringConvertible {
        var person: Person
        var isCurrent: Bool
        var needsSignIn: Bool

        static func < (one: Listed, other: Listed) -> Bool { one.person < other.person }

        var description: String {
            "\(person.prefix { $0 != "@" })\(isCurrent ? ", current" : "")\(needsSignIn ? ", needs sign-in" : "")"
        }
    }

    func list(_ app: App) -> [Listed] {
        accounts.filter { $0.key.app == app }.map { slot, held in
            Listed(person: slot.person, isCurrent: current[app] == slot.person, needsSignIn: held.needsSignIn)
        }.sorted()
    }
}
