package import Foundation

// What a backend keeps. Secrets are sealed and what is looked up is hashed before a backend sees it. Times are
// milliseconds since 1970.

/// A session, as far as its life is decided by it.
package struct SessionRow: Sendable, Equatable {
    package var key: SessionKey
    package var idHash: SHA256Hash
    package var createdAt: Int64
    package var lastSeenAt: Int64
    package var hasAccounts: Bool
    /// Whether it keeps the name of somebody who was signed in before.
    package var remembersSomebody: Bool
    /// When the latest sign-in that has come back into it began.
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

/// Everything of a session that pages need, read at one moment. Its access tokens are read when one is used.
package struct SealedSession: Sendable {
    package var row: SessionRow
    /// In the order of their first sign-in.
    package var accounts: [AccountRow]
    /// By application.
    package var previousUsernames: [String: String]
    /// See ``ClusteredStoreBackend/versions(of:within:)``; 0 where the place is not cluster.
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
    /// Sealed.
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

/// An access token. `tenant` and `requestedScopes` name it within its account.
package struct AccessTokenRow: Sendable, Equatable {
    package var account: AccountKey
    /// Empty for the tenant in which the account signed in.
    package var tenant: String
    /// As ``ScopeSet/description`` has them.
    package var requestedScopes: String
    package var grantedScopes: String
    /// Set apart by spaces, in the request's spelling.
    package var declinedScopes: String
    package var expiresAt: Int64
    package var refreshAt: Int64?
    /// Sealed.
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

/// What a token response renews; nil leaves what is stored.
package struct RenewedTokens: Sendable {
    package var accessToken: AccessTokenRow?
    /// Sealed.
    package var refreshToken: Data?
    /// Sealed.
    package var idToken: Data?
    /// Sealed.
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

/// A sign-in that has come back from the provider: until then the browser alone has it.
package struct AttemptRow: Sendable, Equatable {
    /// Nil when it is no more: the row stays, so that the same callback is not taken for a first one.
    package var session: SessionKey?
    package var begunAt: Int64
    package var consumedAt: Int64
    /// Of the callback that consumed it; nil for an error response.
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
