import Foundation
import HTTPServer
import HTTPWire
import TenantDirectory
import WebFormats

/// The codes for which the pages ask customers: to sign in, to confirm the address of a new account, and to set a new
/// password. They are those of native authentication.
extension SignIn {
    /// Whether people sign up here who then sign in with a code.
    var signsUpWithCode: Bool { !isB2C && client.signUpFlow?.method == .code }

    /// Whether a customer can set a new password. At B2C, that is a user flow of its own.
    func canResetPassword(_ account: DemoAccount) -> Bool { account.kind == .external && !isB2C }

    /// Sends the code of the present step, unless it was sent.
    mutating func sendCodeOnce(_ code: PageCode) {
        guard flow.sentCode?.isFor(code) != true else { return }
        let now = exchange.diagnostics.time
        let native = NativeFlow(
            id: platform.clock.newID(), kind: code.kind, clientID: client.id, username: code.address,
            network: exchange.request.peer.network, challengeTypes: [], capabilities: [])
        platform.nativeFlows.withLock { $0.add(native, now: now) }
        _ = platform.sendCode(to: VerifiedContact(channel: .email, target: code.address), native)
        flow.sentCode = PageCode(flow: native.id, kind: code.kind, address: code.address)
    }

    /// Takes the form of the page that asks for a code.
    ///
    /// - Returns: the answer; nil if the code was right, and the sign-in goes on.
    mutating func answer(to fields: FormFields, _ code: PageCode) throws -> Response? {
        guard let sent = flow.sentCode, sent.isFor(code), fields["send_again"] == nil else {
            if let sent = flow.sentCode { end(sent) }
            flow.sentCode = nil
            return try next()
        }
        let native = platform.nativeFlows.withLock { $0[sent.flow] }
        guard let native, let expires = native.code?.expires, platform.clock.now() < expires else {
            return try next(notice: .codeExpired)
        }
        let text = (fields["code"] ?? "").filter { !$0.isWhitespace }
        switch platform.guess(text, codeOf: native, from: exchange.request.peer) {
        case .right: break
        case .wrong: return try next(notice: .wrongCode)
        case .last: return try next(notice: .tooManyCodes)
        case .over: return try next(notice: .codeExpired)
        case .tooMany(let seconds): return platform.layout.page(TooManyTriesPage()).ending(retryAfter: seconds)
        }
        guard platform.nativeFlows.withLock({ $0.finish(sent.flow) }) else { return try next(notice: .codeExpired) }
        flow.sentCode = nil
        switch code.kind {
        case .passwordReset: flow.confirmed = code.address
        case .signIn:
            guard let account = platform.account(of: flow) else { break }
            authenticate(
                account, secondFactor: flow.authentication?.secondFactor ?? 0,
                contexts: platform.grants.contextsMetByPassword(request.claims.contexts, of: account))
        case .signUp:
            guard canSignUp, let newcomer = flow.newcomer.take() else { break }
            guard let account = platform.people.signUp(newcomer) else { return try next(notice: .refused(.isKnown)) }
            flow.username = account.username
            authenticate(account, secondFactor: 0)
        }
        return nil
    }

    private func end(_ code: PageCode) {
        platform.nativeFlows.withLock { $0.end(code.flow) }
        platform.outbox.end(code.flow)
    }
}
