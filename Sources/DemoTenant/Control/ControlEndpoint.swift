import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Languages
import WebFormats

/// `/control`: failures on demand, as JSON for tests and as a page for people.
extension Platform {
    /// The query parameters that the page keeps from one request to the next.
    private struct Kept {
        /// The requested language.
        var language: Language?
        /// The application's page to return to, as its path and query.
        var returnTo: String?

        /// Returns the control page's address with these parameters, and with the change that was `done` or, encrypted,
        /// why it was `refused`.
        func address(done: String? = nil, refused: String? = nil) -> String {
            "/control".appending(
                query: [("done", done), ("refused", refused), ("ui_locales", language?.tag), ("return_to", returnTo)]
                    .compactMap { name, value in value.map { (name: name, value: $0) } })
        }
    }

    /// `GET /control`
    func control(_ request: Request) -> Response {
        guard request.head[.accept]?.contains("text/html") == true else { return .json(.ok, controlState()) }
        let query = request.head.query.flatMap { try? FormFields(query: $0) }
        let refusal = query?["refused"].flatMap { state.sealer.open($0, for: .notice, as: String.self) }
        return inLanguage(of: request) { kept in
            let done = query?["done"].flatMap(ControlForm.notice).map { HTML(saying: $0) }
            return page(controlPage(notice: refusal.map { "<span lang=\"en\">\($0)</span>" } ?? done, kept))
        }
    }

    /// Makes the page in its language: the address's, or else the browser's.
    private func inLanguage(of request: Request, _ make: (Kept) -> Response) -> Response {
        let query = request.head.query.flatMap { try? FormFields(query: $0) }
        let asked = query?["ui_locales"]
        let language = languages.language(uiLocales: asked, acceptLanguage: request.head[.acceptLanguage])
        let kept = Kept(language: asked == nil ? nil : language, returnTo: query?["return_to"])
        return DemoLanguage.$current.withValue(language) { make(kept) }
    }

