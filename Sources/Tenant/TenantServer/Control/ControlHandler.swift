import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import TenantControl
import TenantDirectory
import TenantSignIn
import WebFormats

/// `/control`: failures on demand, as JSON for tests and as a page for people.
struct ControlHandler: PlatformHandler {
    let platform: Platform
    let layout: PageLayout
    let clients: ClientsHandler
    let rooms: RoomsBeside
    let forgetDevices: @Sendable () -> Void
    /// Makes clients open new connections. Many clients silently repeat a request if a connection that they used before
    /// is closed, so only on a new connection do they notice a missing response.
    let closeIdleConnections: @Sendable () async -> Void

    /// `GET /control`: the settings as JSON, or the page with them and the applications' requests.
    ///
    /// To the page's script, `after` is the mark of what it shows: it gets 204 as long as nothing else is to be shown.
    func show(_ request: Request) -> Response {
        guard request.head[.accept]?.contains("text/html") == true else { return .json(.ok, controlState()) }
        let query = request.head.query.flatMap { try? FormFields(query: $0) }
        if query?["after"] == mark { return .noStore(.noContent) }
        let refusal = query?["refused"].flatMap { state.sealer.open($0, for: .notice, as: String.self) }
        let language = layout.languages.language(
            uiLocales: query?["ui_locales"], acceptLanguage: request.head[.acceptLanguage])
        return DemoLanguage.$current.withValue(language) {
            var page = controlPage(ControlQuery(request, language: language))
            page.notice =
                refusal.map { "<p class=\"notice\" lang=\"en\">\($0)</p>" }
                ?? query?["done"].flatMap(ControlKey.named).map {
                    "<p class=\"notice calm\">\(notice(after: $0, on: page))</p>"
                }
            return layout.page(page).compressed(for: request.head)
        }
    }

    /// The number of requests, and the rules in force, which can end by themselves.
    private var mark: String {
        ([clients.journal.now.count] + controls.rules.map(\.id)).map(String.init).joined(separator: ",")
    }

    /// Confirms a change. A reset does not reach an app's memory.
    private func notice(after key: ControlKey, on page: ControlPage) -> HTML {
        if key.isEffect {
            let more: HTML = key.done.map { " \(HTML(saying: $0))" } ?? ""
            return "\(page.confirmation(of: key))\(more)"
        }
        let notice = HTML(saying: key.done ?? "")
        guard key.name == "reset", let end = clients.journal.now.memoryEnd(after: clock.now()) else { return notice }
        return
            "\(notice) \(HTML(saying: "An app with MSAL still answers a failed request from memory until %@.", end.clock))"
    }

