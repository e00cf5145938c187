import HTTPTypes
import WebFormats

/// One change requested at `/control`. It has been validated, so that applying it cannot fail.
enum ControlChange: Sendable {
    case accessTokenSeconds(Int)
    case refreshTokenSeconds(Int)
    case refreshTokenSingleUse(Bool)
    case lostTokenAnswer(Bool)
    case answer(Controls.Endpoint, Controls.InjectedAnswer?)
    case delay(Controls.Endpoint, milliseconds: Int)
    case closeConnection(Controls.Endpoint?)
    case outage(Controls.Outage?)
    case revoke(DemoAccount)
    case requireConsent(DemoAccount)
    case requireSecondFactor(DemoAccount)
    case claimsChallenge(Bool)
    case rotateKey
    case idTokenFault(DemoIDTokenFault?)
    case platformError(Controls.PlatformErrorEndpoint, Int?)
    case missingScope(String?)
    case declinedScope(String?)
    case issuerWithoutPolicy(Bool)
    case idTokenClaims([String: JSONValue])
    case omitAuthTime(Bool)
    case ignoreFreshness(Bool)
    case genericProvider(Bool)
    case unknownKey(Bool)
    case sessionFailure(SessionFailure?, of: String)
    case reset

    /// A mistake in the request, as a sentence for the caller.
    struct Problem: Error { var message: String }

    /// All keys, in the order in which they are listed and applied: first `reset`, then the settings.
    static let keys = [
        "reset", "rotate_key", "access_token_seconds", "refresh_token_seconds", "refresh_token_single_use",
        "token_error", "graph_error", "token_delay_ms", "graph_delay_ms", "close_connection", "lost_token_answer",
        "provider_down", "revoke", "require_consent", "require_mfa", "claims_challenge", "bad_id_token",
        "token_platform_error", "authorize_platform_error", "missing_scope", "declined_scope",
        "b2c_issuer_without_policy", "id_token_claims", "omit_auth_time", "ignore_max_age", "generic_provider",
        "unknown_key", "session_failure",
    ]

    /// Returns the changes in a JSON object, or throws everything that is wrong with it. No part is applied alone.
    static func parse(
        _ members: [String: JSONValue], _ directory: Directory
    ) throws(Problem) -> [ControlChange] {
        var problems: [String] = []
        let unknown = members.keys.filter { !keys.contains($0) }.sorted()
        if !unknown.isEmpty {
            problems.append(
                "Unknown: \(unknown.joined(separator: ", ")). Known are: \(keys.sorted().joined(separator: ", ")).")
        }
        var changes: [ControlChange] = []
        for key in keys {
            guard let value = members[key] else { continue }
            do throws(Problem) {
                if let change = try change(key, value, directory) { changes.append(change) }
            } catch {
                problems.append("\(key): \(error.message)")
            }
        }
        guard problems.isEmpty else { throw Problem(message: problems.joined(separator: " ")) }
        return changes
    }

    /// Returns nil for a value that changes nothing.
    private static func change(
        _ key: String, _ value: JSONValue, _ directory: Directory
    ) throws(Problem) -> ControlChange? {
        switch key {
        case "access_token_seconds": .accessTokenSeconds(try number(value, upTo: 10 * 365 * 86_400))
        case "refresh_token_seconds": .refreshTokenSeconds(try number(value, upTo: 10 * 365 * 86_400))
        case "refresh_token_single_use": .refreshTokenSingleUse(try flag(value))
        case "lost_token_answer": .lostTokenAnswer(try flag(value))
        case "token_error": .answer(.token, try injected(value))
        case "graph_error": .answer(.graph, try injected(value))
        case "token_delay_ms": .delay(.token, milliseconds: try number(value, upTo: 600_000))
        case "graph_delay_ms": .delay(.graph, milliseconds: try number(value, upTo: 600_000))
        case "close_connection": .closeConnection(try choice(value, Controls.Endpoint.allCases))
        case "provider_down": .outage(try choice(value, Controls.Outage.allCases))
        case "bad_id_token": .idTokenFault(try choice(value, DemoIDTokenFault.allCases))
        case "revoke": .revoke(try account(value, directory))
        case "require_consent": .requireConsent(try account(value, directory))
        case "require_mfa": .requireSecondFactor(try account(value, directory))
        case "claims_challenge": .claimsChallenge(try flag(value))
        case "token_platform_error": .platformError(.token, try platformError(value))
        case "authorize_platform_error": .platformError(.authorize, try platformError(value))
        case "missing_scope": .missingScope(try scope(value))
        case "declined_scope": .declinedScope(try scope(value))
        case "b2c_issuer_without_policy": .issuerWithoutPolicy(try flag(value))
        case "id_token_claims": .idTokenClaims(try claims(value))
        case "omit_auth_time": .omitAuthTime(try flag(value))
        case "ignore_max_age": .ignoreFreshness(try flag(value))
        case "generic_provider": .genericProvider(try flag(value))
        case "unknown_key": .unknownKey(try flag(value))
        case "session_failure": try sessionFailure(value)
        case "rotate_key": try flag(value) ? .rotateKey : nil
        default: try flag(value) ? .reset : nil
        }
    }