    /// `POST /control`: JSON, or a form of the page.
    func changeControl(_ request: Request) async -> Response {
        // A body that begins like an object is JSON, whatever content type curl has sent.
        let isJSON =
            request.head[.contentType]?.contains("json") == true
            || request.body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "{")
        do throws(ControlChange.Problem) {
            let members = isJSON ? JSONValue(parsing: request.body)?.object : ControlForm.members(request.body)
            guard let members else {
                throw ControlChange.Problem(message: "The body is neither a JSON object nor a form.")
            }
            for change in try ControlChange.parse(members, directory) { await apply(change) }
            if isJSON { return .json(.ok, controlState()) }
            return inLanguage(of: request) { .redirect(to: $0.address(done: members.keys.first)) }
        } catch {
            if isJSON {
                return .json(.badRequest, ["error": "bad_request", "message": .string(error.message)])
            }
            let refusal = try? state.sealer.seal(error.message, for: .notice)
            return inLanguage(of: request) { .redirect(to: $0.address(refused: refusal)) }
        }
    }

    private func controlPage(notice: HTML?, _ kept: Kept) -> ControlPage {
        let homeURL = registrations.homeURL
        return ControlPage(
            state: controlState(), accounts: directory.accounts, notice: notice, address: "\(baseURL)/control",
            backURL: homeURL.map { home in kept.returnTo.flatMap { Self.page($0, of: home) } ?? home },
            action: kept.address())
    }

    /// Returns the path as an address of the application that starts at `home`; nil if it is not one of its pages.
    static func page(_ path: String, of home: String) -> String? {
        guard path.hasPrefix("/"), let url = URL(string: path, relativeTo: URL(string: home))?.absoluteString,
            url.hasPrefix(home)
        else { return nil }
        return url
    }

    private func apply(_ change: ControlChange) async {
        switch change {
        case .accessTokenSeconds(let seconds): controls.change { $0.accessTokenSeconds = seconds }
        case .refreshTokenSeconds(let seconds): controls.change { $0.refreshTokenSeconds = seconds }
        case .refreshTokenSingleUse(let isOn): controls.change { $0.hasSingleUseRefreshTokens = isOn }
        case .lostTokenAnswer(let isOn): controls.change { $0.losesTokenAnswer = isOn }
        case .answer(let endpoint, let answer): controls.change { $0.injected[endpoint] = answer }
        case .delay(let endpoint, let milliseconds):
            controls.change { $0.delayMilliseconds[endpoint] = milliseconds == 0 ? nil : milliseconds }
        case .closeConnection(let endpoint):
            controls.change { $0.closeConnection = endpoint }
            if endpoint != nil { await closeIdleConnections() }
        case .outage(let outage):
            controls.change { $0.outage = outage }
            if outage != nil { await closeIdleConnections() }
        case .idTokenFault(let fault): controls.change { $0.idTokenFault = fault }
        case .platformError(let endpoint, let number): controls.change { $0.platformErrors[endpoint] = number }
        case .missingScope(let scope): controls.change { $0.missingScope = scope }
        case .declinedScope(let scope): controls.change { $0.declinedScope = scope }
        case .issuerWithoutPolicy(let isOn): controls.change { $0.hasIssuerWithoutPolicy = isOn }
        case .idTokenClaims(let claims): controls.change { $0.idTokenClaims = claims }
        case .omitAuthTime(let isOn): controls.change { $0.omitsAuthTime = isOn }
        case .ignoreFreshness(let isOn): controls.change { $0.ignoresFreshness = isOn }
        case .genericProvider(let isOn): controls.change { $0.isGeneric = isOn }
        case .unknownKey(let isOn): controls.change { $0.publishesUnknownKey = isOn }
        case .sessionFailure(let failure, let session):
            controls.setSessionFailure(failure, of: session, now: now())
        case .claimsChallenge(let isOn): controls.setClaimsChallenge(isOn, now: now())
        case .revoke(let account): state.change { $0.revocations[account.username, default: 0] += 1 }
        case .requireConsent(let account): forgetConsents(of: account)
        case .requireSecondFactor(let account): demandSecondFactor(of: account)
        case .rotateKey:
            do {
                // Creating RSA keys takes too long for the event loop.
                try await Task.detached { [state] in try state.rotateKeys() }.value
            } catch {
                logger.error("The demo tenant could not make a new key; the old one stays.", error: error)
            }
        case .reset:
            controls.reset()
            state.change { record in
                record.secondFactorDemands = [:]
                record.adminConsents = [:]
                record.displayNames = nil
                record.signUps = nil
            }
        }
    }

    /// Returns the settings, under the keys that change them, and the counts.
    func controlState() -> JSONValue {
        let settings = controls.settings
        let counts = controls.counts
        let demands = state.read { $0.secondFactorDemands.keys.sorted() }
        return [
            "access_token_seconds": .integer(settings.accessTokenSeconds),
            "refresh_token_seconds": .integer(settings.refreshTokenSeconds),
            "refresh_token_single_use": .bool(settings.hasSingleUseRefreshTokens),
            "token_error": settings.injected[.token]?.json ?? .null,
            "graph_error": settings.injected[.graph]?.json ?? .null,
            "token_delay_ms": .integer(settings.delayMilliseconds[.token] ?? 0),
            "graph_delay_ms": .integer(settings.delayMilliseconds[.graph] ?? 0),
            "close_connection": JSONValue(settings.closeConnection?.rawValue),
            "lost_token_answer": .bool(settings.losesTokenAnswer),
            "provider_down": JSONValue(settings.outage?.rawValue),
            "require_mfa": .array(demands.map(JSONValue.string)),
            "claims_challenge": .bool(settings.claimsChallenge != nil),
            "bad_id_token": JSONValue(settings.idTokenFault?.rawValue),
            "token_platform_error": settings.platformErrors[.token].map(JSONValue.integer) ?? .null,
            "authorize_platform_error": settings.platformErrors[.authorize].map(JSONValue.integer) ?? .null,
            "missing_scope": JSONValue(settings.missingScope),
            "declined_scope": JSONValue(settings.declinedScope),
            "b2c_issuer_without_policy": .bool(settings.hasIssuerWithoutPolicy),
            "id_token_claims": .object(settings.idTokenClaims),
            "omit_auth_time": .bool(settings.omitsAuthTime),
            "ignore_max_age": .bool(settings.ignoresFreshness),
            "generic_provider": .bool(settings.isGeneric),
            "unknown_key": .bool(settings.publishesUnknownKey),
            "counts": .object(
                Dictionary(
                    uniqueKeysWithValues: Controls.Counter.allCases.map { ($0.rawValue, .integer(counts[$0] ?? 0)) })
            ),
        ]
    }
}

extension Controls.InjectedAnswer {
    fileprivate var json: JSONValue {
        [
            "status": .integer(status), "body": body, "headers": .object(headers.mapValues(JSONValue.string)),
            "times": .integer(times),
        ]
    }
}
