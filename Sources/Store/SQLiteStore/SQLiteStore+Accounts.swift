package import Foundation
import GRDB
package import SessionStore

extension SQLiteStore {
    package func accessTokens(of account: AccountKey) async throws(StoreError) -> [AccessTokenRow] {
        try await database.read { db in try db.sessionQueries().accessTokens(of: account) }
    }

    package func accessTokensNow(of account: AccountKey) -> ImmediateRead<[AccessTokenRow]> {
        database.readNow { queries in try queries.accessTokens(of: account) }
    }

    package func refreshToken(of account: AccountKey) async throws(StoreError) -> Data? {
        try await database.read { db in try db.refreshToken(of: account) }
    }

    package func idToken(of account: AccountKey) async throws(StoreError) -> Data? {
        try await database.read { db in try db.idToken(of: account) }
    }

    package func replaceTokens(
        of account: AccountKey, with tokens: RenewedTokens, under lease: RefreshLease?, now: Int64
    ) async throws(StoreError) -> Bool {
        try await database.write { db in
            let number = try db.requireNumber(of: account)
            if let lease,
                !SignInRules.mayStore(under: lease, fence: nil, refreshToken: try db.refreshToken(of: account))
            {
                return false
            }
            try db.renew(number, tokens)
            if let token = tokens.accessToken { try db.store(token, number, now: now) }
            return true
        }
    }

    package func replaceRefreshToken(of account: AccountKey, with refreshToken: Data, under lease: RefreshLease)
        async throws(StoreError) -> Bool
    {
        try await database.write { db in
            let number = try db.requireNumber(of: account)
            let stored = try db.refreshToken(of: account)
            guard SignInRules.mayStore(under: lease, fence: nil, refreshToken: stored) else { return false }
            try db.run("UPDATE account_secret SET refresh_token = ? WHERE account = ?", [refreshToken, number])
            return true
        }
    }

    package func markNeedsInteraction(
        _ account: AccountKey, reason: String, claims: String?, ifRefreshTokenIs refreshToken: Data?
    ) async throws(StoreError) -> Bool {
        try await database.write { db in
            let number = try db.requireNumber(of: account)
            if let refreshToken, try db.refreshToken(of: account) != refreshToken { return false }
            try db.run(
                "UPDATE account SET needs_interaction = ?, interaction_claims = ? WHERE key = ?",
                [reason, claims, number])
            return true
        }
    }

    package func remove(_ account: AccountKey, keepAsPrevious: Bool, fresh: SHA256Hash, now: Int64)
        async throws(StoreError)
    {
        try await database.write { db in
            guard try db.session(account.session) != nil else { throw StoreError.noSuchSession }
            if keepAsPrevious {
                try db.run(
                    """
                    INSERT OR REPLACE INTO previous_account (session, app, username)
                    SELECT session, app, username FROM account WHERE session = ? AND app = ? AND id = ?
                    """, [account.session, account.app, account.id])
            } else {
                try db.run(
                    "DELETE FROM previous_account WHERE session = ? AND app = ?", [account.session, account.app])
            }
            try db.delete(account)
            try db.rotate(account.session, to: fresh, now: now)
        }
    }

    package func drop(_ account: AccountKey) async throws(StoreError) {
        try await database.write { db in try db.delete(account) }
    }

    package func makeCurrent(_ account: AccountKey) async throws(StoreError) {
        try await database.write { db in try db.makeCurrent(db.requireNumber(of: account), account) }
    }

    package func endAccounts(_ logout: ProviderLogout) async throws(StoreError) -> [EndedAccountRow]? {
        try await database.write { db in
            if let token = logout.token {
                try db.run(
                    "INSERT OR IGNORE INTO logout_token (hash, ends_at) VALUES (?, ?)", [token.hash, token.endsAt])
                guard db.changesCount > 0 else { return nil }
            }
            guard logout.sid != nil || logout.subject != nil else { return [] }
            // This condition matches `ProviderLogout.names(_:)`.
            let rows = try db.rows(
                """
                SELECT \(AccountKey.columns), environment FROM account
                WHERE issuer = ?1 AND (?2 IS NULL OR sid = ?2) AND (?3 IS NULL OR subject = ?3)
                """, [logout.issuer, logout.sid, logout.subject])
            return try rows.map { row in
                let account = try AccountKey(row: row)
                try db.delete(account)
                try db.run(
                    "DELETE FROM session WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM account WHERE session = ?1)",
                    [account.session])
                return EndedAccountRow(key: account, environment: try row.decode(forColumn: "environment"))
            }
        }
    }
}
