/// An access token in memory, which stays sealed until it is used.
enum HeldToken: Sendable {
    case sealed(AccessTokenRow)
    case open(StoredAccessToken)
}

/// The access tokens of one account, in the order in which they were stored.
struct AccountTokens: Sendable {
    let app: String
    let id: String
    private var tokens: [HeldToken]

    init(of account: AccountKey, _ rows: [AccessTokenRow]) {
        app = account.app
        id = account.id
        tokens = rows.map { .sealed($0) }
    }

    /// Returns the best token for the scopes: the one requested with exactly these; otherwise, of those that include
    /// them, the one that lasts longest.
    func token(_ tenant: String?, _ scopes: ScopeSet) -> HeldToken? {
        let own = tokens.filter { $0.isFor(tenant) }
        return own.first { $0.wasRequested(with: scopes) }
            ?? own.filter { $0.includes(scopes) }.max { $0.expiresAt < $1.expiresAt }
    }

    /// Replaces the sealed token by the opened one.
    mutating func opened(_ row: AccessTokenRow, _ token: StoredAccessToken) {
        for index in tokens.indices {
            if case .sealed(let held) = tokens[index], held == row { tokens[index] = .open(token) }
        }
    }

    /// An estimate of the memory that the tokens take, in bytes.
    var cost: Int { tokens.reduce(64) { $0 + $1.cost } }
}

extension HeldToken {
    fileprivate func isFor(_ tenant: String?) -> Bool {
        switch self {
        case .sealed(let row): row.tenant == tenant ?? ""
        case .open(let token): token.tenant == tenant
        }
    }

    fileprivate func wasRequested(with scopes: ScopeSet) -> Bool {
        switch self {
        case .sealed(let row): row.requestedScopes == scopes.description
        case .open(let token): token.requestedScopes == scopes
        }
    }

    fileprivate func includes(_ scopes: ScopeSet) -> Bool {
        guard !scopes.scopes.isEmpty else { return false }
        return switch self {
        case .sealed(let row): ScopeSet(text: row.grantedScopes).contains(scopes)
        case .open(let token): token.grantedScopes.contains(scopes)
        }
    }

    fileprivate var expiresAt: Int64 {
        switch self {
        case .sealed(let row): row.expiresAt
        case .open(let token): token.expiresOn.milliseconds
        }
    }

    fileprivate var cost: Int {
        switch self {
        case .sealed(let row): 256 + row.token.count
        case .open(let token): 256 + token.secret.utf8.count
        }
    }
}
