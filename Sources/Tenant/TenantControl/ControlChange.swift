package import TenantDirectory
package import WebFormats

/// One change requested at `/control`. It has been validated, so that applying it cannot fail.
package enum ControlChange: Sendable {
    case rule(Rule, hasEffect: Bool)
    /// Ends those rules of the list.
    case endRules(@Sendable (Rule) -> Bool)
    case revoke(DemoAccount)
    case requireConsent(DemoAccount)
    case requireSecondFactor(DemoAccount)
    case rotateKey
    case reset(toSeed: Bool)

    /// A mistake in the request, as a sentence for the caller.
    package struct Problem: Error {
        package var message: String

        package init(message: String) { self.message = message }
    }

    /// The people and applications that a request can name.
    package struct Known {
        package var accounts: [DemoAccount]
        package var clients: [DemoClient]
        /// The seconds by which the clock is ahead.
        package var clockSeconds: Int

        package init(accounts: [DemoAccount], clients: [DemoClient], clockSeconds: Int = 0) {
            self.accounts = accounts
            self.clients = clients
            self.clockSeconds = clockSeconds
        }
    }

    /// Returns the changes in a JSON object, or throws everything that is wrong with it. No part is applied alone.
    ///
    /// - Parameter isForm: whether a person chose a failure, which then happens as often as an app notices.
    package static func parse(
        _ members: [String: JSONValue], _ known: Known, isForm: Bool = false
    ) throws(Problem) -> [ControlChange] {
        var problems: [String] = []
        let unknown = members.keys.filter { ControlKey.named($0) == nil }.sorted()
        if !unknown.isEmpty {
            let names = ControlKey.all.map(\.name).sorted().joined(separator: ", ")
            problems.append("Unknown: \(unknown.joined(separator: ", ")). Known are: \(names).")
        }
        var parsed: [ControlChange] = []
        for key in ControlKey.all {
            guard let value = members[key.name] else { continue }
            do throws(Problem) {
                parsed += try changes(key, value, known, isForm)
            } catch {
                problems.append("\(key.name): \(error.message)")
            }
        }
        guard problems.isEmpty else { throw Problem(message: problems.joined(separator: " ")) }
        return parsed
    }

    private static func changes(
        _ key: ControlKey, _ value: JSONValue, _ known: Known, _ isForm: Bool
    ) throws(Problem) -> [ControlChange] {
        switch key.action {
        case .act(let act): return try act(value, known)
        case .effect
        where key.name == ControlKey.clock && value != 0
            && value.integer.map { $0 < known.clockSeconds } == true:
            throw Problem(
                message: "the clock is \(known.clockSeconds) seconds ahead, and goes only forward until 0 or reset.")
        case .effect(let effect): return [try setting(key, effect, value, isForm)]
        }
    }

    // MARK: Rules

    /// Parses a key of the top level. An injected response says itself how often it is sent.
    private static func setting(
        _ key: ControlKey, _ effect: ControlKey.EffectAccess, _ value: JSONValue, _ isForm: Bool
    ) throws(Problem) -> ControlChange {
        var rule = Rule(key: key.name, times: effect.isOnce ? isForm ? key.timesNoticed(value) : 1 : nil)
        var value = value
        if case .object(var members) = value, effect.isOnce, let times = members.removeValue(forKey: "times") {
            rule.times = try count(times)
            value = .object(members)
        }
        try effect.set(value, &rule.effects)
        let json = effect.json(rule.effects)
        return .rule(rule, hasEffect: json != nil && json != effect.normal)
    }

    /// Parses the list of rules to add. An empty one ends all.
    static func rules(_ value: JSONValue, _ known: Known) throws(Problem) -> [ControlChange] {
        guard let list = value.array, list.count <= Controls.mostRules else {
            throw Problem(message: "give an array of at most \(Controls.mostRules) rules.")
        }
        if list.isEmpty { return [.endRules { _ in true }] }
        var changes: [ControlChange] = []
        for (place, value) in list.enumerated() {
            do throws(Problem) {
                changes.append(.rule(try rule(value, known), hasEffect: true))
            } catch {
                throw Problem(message: "[\(place)]: \(error.message)")
            }
        }
        return changes
    }

    private static func rule(_ value: JSONValue, _ known: Known) throws(Problem) -> Rule {
        guard var members = value.object else { throw Problem(message: "give an object.") }
        var rule = Rule()
        if let when = members.removeValue(forKey: "when") { rule.when = try condition(when, known) }
        if let times = members.removeValue(forKey: "times"), times != .null { rule.times = try count(times) }
        if let seconds = members.removeValue(forKey: "seconds"), seconds != .null {
            rule.seconds = try count(seconds, "seconds")
        }
        guard !members.isEmpty else { throw Problem(message: "a rule needs an effect.") }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            guard let effect = ControlKey.named(name)?.effect, name != ControlKey.clock else {
                throw Problem(message: "'\(name)' is no effect of a rule.")
            }
            do throws(Problem) {
                try effect.set(value, &rule.effects)
            } catch {
                throw Problem(message: "\(name): \(error.message)")
            }
            guard effect.json(rule.effects) != nil else { throw Problem(message: "\(name): a rule needs an effect.") }
        }
        return rule
    }

    private static func condition(_ value: JSONValue, _ known: Known) throws(Problem) -> Rule.Condition {
        guard let members = value.object, members.keys.allSatisfy(["client", "user", "session"].contains) else {
            throw Problem(message: "when: give an object with client, user, session, or some of them.")
        }
        var condition = Rule.Condition()
        if let session = members["session"], session != .null { condition.session = try self.session(session) }
        if let client = members["client"], client != .null {
            let found = client.string.flatMap { name in
                known.clients.first { $0.id.lowercased() == name.lowercased() }
                    ?? known.clients.first { $0.name == name }
            }
            guard let found else {
                let names = known.clients.map(\.name).joined(separator: ", ")
                throw Problem(message: "when: client: give the ID or the name of an application: \(names).")
            }
            condition.clientID = found.id.lowercased()
        }
        if let user = members["user"], let name = newcomer(user) {
            condition.username = name
        } else if let user = members["user"], user != .null {
            do throws(Problem) {
                condition.username = try account(user, known).username
            } catch {
                let more = "For somebody who will sign up, give an address of another domain."
                throw Problem(message: "when: user: \(error.message) \(more)")
            }
        }
        return condition
    }

    /// Returns the address of a person who may sign up natively; nil for a name of one of the tenants, in which it would be
    /// a slip.
    private static func newcomer(_ value: JSONValue) -> String? {
        guard let name = value.string.map(SignUp.comparable), SignUp.refusal(username: name, displayName: "-") == nil,
            let domain = name.split(separator: "@").last, Tenant.id(ofDomain: String(domain)) == nil
        else { return nil }
        return name
    }

    // MARK: Values

    private static func count(_ value: JSONValue, _ name: String = "times") throws(Problem) -> Int {
        guard let count = value.integer, (1...1_000_000).contains(count) else {
            throw Problem(message: "'\(name)' has to be a number from 1 to 1000000.")
        }
        return count
    }

    /// Parses the `id` of a rule, or the condition of some: a session.
    static func remove(_ value: JSONValue) throws(Problem) -> ControlChange {
        if let id = value.integer { return .endRules { $0.id == id } }
        guard let sid = value["session"] else {
            throw Problem(message: "give the id of a rule, or an object with session.")
        }
        let session = try session(sid)
        return .endRules { $0.when.session == session }
    }

    private static func session(_ value: JSONValue) throws(Problem) -> String {
        guard let session = value.string, !session.isEmpty, session.utf8.count <= 64 else {
            throw Problem(message: "session: give the claim sid of a token.")
        }
        return session
    }

    static func account(_ value: JSONValue, _ known: Known) throws(Problem) -> DemoAccount {
        let name = value.string?.lowercased()
        guard let account = known.accounts.first(where: { $0.username == name }) else {
            let names = known.accounts.map(\.username).joined(separator: ", ")
            throw Problem(message: "give the username of one of the accounts: \(names).")
        }
        return account
    }
}
