import Foundation
import OpenIDConnect
import SessionStore
import Synchronization

/// What a sign-in asked for. Never who: a login hint is only noted as given.
struct AttemptSettings: Sendable, Encodable {
    var prompt: String?
    var loginHint: Bool
    var domainHint: String?
    var scopes: [String]
    var claims: String?
    var tenant: String?
    var policy: String?

    /// What is known of an attempt that began before the server was started anew, or of an administrator's consent.
    init(prompt: String?, scopes: [String], tenant: String? = nil) {
        self.prompt = prompt
        self.scopes = scopes
        self.tenant = tenant
        loginHint = false
    }

    init(_ options: SignInOptions, scopes: [String]) {
        prompt = options.prompt?.rawValue
        loginHint = options.loginHint != nil
        domainHint = options.domainHint
        self.scopes = scopes
        claims = options.claims?.json
        tenant = options.tenant
        policy = options.policy
    }

    enum CodingKeys: String, CodingKey {
        case prompt, scopes, claims, tenant, policy
        case loginHint = "login_hint"
        case domainHint = "domain_hint"
    }
}

/// One interactive sign-in from leaving for the provider to what came of it.
struct AttemptRecord: Sendable {
    let id: Int
    let app: String
    let authority: String
    let settings: AttemptSettings
    let began: Date
    var ended: Date?
    var grantedScopes: [String] = []
    var declinedScopes: [String] = []
    /// Why it failed; nil while it is under way and when it succeeded.
    var problem: Problem?
}

/// The last sign-ins of each session, in memory for an hour: to compare and to explain, not to last. Holds no token, code,
/// state or name.
final class AttemptHistory: Sendable {
    private struct Kept {
        var records: [AttemptRecord] = []
        var until: Date
    }
    private struct State {
        var lastID = 0
        var sessions: [SessionKey: Kept] = [:]
    }

    private static let lifetime: TimeInterval = 3600
    private static let maxSessions = 10_000
    private static let maxRecords = 20
    private let state = Mutex(State())
    private let now: @Sendable () -> Date
    /// Tells this run's numbers from those of an earlier one.
    private let run: String

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
        run = String(Int(now().timeIntervalSince1970 * 1000))
    }

    /// A number as it travels with the attempt, which may outlive this run of the server.
    func mark(_ id: Int) -> String { "\(run).\(id)" }

    /// The number in a mark; nil when it is another run's.
    func id(of mark: String?) -> Int? {
        guard let mark, mark.hasPrefix(run + ".") else { return nil }
        return Int(mark.dropFirst(run.count + 1))
    }

    /// A number for an attempt that is about to begin.
    func nextID() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Notes that an attempt began.
    func begin(_ id: Int, session: SessionKey, app: String, authority: String, settings: AttemptSettings) {
        change(session) {
            $0.append(AttemptRecord(id: id, app: app, authority: authority, settings: settings, began: now()))
        }
    }

    /// Notes what the provider granted.
    func succeed(_ id: Int?, session: SessionKey, granted: [String], declined: [String]) {
        end(id, session: session) { record in
            record.grantedScopes = granted
            record.declinedScopes = declined
        }
    }

    /// Notes why an attempt failed, one of an earlier run too.
    func fail(_ id: Int?, session: SessionKey, attempt: SignInAttempt, authority: Authority, _ problem: Problem) {
        guard let id else {
            let id = nextID()
            begin(
                id, session: session, app: attempt.app, authority: authority.description,
                settings: AttemptSettings(prompt: attempt.prompt, scopes: attempt.requestedScopes))
            return fail(id, session: session, problem)
        }
        fail(id, session: session, problem)
    }

    /// Notes why an attempt failed.
    func fail(_ id: Int, session: SessionKey, _ problem: Problem) {
        end(id, session: session) { $0.problem = problem }
    }

    private func end(_ id: Int?, session: SessionKey, _ outcome: (inout AttemptRecord) -> Void) {
        change(session) { records in
            guard let index = records.firstIndex(where: { $0.id == id }) else { return }
            records[index].ended = now()
            outcome(&records[index])
        }
    }

    private func change(_ session: SessionKey, _ change: (inout [AttemptRecord]) -> Void) {
        let now = now()
        state.withLock { state in
            if state.sessions.count >= Self.maxSessions {
                state.sessions = state.sessions.filter { $0.value.until > now }
            }
            if state.sessions.count >= Self.maxSessions { state.sessions.removeAll() }
            let until = now.addingTimeInterval(Self.lifetime)
            var kept = state.sessions[session] ?? Kept(until: until)
            if kept.until <= now { kept.records = [] }
            kept.until = until
            change(&kept.records)
            if kept.records.count > Self.maxRecords { kept.records.removeFirst() }
            state.sessions[session] = kept
        }
    }

    /// A session's attempts, the newest first.
    func all(session: SessionKey) -> [AttemptRecord] {
        let now = now()
        return state.withLock { state in
            state.sessions[session].flatMap { $0.until > now ? $0.records.reversed() : nil } ?? []
        }
    }

    /// Why the last attempt with an application failed; nil when it did not.
    func lastFailure(session: SessionKey, app: String) -> Problem? {
        all(session: session).first { $0.app == app && $0.ended != nil }?.problem
    }

    /// Forgets a session's attempts: on a shared device the next person is another.
    func forget(session: SessionKey) {
        state.withLock { state in state.sessions[session] = nil }
    }
}
