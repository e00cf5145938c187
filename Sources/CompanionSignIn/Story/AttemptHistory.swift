package import CompanionCore
package import Foundation
import OpenIDConnect
import SessionStore
package import WebFormats
import Synchronization

/// What a sign-in asked for. Never who: a login hint is only noted as given.
package struct AttemptSettings: Sendable {
    package var prompt: String?
    package var loginHint: Bool
    var domainHint: String?
    package var scopes: [String]
    package var claims: String?
    package var tenant: String?
    package var policy: String?

    /// What is known of an attempt that began before the server was started anew, or of an administrator's consent.
    init(prompt: String?, scopes: [String], tenant: String? = nil) {
        self.prompt = prompt
        self.scopes = scopes
        self.tenant = tenant
        loginHint = false
    }

    init(_ options: SignInOptions, of application: Application) {
        prompt = options.prompt?.rawValue
        loginHint = options.loginHint != nil
        domainHint = options.domainHint
        scopes = application.registration.scopes + options.extraScopes
        claims = options.claims.map { AttemptSettings.short($0.json) }
        tenant = options.tenant
        policy = options.policy
    }

    private static let maxClaimsBytes = 512

    /// A claims request as it is, unless it is long: then JSON that says how long.
    static func short(_ claims: String) -> String {
        let count = claims.utf8.count
        return count <= maxClaimsBytes ? claims : #"{"…":"\#(count) bytes"}"#
    }

    /// The bytes beside the value's own.
    fileprivate var heapBytes: Int {
        ([prompt, domainHint, claims, tenant, policy].compactMap(\.self) + scopes).reduce(scopes.count * 16 + 48) {
            $0 + $1.heapBytes
        }
    }

    /// As pages get it.
    package var json: JSONValue {
        .members([
            "prompt": .text(prompt), "login_hint": .bool(loginHint), "domain_hint": .text(domainHint),
            "scopes": .list(scopes), "claims": .text(claims), "tenant": .text(tenant), "policy": .text(policy),
        ])
    }
}

/// One interactive sign-in from leaving for the provider to what came of it.
package struct AttemptRecord: Sendable {
    package let id: Int
    package let app: String
    package let authority: String
    package let settings: AttemptSettings
    package let began: Date
    package var ended: Date?
    package var grantedScopes: [String] = []
    package var declinedScopes: [String] = []
    /// The account that it signed in, by its id; nil where nobody came to be signed in.
    package var accountID: String?
    /// Why it failed; nil while it is under way and when it succeeded.
    package var problem: Problem?

    /// An estimate of the memory that it takes, in bytes.
    package var bytes: Int {
        let texts = grantedScopes + declinedScopes + [authority, accountID ?? ""] + (problem?.texts ?? [])
        return texts.reduce(MemoryLayout<AttemptRecord>.stride + settings.heapBytes) { $0 + 16 + $1.heapBytes }
    }
}

extension Problem {
    fileprivate var texts: [String] {
        [detail.format, action?.kind, action?.url, traceID, timestamp, correlationID, reason].compactMap(\.self)
            + detail.arguments
    }
}

/// The last sign-ins of each session, for an hour: to compare and to explain, not to last. Holds no token, code, state or
/// name.
final class AttemptHistory: Sendable {
    private let lastID = Mutex(0)
    private let memory: SessionMemory
    /// Distinguishes this run's numbers from those of an earlier one. Servers that share the sessions share the numbers.
    private let run: String

    init(memory: SessionMemory) {
        self.memory = memory
        run = memory.cluster == nil ? String(Int(memory.now().timeIntervalSince1970 * 1000)) : "clustered"
    }

    /// A number as it travels with the attempt, which may outlive this run of the server.
    func mark(_ id: Int) -> String { "\(run).\(id)" }

    /// The number in a mark; nil when it is another run's.
    func id(of mark: String?) -> Int? {
        guard let mark, mark.hasPrefix(run + ".") else { return nil }
        return Int(mark.dropFirst(run.count + 1))
    }

    /// A number for an attempt that is about to begin. Where several servers give them, it is made of the time and of
    /// chance, and small enough for a script (below 2^53).
    func nextID() -> Int {
        let first =
            memory.cluster == nil
            ? 0 : Int(clamping: memory.now().milliseconds) << 10 + Int.random(in: 0..<(1 << 10))
        return lastID.withLock { last in
            last = max(last + 1, first)
            return last
        }
    }

    /// Notes that an attempt began.
    ///
    /// - Parameter began: when; nil is now.
    func begin(
        _ id: Int, session: SessionKey, app: String, authority: String, settings: AttemptSettings, at began: Date? = nil
    ) {
        let record = AttemptRecord(
            id: id, app: app, authority: authority, settings: settings, began: began ?? memory.now())
        memory.note(.began(record), of: session, app: app, isSignedIn: false)
    }

    /// Notes what the provider granted, and to which account of the session.
    func succeed(
        _ id: Int?, session: SessionKey, account: String? = nil, granted: [String], declined: [String]
    ) {
        guard let id else { return }
        let end = AttemptEnd(
            id: id, at: memory.now(), grantedScopes: granted, declinedScopes: declined, accountID: account)
        memory.note(.ended(end), of: session, app: "", isSignedIn: true)
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
        memory.note(
            .ended(AttemptEnd(id: id, at: memory.now(), problem: problem)), of: session, app: "", isSignedIn: false)
    }
}
