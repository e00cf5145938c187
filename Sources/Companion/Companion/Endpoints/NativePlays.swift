import CompanionCore
import Expiring
import Foundation
import HTTPClient
import HTTPTypes
import HTTPWire
import SessionStore
import Synchronization
import WebFormats

/// An app with native authentication that the server plays at the demo tenant, one request at a time.
struct NativePlay: Sendable {
    enum Flow: String, CaseIterable {
        case signUp = "sign_up", signIn = "sign_in", reset = "password_reset", secondFactor = "second_factor"
    }

    /// A field that the person of the app types.
    enum Typed: String { case code, password, newPassword = "new_password" }

    struct Step {
        let endpoint: String
        var grant: String?
        var typed: Typed?
        /// Whether it comes again until the new password is set.
        var isPoll = false

        static let begins = ["signup/v1.0/start", "oauth2/v2.0/initiate", "resetpassword/v1.0/start"]
    }

    let flow: Flow
    let username: String
    let password: String
    var position = 0
    fileprivate(set) var token: String?
    /// The second factor that the app has chosen.
    fileprivate(set) var method: String?
    fileprivate(set) var isOver = false

    fileprivate init(_ flow: Flow) {
        func random(_ digits: Int) -> String {
            (0..<digits).map { _ in String(Int.random(in: 0...9)) }.joined()
        }
        (self.flow, username) = (flow, "robin.\(random(8))@customer.example")
        password = "Vinter-\(random(8))"
    }

    /// The step that comes next; nil if the flow is over.
    var next: Step? { isOver || position >= flow.steps.count ? nil : flow.steps[position] }
}

extension NativePlay.Flow {
    var steps: [NativePlay.Step] {
        switch self {
        case .signUp:
            [
                .init(endpoint: "signup/v1.0/start"), .init(endpoint: "signup/v1.0/challenge"),
                .init(endpoint: "signup/v1.0/continue", grant: "oob", typed: .code),
                .init(endpoint: "signup/v1.0/challenge"),
                .init(endpoint: "signup/v1.0/continue", grant: "password", typed: .password),
                .init(endpoint: "oauth2/v2.0/token", grant: "continuation_token"),
            ]
        case .signIn:
            [
                .init(endpoint: "oauth2/v2.0/initiate"), .init(endpoint: "oauth2/v2.0/challenge"),
                .init(endpoint: "oauth2/v2.0/token", grant: "password", typed: .password),
            ]
        case .reset:
            [
                .init(endpoint: "resetpassword/v1.0/start"), .init(endpoint: "resetpassword/v1.0/challenge"),
                .init(endpoint: "resetpassword/v1.0/continue", grant: "oob", typed: .code),
                .init(endpoint: "resetpassword/v1.0/submit", typed: .newPassword),
                .init(endpoint: "resetpassword/v1.0/poll_completion", isPoll: true),
                .init(endpoint: "oauth2/v2.0/token", grant: "continuation_token"),
            ]
        case .secondFactor:
            Self.signIn.steps + [
                .init(endpoint: "oauth2/v2.0/introspect"), .init(endpoint: "oauth2/v2.0/challenge"),
                .init(endpoint: "oauth2/v2.0/token", grant: "mfa_oob", typed: .code),
            ]
        }
    }
}

/// The page *Native authentication* of the demo. The browser gets requests and answers without tokens, codes and passwords.
extension DemoEndpoints {
    static let playLifetime: TimeInterval = 600
    /// The application that the tenant has for native authentication.
    private static let nativeClientID = "7f1c5d0e-2b96-4a83-9e47-d05b8c3f6a12"
    private static let hidden: JSONValue = "…"
    /// The members of answers whose values are no secrets.
    private static let shown: Set<String> = [
        "challenge_type", "binding_method", "challenge_channel", "challenge_target_label", "code_length", "interval",
        "expires_in", "ext_expires_in", "token_type", "scope", "status", "poll_interval", "error", "suberror",
        "error_description", "error_codes", "methods", "id", "login_hint",
    ]

    private struct PlayBody: Decodable {
        /// The flow to begin, or the play to go on with.
        var flow: String?
        var play: String?
        /// Whether the person of the app types something wrong.
        var wrong: Bool?
    }

    /// Returns the requests of each flow, in order.
    func flows() throws -> Response {
        _ = try demoControl()
        let flows = NativePlay.Flow.allCases.map { flow in
            (flow.rawValue, JSONValue.array(flow.steps.map { .string($0.endpoint) }))
        }
        return .json(["flows": .object(Dictionary(flows) { first, _ in first })])
    }

    /// Begins a flow, or sends the next request of one.
    func play(_ call: Call) async throws -> Response {
        _ = try demoControl()
        let body: PlayBody = try call.body()
        if let flow = body.flow {
            guard let flow = NativePlay.Flow(rawValue: flow) else { throw Self.badRequest }
            let id = RandomUUID.text(SessionStore.secureRandomBytes(16))
            return .json(.object(keep(try await begin(flow), as: id)))
        }
        // A request at a time: the play is away while its request is sent.
        guard let id = body.play, let known = plays.withLock({ $0.remove(id) }), let step = known.next else {
            throw Problem(.notFound, "This flow is over. Start again.")
        }
        var play = known
        let sent = try await send(step, of: &play, isWrong: body.wrong == true && step.typed != nil)
        return .json(.object(sent.merging(keep(play, as: id)) { $1 }))
    }

