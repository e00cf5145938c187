import Foundation
import HTTPWire
import TenantDirectory

/// Single sign-on: the accounts that have signed in with this browser. The cookie is this value, encrypted. The state
/// records which sessions were ended early.
struct SignOnSession: Sendable, Codable {
    /// The cookie's name at these addresses.
    static func cookieName(at addresses: Addresses) -> String { addresses.cookiePrefix + "sign-on" }
    static let lifetime: TimeInterval = 24 * 3600

    struct Entry: Sendable, Codable {
        /// The ID of this authentication, so that ending it does not end the next one.
        var id: String
        var username: String
        var authentication: Authentication
    }

    var id: String
    var begun: Date
    var entries: [Entry] = []

    var expires: Date { begun.addingTimeInterval(Self.lifetime) }

    func entry(_ account: DemoAccount) -> Entry? { entries.first { $0.username == account.username } }
}

extension IdentityPlatform {
    /// Returns the browser's session without the accounts that have ended, or a new one.
    func signOnSession(_ head: RequestHead) -> SignOnSession {
        let now = clock.now()
        let opened = RequestCookies(head)[SignOnSession.cookieName(at: addresses)].flatMap {
            state.sealer.open($0, for: .signOn, as: SignOnSession.self)
        }
        guard var session = opened, now < session.expires else { return SignOnSession(id: clock.newID(), begun: now) }
        let revocations = controls.revocations
        let entries = session.entries.filter { !revocations.hasEnded($0.authentication) }
        session.entries = state.read { record in
            entries.filter { entry in
                record.endedSignOns[entry.id] == nil
                    && record.revocations[entry.username, default: 0] == entry.authentication.revocations
            }
        }
        return session
    }

    func accounts(of session: SignOnSession) -> [DemoAccount] {
        session.entries.compactMap { people.account(username: $0.username) }
    }

    /// Returns the cookie of a session; for a session without accounts, a cookie that removes it.
    func setCookie(_ session: SignOnSession) throws -> String {
        let isOver = session.entries.isEmpty
        let isSecure = addresses.isSecure
        return try SetCookie(
            name: SignOnSession.cookieName(at: addresses),
            value: isOver ? "" : state.sealer.seal(session, for: .signOn),
            maxAge: isOver ? 0 : nil, secure: isSecure
        ).headerValue
    }

    /// Signs accounts out of a session permanently: the cookie's old value does not restore them.
    func end(_ accounts: [DemoAccount], of session: inout SignOnSession) {
        let names = Set(accounts.map(\.username))
        let ended = session.entries.filter { names.contains($0.username) }
        session.entries.removeAll { names.contains($0.username) }
        guard !ended.isEmpty else { return }
        let (now, expires) = (clock.now(), session.expires)
        state.change { record in
            record.endedSignOns = record.endedSignOns.filter { $0.value > now }
            for entry in ended { record.endedSignOns[entry.id] = expires }
        }
    }
}