    /// `POST /control`: JSON, or a form of the page.
    func change(_ request: Request) async -> Response {
        // A body that begins like an object is JSON, whatever content type curl has sent.
        let isJSON =
            request.head[.contentType]?.contains("json") == true
            || request.body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "{")
        let query = ControlQuery(
            request,
            language: layout.languages.language(
                uiLocales: request.head.query.flatMap { try? FormFields(query: $0) }?["ui_locales"],
                acceptLanguage: request.head[.acceptLanguage]))
        do throws(ControlChange.Problem) {
            var members = isJSON ? JSONValue(parsing: request.body)?.object : ControlForm.members(request.body)
            // Of a rule, the page says which failure it is.
            var done: String?
            if !isJSON, query.isForSome {
                if ControlForm.undoes(request.body) {
                    done = "remove"
                } else {
                    done = members?.keys.first { ControlKey.named($0)?.isEffect == true }
                    members = members.map { ControlForm.rule($0, query.rule) }
                }
            }
            guard let members else {
                throw ControlChange.Problem(message: "The body is neither a JSON object nor a form.")
            }
            let known = ControlChange.Known(
                accounts: people.accounts, clients: registrations.all,
                clockSeconds: members["reset"] == nil ? controls.clockSeconds : 0)
            for change in try ControlChange.parse(members, known, isForm: !isJSON) { await apply(change) }
            return isJSON ? .json(.ok, controlState()) : .redirect(to: query.address(done: done ?? members.keys.max()))
        } catch {
            if isJSON {
                return .json(.badRequest, ["error": "bad_request", "message": .string(error.message)])
            }
            let refusal = try? state.sealer.seal(error.message, for: .notice)
            return .redirect(to: query.address(refused: refusal))
        }
    }

    private func controlPage(_ kept: ControlQuery) -> ControlPage {
        ControlPage(
            bar: rooms.bar(kept.returnTo, languages: kept.languageMenu(layout.languages.all)),
            state: controlState(), active: controls.rules, accounts: people.accounts,
            clients: registrations.all,
            requests: clients.section(mark),
            address: "\(addresses.baseURL)/control",
            companionURL: registrations.homeURL, kept: kept)
    }

    private func apply(_ change: ControlChange) async {
        switch change {
        case .rule(let rule, let hasEffect):
            controls.begin(rule, hasEffect: hasEffect, now: clock.now())
            if rule.key == ControlKey.clock { state.leaveFuture(clock.now()) }
            if rule.effects.closedConnection != nil || rule.effects.outage != nil { await closeIdleConnections() }
        case .endRules(let isOver): controls.end(where: isOver)
        case .revoke(let account): state.change { $0.revoke(account.username, at: clock.now()) }
        case .requireConsent(let account): grants.forgetConsents(of: account)
        case .requireSecondFactor(let account): grants.demandSecondFactor(of: account)
        case .rotateKey:
            do {
                // Creating RSA keys takes too long for the event loop.
                try await Task.detached { [state] in try state.rotateKeys() }.value
            } catch {
                logger.error("The demo tenant could not make a new key; the old one stays.", error: error)
            }
        case .reset(let toSeed):
            controls.reset()
            if toSeed {
                forgetDevices()
                state.begin(withSealingKey: clock.randomBytes(32))
                registry?.forget()
                return
            }
            // The only setting that is in the state.
            state.change { $0.secondFactorDemands = [:] }
            state.leaveFuture(clock.now())
        }
    }

    /// Returns the settings, under the keys that change them, the rules and the counts.
    func controlState() -> JSONValue {
        let (rules, counts) = (controls.rules, controls.counts)
        var state: [String: JSONValue] = [
            "require_mfa": .array(self.state.read { $0.secondFactorDemands.keys.sorted() }.map(JSONValue.string)),
            "rules": .array(rules.filter { $0.key == nil }.map(\.json)),
            "held": .object(
                Dictionary(
                    uniqueKeysWithValues: Controls.Endpoint.allCases.map {
                        ($0.rawValue, .integer(controls.held(at: $0)))
                    })),
            "counts": .object(
                Dictionary(
                    uniqueKeysWithValues: Controls.Counter.allCases.map { ($0.rawValue, .integer(counts[$0] ?? 0)) })
            ),
        ]
        for key in ControlKey.effects {
            let rule = rules.first { $0.key == key.name }
            state[key.name] = rule.flatMap { key.json($0.effects) } ?? key.normal
            if case .object(var members) = state[key.name], let times = rule?.times {
                members["times"] = .integer(times)
                state[key.name] = .object(members)
            }
        }
        return .object(state)
    }
}

extension Rule {
    /// The rule as the JSON interface takes it, with its ID.
    var json: JSONValue {
        var members: [String: JSONValue] = [
            "id": .integer(id), "times": times.map(JSONValue.integer) ?? .null,
            "when": .object(
                [
                    "client": JSONValue(when.clientID), "user": JSONValue(when.username),
                    "session": JSONValue(when.session),
                ].filter { $0.value != .null }),
        ]
        if let seconds { members["seconds"] = .integer(seconds) }
        for key in ControlKey.effects { members[key.name] = key.json(effects) }
        return .object(members)
    }
}
