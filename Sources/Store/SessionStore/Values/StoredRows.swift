package import Foundation

// The rows that a backend stores. Secrets are sealed, and values that are looked up are hashed, before a backend sees
// them. Times are in milliseconds since 1970.

/// The part of a session that decides whether it has expired.
package struct SessionRow: Sendable, Equatable {
    package var key: SessionKey
    package var idHash: SHA256Hash
    package var createdAt: Int64
    package var lastSeenAt: Int64
    package var hasAccounts: Bool
    /// Whether the session keeps the name of a person who was signed in before.
    package var remembersSomebody: Bool
    /// The time when the latest sign-in that has come back to this session began.
    package var lastAttemptAt: Int64?

    package init(
        key: SessionKey, idHash: SHA256Hash, createdAt: Int64, lastSeenAt: Int64, hasAccounts: Bool,
        remembersSomebody: Bool, lastAttemptAt: Int64?
    ) {
        self.key = key
        self.idHash = idHash
        self.createdAt = createdAt
        self.lastSeenAt = lastSeenAt
        self.hasAccounts = hasAccounts
        self.remembersSomebody = remembersSomebody
        self.lastAttemptAt = lastAttemptAt
    }
}

/// A whole session, except its access tokens, read at one moment. Access tokens are read when one is used.
package struct SealedSession: Sendable {
    package var row: SessionRow
    /// The accounts, in the order of their first sign-in.
    package var accounts: [AccountRow]
    /// The previous usernames, keyed by application.
    package var previousUsernames: [String: String]
    /// See ``ClusteredStoreBackend/versions(of:within:)``; 0 if the database is not clustered.
    package var version: Int64

    package init(
        row: SessionRow, accounts: [AccountRow], previousUsernames: [String: String], version: Int64 = 0
    ) {
        self.row = row
        self.accounts = accounts
        self.previousUsernames = previousUsernames
        self.version = version
    }
}

/// An account; see ``Account`` for the properties.
package struct AccountRow: Sendable, Equatable {
    package var key: AccountKey
    package var identity: AccountIdentity
    package var isCurrent: Bool
    package var needsInteraction: String?
    package var interactionClaims: String?
    package var signedInAt: Int64
    /// The sealed claims of the ID token.
    package var claims: Data

    package init(
        key: AccountKey, identity: AccountIdentity, isCurrent: Bool, needsInteraction: String?,
        interactionClaims: String?, signedInAt: Int64, claims: Data
    ) {
        self.key = key
        self.identity = identity
        self.isCurrent = isCurrent
        self.needsInteraction = needsInteraction
        self.interactionClaims = interactionClaims
        self.signedInAt = signedInAt
        self.claims = claims
    }
}

/// An access token. `tenant` and `requestedScopes` identify it within its account.
package struct AccessTokenRow: Sendable, Equatable {
    package var account: AccountKey
    /// The tenant; empty for the tenant in which the account signed in.
    package var tenant: String
    /// The requested scopes, in the form of ``ScopeSet/description``.
    package var requestedScopes: String
    package var grantedScopes: String
    /// The declined scopes, separated by spaces, spelled as in the request.
    package var declinedScopes: String
    package var expiresAt: Int64
    package var refreshAt: Int64?
    /// The sealed token.
    package var token: Data

    package init(
        account: AccountKey, tenant: String, requestedScopes: String, grantedScopes: String, declinedScopes: String,
        expiresAt: Int64, refreshAt: Int64?, token: Data
    ) {
        self.account = account
        self.tenant = tenant
        self.requestedScopes = requestedScopes
        self.grantedScopes = grantedScopes
        self.declinedScopes = declinedScopes
        self.expiresAt = expiresAt
        self.refreshAt = refreshAt
        self.token = token
    }
}

/// The values that a token response renews; nil keeps the stored value.
package struct RenewedTokens: Sendable {
    package var accessToken: AccessTokenRow?
    /// The sealed refresh token.
    package var refreshToken: Data?
    /// The sealed ID token.
    package var idToken: Data?
    /// The sealed claims.
    package var claims: Data?
    package var username: String?
    package var name: String?

    package init(
        accessToken: AccessTokenRow? = nil, refreshToken: Data? = nil, idToken: Data? = nil, claims: Data? = nil,
        username: String? = nil, name: String? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.idToken = idToken
        self.claims = claims
        self.username = username
        self.name = name
    }
}

/// A sign-in that has come back from the provider. Before that, only the browser has it.
package struct AttemptRow: Sendable, Equatable {
    /// The session; nil if it no longer exists. The row stays, so that a repeated callback is not taken for a first
    /// one.
    package var session: SessionKey?
    package var begunAt: Int64
    package var consumedAt: Int64
    /// The hash of the code in the callback that consumed the attempt; nil for an error response.
    package var codeHash: SHA256Hash?
    package var failedAt: Int64?
    package var completedAt: Int64?
    /// The id that its completion gave the session.
    package var issuedIDHash: SHA256Hash?

    package init(
        session: SessionKey?, begunAt: Int64, consumedAt: Int64, codeHash: SHA256Hash?, failedAt: Int64? = nil,
        completedAt: Int64? = nil, issuedIDHash: SHA256Hash? = nil
    ) {
        self.session = session
        self.begunAt = begunAt
        self.consumedAt = consumedAt
        self.codeHash = codeHash
        self.failedAt = failedAt
        self.completedAt = completedAt
        self.issuedIDHash = issuedIDHash
    }
}

/// An account that the provider has signed out.
package struct EndedAccountRow: Sendable {
    package var key: AccountKey
    package var environment: String

    package init(key: AccountKey, environment: String) {
        self.key = key
        self.environment = environment
    }
}
