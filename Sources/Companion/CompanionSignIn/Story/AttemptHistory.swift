package import CompanionCore
package import Foundation
import OpenIDConnect
import SessionStore
package import WebFormats
import Synchronization

/// The parameters of a sign-in. They identify no one: for a login hint, only its presence is recorded.
package struct AttemptSettings: Sendable {
    package var prompt: String?
    package var loginHint: Bool
    var domainHint: String?
    package var scopes: [String]
    package var claims: String?
    package var tenant: String?
    package var policy: String?
    var maxAge: Int?
    var acrValues: String?

    /// Creates settings for an administrator's consent, or for an attempt that began before the server's restart.
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
        maxAge = options.maxAge
        acrValues = options.acrValues
    }

    private static let maxClaimsBytes = 512

    /// Returns a claims request unchanged if it is short, else JSON with its length.
    static func short(_ claims: String) -> String {
        let count = claims.utf8.count
        return count <= maxClaimsBytes ? claims : #"{"…":"\#(count) bytes"}"#
    }

    /// The heap memory beside the value itself, in bytes.
    fileprivate var heapBytes: Int {
        ([prompt, domainHint, claims, tenant, policy, acrValues].compactMap(\.self) + scopes).reduce(
            scopes.count * 16 + 48
        ) {
            $0 + $1.heapBytes
        }
    }

    /// The JSON for pages.
    package var json: JSONValue {
        .members([
            "max_age": maxAge.map(JSONValue.integer), "acr_values": .text(acrValues),
            "prompt": .text(prompt), "login_hint": .bool(loginHint), "domain_hint": .text(domainHint),
            "scopes": .list(scopes), "claims": .text(claims), "tenant": .text(tenant), "policy": .text(policy),
        ])
    }
}

/// One interactive sign-in, from its start to its outcome.
package struct AttemptRecord: Sendable {
    package let id: Int
    package let app: String
    package let authority: String
    package let settings: AttemptSettings
    package let began: Date
    package var ended: Date?
    package var grantedScopes: [String] = []
    package var declinedScopes: [String] = []
    /// The ID of the account that was signed in; nil if there was none.
    package var accountID: String?
    /// The problem; nil while the attempt is under way and after success.
    package var problem: Problem?

    /// The estimated memory use, in bytes.
    package var bytes: Int {
        let texts = grantedScopes + declinedScopes + [authority, accountID ?? ""] + (problem?.texts ?? [])
        return texts.reduce(MemoryLayout<AttemptRecord>.stride + settings.heapBytes) { $0 + 16 + $1.heapBytes }
    }
}

extension Problem {
    fileprivate var texts: [String] {
        let own = [detail.format, action?.kind, action?.url, traceID, timestamp, correlationID, reason]
        return (own + [providerError, providerWords]).compactMap(\.self) + detail.arguments
    }
}

/// The sign-ins of each session within the last hour, for comparison and explanation. They contain no tokens, codes,
/// states or names.
final class AttemptHistory: Sendable {
    private let lastID = Mutex(0)
    private let memory: SessionMemory
    /// Distinguishes the numbers of this run from those of an earlier one. Servers with one database share the numbers.
    private let run: String

    init(memory: SessionMemory) {
        self.memory = memory
        run = memory.cluster == nil ? String(Int(memory.now().timeIntervalSince1970 * 1000)) : "clustered"
    }

    /// Returns the form of a number in an attempt, which may outlive this run of the server.
    func mark(_ id: Int) -> String { "\(run).\(id)" }

    /// Returns the number in a mark; nil if it is from another run.
    func id(of mark: String?) -> Int? {
        guard let mark, mark.hasPrefix(run + ".") else { return nil }
        return Int(mark.dropFirst(run.count + 1))
    }

    /// Returns a number for a new attempt. With several servers it consists of the time and random bits, and fits in a
    /// script's integers (below 2^53).
    func nextID() -> Int {
        let first =
            memory.cluster == nil
            ? 0 : Int(clamping: memory.now().milliseconds) << 10 + Int.random(in: 0..<(1 << 10))
        return lastID.withLock { last in
            last = max(last + 1, first)
            return last
        }
    }

    /// Records the start of an attempt.
    ///
    /// - Parameter began: the time of the start; nil means now.
    func begin(
        _ id: Int, session: SessionKey, app: String, authority: String, settings: AttemptSettings, at began: Date? = nil
    ) {
        let record = AttemptRecord(
            id: id, app: app, authority: authority, settings: settings, began: began ?? memory.now())
        memory.note(.began(record), of: session, app: app, isSignedIn: false)
    }

    /// Records the scopes that the provider granted, and the session's account.
    func succeed(
        _ id: Int?, session: SessionKey, account: String? = nil, granted: [String], declined: [String]
    ) {
        guard let id else { return }
        let end = AttemptEnd(
            id: id, at: memory.now(), grantedScopes: granted, declinedScopes: declined, accountID: account)
        memory.note(.ended(end), of: session, app: "", isSignedIn: true)
    }

    /// Records the failure of an attempt, even if it is from an earlier run.
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

    /// Records the failure of an attempt.
    func fail(_ id: Int, session: SessionKey, _ problem: Problem) {
        memory.note(
            .ended(AttemptEnd(id: id, at: memory.now(), problem: problem)), of: session, app: "", isSignedIn: false)
    }
}