    /// Parses the failure for one session: the claim `sid` of its tokens, and the kind of failure.
    private static func sessionFailure(_ value: JSONValue) throws(Problem) -> ControlChange {
        guard let session = value["sid"]?.string, !session.isEmpty, session.utf8.count <= 64 else {
            throw Problem(message: "give an object with sid, the claim of a token, and failure.")
        }
        return .sessionFailure(try choice(value["failure"] ?? .null, SessionFailure.allCases), of: session)
    }

    private static func number(_ value: JSONValue, upTo limit: Int) throws(Problem) -> Int {
        guard let number = value.integer, (0...limit).contains(number) else {
            throw Problem(message: "give a whole number from 0 to \(limit).")
        }
        return number
    }

    private static func platformError(_ value: JSONValue) throws(Problem) -> Int? {
        if value == .null { return nil }
        guard let number = value.integer, PlatformError.numbered(number) != nil else {
            let numbers = PlatformError.numbers.map(String.init).joined(separator: ", ")
            throw Problem(message: "give null or one of: \(numbers).")
        }
        return number
    }

    private static func scope(_ value: JSONValue) throws(Problem) -> String? {
        if value == .null { return nil }
        guard let scope = value.string, !scope.isEmpty, !scope.contains(where: { $0 == "\"" || $0.isWhitespace })
        else { throw Problem(message: "give null or one scope.") }
        return scope
    }

    private static func claims(_ value: JSONValue) throws(Problem) -> [String: JSONValue] {
        if value == .null { return [:] }
        guard let claims = value.object else {
            throw Problem(message: "give null or an object of claims; a claim that is null is left out.")
        }
        return claims
    }

    private static func flag(_ value: JSONValue) throws(Problem) -> Bool {
        guard let flag = value.bool else { throw Problem(message: "give true or false.") }
        return flag
    }

    private static func choice<Choice: RawRepresentable<String>>(
        _ value: JSONValue, _ choices: [Choice]
    ) throws(Problem) -> Choice? {
        if value == .null { return nil }
        guard let choice = value.string.flatMap(Choice.init(rawValue:)) else {
            throw Problem(message: "give null or one of: \(choices.map(\.rawValue).joined(separator: ", ")).")
        }
        return choice
    }

    private static func account(_ value: JSONValue, _ directory: Directory) throws(Problem) -> DemoAccount {
        guard let account = value.string.flatMap(directory.account(username:)) else {
            let names = directory.accounts.map(\.username).joined(separator: ", ")
            throw Problem(message: "give the username of one of the accounts: \(names).")
        }
        return account
    }

    private static func injected(_ value: JSONValue) throws(Problem) -> Controls.InjectedAnswer? {
        if value == .null { return nil }
        guard let members = value.object else {
            throw Problem(message: "give null or an object with status, body, headers and times.")
        }
        for key in members.keys.sorted() where !["status", "body", "headers", "times"].contains(key) {
            throw Problem(message: "'\(key)' is none of status, body, headers, times.")
        }
        guard let status = members["status"]?.integer, (200...599).contains(status) else {
            throw Problem(message: "'status' has to be a number from 200 to 599.")
        }
        let times = members["times"] ?? 1
        guard let count = times.integer, (1...1_000_000).contains(count) else {
            throw Problem(message: "'times' has to be a number from 1 to 1000000.")
        }
        var headers: [String: String] = [:]
        for (name, value) in members["headers"]?.object ?? [:] {
            let text = value.string ?? value.integer.map(String.init)
            guard let text, HTTPField.Name(name) != nil, HTTPField.isValidValue(text) else {
                throw Problem(message: "'\(name)' in headers is not a field name with a text as its value.")
            }
            headers[name] = text
        }
        return Controls.InjectedAnswer(
            status: status, body: members["body"] ?? .null, headers: headers, times: count)
    }
}
