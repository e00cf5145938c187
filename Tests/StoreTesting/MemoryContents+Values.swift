import Foundation
import SessionStore

extension KeyRing.KeyID {
    /// Reads the id of the key that sealed a value.
    init(ofSealed value: Data) {
        self.init(bytes: Array(value.dropFirst(Sealer.keyIDBytes.lowerBound).prefix(Sealer.keyIDBytes.count)))
    }
}

extension MemoryContents.State {
    func sealed(_ key: SessionKey) -> SealedSession? {
        guard let row = row(key), let session = sessions[key] else { return nil }
        return SealedSession(
            row: row, accounts: session.accounts.map(\.row), previousUsernames: session.previousUsernames,
            version: session.version)
    }

    mutating func makeRoomForNewcomer(_ rules: SignInRules, now: Int64) {
        let newcomers = attempts.filter(\.value.isOfNewcomer)
        let over = newcomers.filter { $0.value.row.completedAt != nil || rules.isCutOff($0.value.row, now: now) }
            .sorted { $0.value.number < $1.value.number }
        for (hash, attempt) in over.prefix(max(0, newcomers.count - SignInRules.maxNewcomers)) {
            attempts[hash] = nil
            guard let key = attempt.row.session, let row = row(key), !row.hasAccounts, !row.remembersSomebody,
                row.lastAttemptAt == nil
            else {
                continue
            }
            delete(key)
            notes.removeAll { $0.session == key }
        }
    }

    /// Stores a sign-in's account with its tokens, and makes it the current one.
    mutating func store(_ account: AccountRow, _ tokens: RenewedTokens, now: Int64) throws(StoreError) {
        let session = account.key.session
        if self.account(account.key) == nil { sessions[session]?.accounts.append(.init(row: account)) }
        try change(account.key) { stored in
            stored.row = account
            stored.renew(tokens, now: now)
        }
        makeCurrent(account.key)
        // The session is as old as the sign-in, unless another account was already signed in.
        if sessions[session]?.accounts.count == 1 { sessions[session]?.createdAt = now }
        for (hash, attempt) in attempts where attempt.row.session == session { attempts[hash]?.isOfNewcomer = false }
    }

    // MARK: Sealed values

    var sealedCounts: [KeyRing.KeyID: Int] {
        sealedValues.reduce(into: [:]) { $0[KeyRing.KeyID(ofSealed: $1.sealed), default: 0] += 1 }
    }

    var sealedValues: [(place: SealedPlace, sealed: Data)] {
        sessions.values.flatMap(\.accounts).flatMap(\.sealedValues)
    }

    /// Replaces a value; returns whether the old value was still stored.
    mutating func replace(_ value: ResealedValue) -> Bool {
        guard sealedValues.contains(where: { $0.place == value.place && $0.sealed == value.old }) else { return false }
        switch value.place {
        case .signIn, .postedAnswer, .note: break
        case .claims(let key): try? change(key) { $0.row.claims = value.new }
        case .refreshToken(let key): try? change(key) { $0.refreshToken = value.new }
        case .idToken(let key): try? change(key) { $0.idToken = value.new }
        case .accessToken(let key, let tenant, let scopes):
            try? change(key) { account in
                for index in account.tokens.indices
                where account.tokens[index].tenant == tenant && account.tokens[index].requestedScopes == scopes {
                    account.tokens[index].token = value.new
                }
            }
        }
        return true
    }
}

extension MemoryContents.StoredAccount {
    mutating func renew(_ tokens: RenewedTokens, now: Int64) {
        refreshToken = tokens.refreshToken ?? refreshToken
        idToken = tokens.idToken ?? idToken
        row.claims = tokens.claims ?? row.claims
        row.identity.username = tokens.username ?? row.identity.username
        row.identity.name = tokens.name ?? row.identity.name
        refresh = refresh.renewed
        if let token = tokens.accessToken { store(token, now: now) }
    }

    var sealedValues: [(place: SealedPlace, sealed: Data)] {
        let own: [(SealedPlace, Data?)] = [
            (.claims(row.key), row.claims), (.refreshToken(row.key), refreshToken), (.idToken(row.key), idToken),
        ]
        return own.compactMap { place, sealed in sealed.map { (place, $0) } }
            + tokens.map {
                (.accessToken($0.account, tenant: $0.tenant, scopes: $0.requestedScopes), $0.token)
            }
    }
}
