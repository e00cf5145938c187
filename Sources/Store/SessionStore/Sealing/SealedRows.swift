import Foundation

// Converts between stored rows and values.

extension Sealer {
    /// Opens a whole session. Its access tokens are not known yet.
    func open(_ sealed: SealedSession) throws(StoreError) -> Snapshot {
        var accounts: [Account] = []
        accounts.reserveCapacity(sealed.accounts.count)
        for row in sealed.accounts { accounts.append(try open(row)) }
        let session = Session(
            key: sealed.row.key, createdAt: Date(milliseconds: sealed.row.createdAt),
            lastSeenAt: Date(milliseconds: sealed.row.lastSeenAt), accounts: accounts,
            previousUsernames: sealed.previousUsernames, lastAttemptAt: sealed.row.lastAttemptAt)
        return Snapshot(session: session, idHash: sealed.row.idHash, tokens: [], version: sealed.version)
    }

    private func open(_ row: AccountRow) throws(StoreError) -> Account {
        let claims = AnnotatedClaims(stored: try open(row.claims, for: .claims(row.key)))
        return Account(
            id: row.key.id, app: row.key.app, identity: row.identity, idTokenClaims: claims.json,
            annotation: claims.annotation, needsInteraction: row.needsInteraction,
            interactionClaims: row.interactionClaims, current: row.isCurrent,
            signedInAt: Date(milliseconds: row.signedInAt))
    }

    /// Opens an access token that is about to be used.
    func open(_ row: AccessTokenRow) throws(StoreError) -> StoredAccessToken {
        let place = SealedPlace.accessToken(row.account, tenant: row.tenant, scopes: row.requestedScopes)
        return StoredAccessToken(
            secret: try open(row.token, for: place), requestedScopes: ScopeSet(text: row.requestedScopes),
            grantedScopes: ScopeSet(text: row.grantedScopes),
            declinedScopes: row.declinedScopes.split(separator: " ").map(String.init),
            tenant: row.tenant.isEmpty ? nil : row.tenant, expiresOn: Date(milliseconds: row.expiresAt),
            refreshOn: row.refreshAt.map { Date(milliseconds: $0) })
    }

    /// Returns the row of an account that signs in.
    func seal(_ account: NewAccount, as key: AccountKey, now: Int64) throws(StoreError) -> AccountRow {
        AccountRow(
            key: key, identity: account.identity, isCurrent: true, needsInteraction: nil, interactionClaims: nil,
            signedInAt: now,
            claims: try seal(
                AnnotatedClaims(json: account.idTokenClaims, annotation: account.annotation).stored, for: .claims(key)))
    }

    /// Seals a token response that comes with a sign-in.
    func seal(_ tokens: NewTokens, of account: AccountKey) throws(StoreError) -> RenewedTokens {
        var sealed = RenewedTokens(accessToken: try accessToken(tokens, of: account))
        if let refreshToken = tokens.refreshToken {
            sealed.refreshToken = try seal(refreshToken, for: .refreshToken(account))
        }
        if let idToken = tokens.idToken { sealed.idToken = try seal(idToken, for: .idToken(account)) }
        return sealed
    }

    /// Seals a refresh response. The account stays signed in even if its claims are not renewed.
    func seal(refreshed tokens: NewTokens, of account: AccountKey) throws(StoreError) -> RenewedTokens {
        var tokens = tokens
        // In another tenant, the ID token describes a guest with other claims: the account keeps its own.
        let claims = tokens.tenant == nil ? tokens.idTokenClaims : nil
        if claims == nil { tokens.idToken = nil }
        var sealed = try seal(tokens, of: account)
        guard let claims else { return sealed }
        sealed.claims = try seal(
            AnnotatedClaims(json: claims, annotation: tokens.annotation).stored, for: .claims(account))
        sealed.username = tokens.username
        sealed.name = tokens.name
        return sealed
    }

    private func accessToken(_ tokens: NewTokens, of account: AccountKey) throws(StoreError) -> AccessTokenRow? {
        guard let accessToken = tokens.accessToken else { return nil }
        let tenant = tokens.tenant ?? ""
        let requested = tokens.requestedScopes.description
        return AccessTokenRow(
            account: account, tenant: tenant, requestedScopes: requested,
            grantedScopes: tokens.grantedScopes.description,
            declinedScopes: tokens.declinedScopes.joined(separator: " "), expiresAt: tokens.expiresOn.milliseconds,
            refreshAt: tokens.refreshOn?.milliseconds,
            token: try seal(accessToken, for: .accessToken(account, tenant: tenant, scopes: requested)))
    }
}

/// The claims of an ID token, and the text that the application has added to them, in one sealed value.
private struct AnnotatedClaims {
    /// The record separator, which no JSON text contains (RFC 8259 section 2, RFC 7464).
    private static let separator: UInt8 = 0x1E

    let json: String
    let annotation: String?

    init(json: String, annotation: String?) {
        self.json = json
        self.annotation = annotation
    }

    init(stored: String) {
        guard let end = stored.utf8.firstIndex(of: Self.separator) else {
            (json, annotation) = (stored, nil)
            return
        }
        json = String(stored[..<end])
        annotation = String(stored[stored.utf8.index(after: end)...])
    }

    var stored: String { annotation.map { "\(json)\u{1E}\($0)" } ?? json }
}
