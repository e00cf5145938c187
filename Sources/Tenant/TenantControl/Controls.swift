package import Foundation
import Synchronization

/// The failures requested at `/control`, and the counts. They are kept in memory, so that a new process behaves normally.
package final class Controls: Sendable {
    /// The events that are counted.
    package enum Counter: String, Sendable, CaseIterable {
        case authorize
        case tokenCode = "token_code"
        case tokenRefresh = "token_refresh"
        case tokenClientCredentials = "token_client_credentials"
        case tokenDevice = "token_device"
        /// Sign-ins in an app's own screens.
        case tokenNative = "token_native"
        /// Codes for devices.
        case deviceCode = "device_code"
        case tokenFailed = "token_failed"
        /// All requests, whatever their outcome.
        case tokenRequests = "token_requests"
        /// Codes that were redeemed before.
        case codeReplayed = "code_replayed"
        /// Uses of refresh tokens that revoked their family.
        case refreshReplayed = "refresh_replayed"
        case tokenRevoked = "token_revoked"
        case graphMe = "graph_me"
        case logout, keys, discovery
    }

    /// The number of rules of the list. With more, the oldest ends.
    static let mostRules = 100

    private struct Memory {
        /// Those of the top level first; the later ones prevail.
        var rules: [Rule] = []
        var lastID = 0
        var counts: [Counter: Int] = [:]
        /// The highest number of a challenge or an expiry.
        var lastNumber = 0
        /// The number of the latest expiry, which tokens carry that are issued after it.
        var lastExpiry: Int?
        /// The highest challenge that each account has met.
        var challengeMet: [String: Int] = [:]
        var revocations = SessionRevocations()
        var held = HeldRequests()
    }

    private let memory = Mutex(Memory())

    package var counts: [Counter: Int] { memory.withLock { $0.counts } }

    private let now: @Sendable () -> Date

    /// - Parameter now: the time, which the tenant's clock may be ahead of.
    package init(now: @escaping @Sendable () -> Date) { self.now = now }

    /// The sign-on sessions that were revoked.
    package var revocations: SessionRevocations { memory.withLock { $0.revocations } }

    package func count(_ counter: Counter) { memory.withLock { $0.counts[counter, default: 0] += 1 } }

    /// Ends all rules and failures, and begins to count again.
    package func reset() {
        change { memory in
            memory = Memory(
                lastID: memory.lastID, lastNumber: memory.lastNumber, lastExpiry: memory.lastExpiry, held: memory.held)
        }
    }

    /// Changes the rules, and lets requests go that none of them holds any more.
    private func change(_ body: (inout Memory) -> Void) {
        let free = memory.withLock { memory in
            body(&memory)
            return memory.held.takeAll { rule in !memory.rules.contains { $0.id == rule } }
        }
        for request in free { request.resume() }
    }

    /// The seconds by which the clock is ahead of the true time.
    package var clockSeconds: Int { memory.withLock { $0.rules.lazy.compactMap(\.effects.clockSeconds).first ?? 0 } }

    // MARK: Rules

    /// The rules that are in force.
    package var rules: [Rule] {
        memory.withLock { $0.rules.filter { $0.times != 0 && $0.isInForce(now) } }
    }

    /// Begins a rule. One for a key of the top level replaces the one before; without an effect it only ends it.
    ///
    /// - Parameter hasEffect: Whether it differs from normal.
    package func begin(_ rule: Rule, hasEffect: Bool, now: Date) {
        change { memory in
            // Until now, requests under way could still need those that are used up; those that are held still do.
            let held = memory.held
            memory.rules.removeAll {
                ($0.times == 0 && !held.isHeld(by: $0.id)) || (rule.key != nil && $0.key == rule.key)
                    || !$0.isInForce(self.now)
            }
            guard hasEffect else { return }
            var rule = rule
            memory.lastID += 1
            rule.id = memory.lastID
            rule.end = rule.seconds.map { self.now().addingTimeInterval(TimeInterval($0)) }
            if rule.effects.claimsChallenge != nil || rule.effects.tokenExpiry != nil {
                memory.lastNumber = max(memory.lastNumber + 1, Int(now.timeIntervalSince1970))
            }
            if rule.effects.claimsChallenge != nil { rule.effects.claimsChallenge = memory.lastNumber }
            if rule.effects.tokenExpiry != nil {
                rule.effects.tokenExpiry = memory.lastNumber
                memory.lastExpiry = memory.lastNumber
            }
            if rule.effects.revokedAt != nil {
                rule.effects.revokedAt = now
                memory.revocations.end(rule.when.session, at: now)
            }
            memory.rules.insert(rule, at: rule.key == nil ? memory.rules.endIndex : 0)
            let listed = memory.rules.indices.filter { memory.rules[$0].key == nil }
            if listed.count > Self.mostRules { memory.rules.remove(at: listed[0]) }
        }
    }

    /// Ends those rules of the list.
    package func end(where isOver: (Rule) -> Bool = { _ in true }) {
        change { $0.rules.removeAll { $0.key == nil && isOver($0) } }
    }

    /// Returns an effect for the request that this task answers; nil for normal. The latest rule that has it prevails.
    /// A rule counts each request once, at the first of its effects that is used.
    ///
    /// - Parameters:
    ///   - fits: whether a value concerns the request.
    ///   - isLookOnly: whether the rule does not count this.
    ///   - namesUser: whether only rules for a single person count.
    package func use<Value: Sendable>(
        _ effect: KeyPath<Effects, Value?>, where fits: (Value) -> Bool = { _ in true }, isLookOnly: Bool = false,
        namesUser: Bool = false
    ) -> Value? {
        useRule(effect, where: fits, isLookOnly, namesUser)?.value
    }

    /// Returns the effect with the ID of its rule.
    private func useRule<Value: Sendable>(
        _ effect: KeyPath<Effects, Value?>, where fits: (Value) -> Bool = { _ in true }, _ isLookOnly: Bool = false,
        _ namesUser: Bool = false
    ) -> (value: Value, rule: Int)? {
        let request = RuledRequest.current
        let isConditional = memory.withLock { $0.rules.contains { !$0.when.isForEveryone } }
        // It reads other things, so that it is not called while this is locked.
        let subject = isConditional ? request?.subject ?? RuledRequest.Subject() : RuledRequest.Subject()
        return memory.withLock { memory in
            for index in memory.rules.indices.reversed() {
                let rule = memory.rules[index]
                guard rule.when.holds(for: subject), rule.isInForce(now), !namesUser || rule.when.username != nil,
                    let value = rule.effects[keyPath: effect], fits(value)
                else { continue }
                guard let times = rule.times, request?.hasUsed(rule.id) != true else {
                    return (value, rule.id)
                }
                if times == 0 { continue }
                if !isLookOnly {
                    memory.rules[index].times = times - 1
                    request?.use(rule.id)
                }
                return (value, rule.id)
            }
            return nil
        }
    }

    // MARK: Holds and delays

    /// The time after which a request goes on that nobody has let go.
    package static let longestHold = Duration.seconds(600)

    /// The number of requests of an endpoint that wait.
    package func held(at endpoint: Endpoint) -> Int { memory.withLock { $0.held.count(at: endpoint) } }

    /// Waits until a test lets this request go, if a rule holds it.
    ///
    /// - Returns: false if its client is gone. Nothing may happen for it then.
    package func hold(at endpoint: Endpoint, atMost longest: Duration = longestHold) async -> Bool {
        guard let (_, rule) = useRule(\.hold, where: { $0 == endpoint }) else { return true }
        return await wait(at: endpoint, rule, atMost: longest, HeldRequests.most)
    }

    /// Waits for the time by which an endpoint is late, or until that rule ends.
    ///
    /// - Returns: false if the client is gone. Nothing may be redeemed for it then.
    package func delay(at endpoint: Endpoint) async -> Bool {
        let effect = endpoint == .token ? \Effects.tokenDelay : \.graphDelay
        guard let (milliseconds, rule) = useRule(effect), milliseconds > 0 else { return true }
        return await wait(at: endpoint, rule, atMost: .milliseconds(milliseconds), .max)
    }

    private func wait(at endpoint: Endpoint, _ rule: Int, atMost longest: Duration, _ most: Int) async -> Bool {
        let id = memory.withLock { $0.held.nextID() }
        let end = Task { if (try? await Task.sleep(for: longest)) != nil { letGo(id) } }
        defer { end.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { request in
                let isHeld = memory.withLock { memory in
                    // The rule may have ended since, or the client gone.
                    guard !Task.isCancelled, memory.rules.contains(where: { $0.id == rule }),
                        memory.held.count() < most
                    else { return false }
                    memory.held.add(request, id, at: endpoint, rule)
                    return true
                }
                if !isHeld { request.resume() }
            }
        } onCancel: {
            letGo(id)
        }
        return !Task.isCancelled
    }

    private func letGo(_ id: Int) { memory.withLock { $0.held.take(id) }?.resume() }

    // MARK: Claims challenges and expiries

    /// The number that access tokens carry which are issued now; nil if none were let expire.
    package var expiryOfNewTokens: Int? { memory.withLock { $0.lastExpiry } }

    /// Records the time that the claims of a token request ask for, and returns the value that this account's tokens may carry from now on.
    package func challengeMet(by objectID: String, asking notBefore: Int?) -> Int? {
        guard let challenge = use(\.claimsChallenge, isLookOnly: true) else { return nil }
        return memory.withLock { memory in
            if let value = notBefore, value >= challenge {
                memory.challengeMet[objectID] = max(challenge, memory.challengeMet[objectID] ?? 0)
            }
            return (memory.challengeMet[objectID] ?? 0) >= challenge ? challenge : nil
        }
    }
}