    /// Keeps a play for its next request, and returns what the page has to know of it.
    private func keep(_ play: NativePlay, as id: String) -> [String: JSONValue] {
        let now = store.currentTime
        if play.next != nil {
            plays.withLock { _ = $0.set(play, for: id, until: now.addingTimeInterval(Self.playLifetime), now: now) }
        }
        return [
            "play": .string(id), "username": .string(play.username), "position": .integer(play.position),
            "is_over": .bool(play.next == nil), "typed": .orNull(play.next?.typed?.rawValue),
        ]
    }

    /// Every flow has a person of its own. But for the sign-up, the person signs up first, and nobody sees that.
    private func begin(_ flow: NativePlay.Flow) async throws -> NativePlay {
        var play = NativePlay(flow)
        guard flow != .signUp else { return play }
        for step in NativePlay.Flow.signUp.steps { _ = try await send(step, of: &play, isWrong: false) }
        if flow == .secondFactor {
            let control = try demoControl()
            let change: JSONValue = ["require_mfa": .string(play.username)]
            _ = try await client.send(request(.post, control, control.pathAndQuery), body: change.bytes)
        }
        (play.position, play.token, play.isOver) = (0, nil, false)
        return play
    }

    /// Sends one request, and returns it with its answer and what MSAL makes of that.
    private func send(
        _ step: NativePlay.Step, of play: inout NativePlay, isWrong: Bool
    ) async throws -> [String: JSONValue] {
        var fields: [(name: String, value: String, isSecret: Bool)] = [("client_id", Self.nativeClientID, false)]
        if NativePlay.Step.begins.contains(step.endpoint) {
            fields.append(("username", play.username, false))
            fields.append(("challenge_type", "oob password redirect", false))
            fields.append(("capabilities", "mfa_required registration_required", false))
        } else {
            fields.append(("continuation_token", play.token ?? "", true))
        }
        if step.endpoint.hasSuffix("/challenge") {
            if let method = play.method { fields.append(("id", method, false)) }
            fields.append(("challenge_type", "oob password redirect", false))
        }
        if let grant = step.grant { fields.append(("grant_type", grant, false)) }
        switch step.typed {
        case .code: fields.append(("oob", isWrong ? "00000000" : try await code(to: play.username), !isWrong))
        case .password: fields.append(("password", isWrong ? "wrong" : play.password, !isWrong))
        case .newPassword:
            fields.append(("new_password", isWrong ? "wrong" : "Sommar-\(play.password.suffix(8))", !isWrong))
        case nil: break
        }
        if step.endpoint.hasSuffix("/token") {
            fields.append(("scope", "openid profile offline_access", false))
            fields.append(("client_info", "true", false))
        }
        let path = "/fabrikam.example/\(step.endpoint)"
        let id = RandomUUID.text(SessionStore.secureRandomBytes(16))
        var request = request(.post, try demoControl(), path)
        request.headerFields[.contentType] = "application/x-www-form-urlencoded"
        request.headerFields[.authorization] = nil
        request.headerFields[.clientRequestID] = id
        let answer = try await client.send(
            request, body: Array(FormEncoding.encode(fields.map { (name: $0.name, value: $0.value) }).utf8))
        let json = JSONValue(parsing: answer.body) ?? .null
        if let token = json["continuation_token"]?.string { play.token = token }
        if let method = json["methods"]?.array?.first?["id"]?.string { play.method = method }
        // A wrong code or password leaves the app at its step. After the fifth, the next request says that the flow is over.
        let isRefused =
            json["suberror"] == "invalid_oob_value" || json["suberror"]?.string?.hasPrefix("password_") == true
            || json["error_codes"] == [50126]
        let isPending = step.isPoll && json["status"] == "in_progress"
        if !isRefused, !isPending {
            play.position += 1
            play.isOver = answer.status != .ok && json["continuation_token"] == nil
        }
        return [
            "method": "POST", "path": .string(path),
            "fields": .array(
                fields.map { field in
                    ["name": .string(field.name), "value": field.isSecret ? Self.hidden : .string(field.value)]
                }),
            "status": .integer(answer.status.code), "answer": Self.masked(json), "msal": try await readings(of: id),
        ]
    }

    /// Returns an answer without the values that a browser should not have.
    private static func masked(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members):
            .object(
                Dictionary(members.map { name, value in (name, shown.contains(name) ? masked(value) : hidden) }) {
                    first, _ in first
                })
        case .array(let values): .array(values.map(masked))
        default: value
        }
    }

    /// Returns the newest code that was sent to a person.
    private func code(to username: String) async throws -> String {
        let path = "/outbox?to=\(FormEncoding.escaped(username))"
        let answer = try await client.send(request(.get, try demoControl(), path))
        return JSONValue(parsing: answer.body)?["messages"]?.array?.first?["code"]?.string ?? ""
    }

    /// Returns what MSAL makes of the answer to a request, as `/clients` has it. The app has given no password to `signIn`.
    private func readings(of id: String) async throws -> JSONValue {
        let answer = try await client.send(request(.get, try demoControl(), "/clients"))
        let requests = JSONValue(parsing: answer.body)?["clients"]?.array?.flatMap { $0["requests"]?.array ?? [] } ?? []
        let readings = requests.first { $0["correlation_id"]?.string == id }?["native"]?["msal"]?.array ?? []
        return .array(readings.filter { $0["gives_password"] != true })
    }
}
