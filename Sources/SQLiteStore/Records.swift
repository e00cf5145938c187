import Foundation
import GRDB
import SessionStore

// How rows of the tables become the rows of the store. A column is found by its name; one that is missing or of another
// type is an error.

extension SessionKey: DatabaseValueConvertible {
    /// As a column holds it.
    public var databaseValue: DatabaseValue { value.databaseValue }
    /// From a column; nil for a value of another type.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> SessionKey? {
        Int64.fromDatabaseValue(value).map { SessionKey($0) }
    }
}

extension SHA256Hash: DatabaseValueConvertible {
    /// As a column holds it.
    public var databaseValue: DatabaseValue { blob.databaseValue }
    /// From a column; nil for a value of another type.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> SHA256Hash? {
        Data.fromDatabaseValue(value).flatMap { SHA256Hash(blob: $0) }
    }
}

extension KeyRing.KeyID: DatabaseValueConvertible {
    /// As a column holds it.
    public var databaseValue: DatabaseValue { Data(bytes).databaseValue }
    /// From a column; nil for a value of another type.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> KeyRing.KeyID? {
        Data.fromDatabaseValue(value).map { KeyRing.KeyID(bytes: Array($0)) }
    }
}

extension SessionRow: FetchableRecord {
    static let columns = """
        key, id_hash, created_at, last_seen_at,
        EXISTS (SELECT 1 FROM account WHERE account.session = session.key) AS has_accounts,
        (SELECT MAX(begun_at) FROM sign_in_attempt WHERE sign_in_attempt.session = session.key) AS last_attempt_at,
        EXISTS (SELECT 1 FROM previous_account WHERE previous_account.session = session.key) AS remembers_somebody
        """

    package init(row: Row) throws {
        self.init(
            key: try row.decode(forColumn: "key"), idHash: try row.decode(forColumn: "id_hash"),
            createdAt: try row.decode(forColumn: "created_at"), lastSeenAt: try row.decode(forColumn: "last_seen_at"),
            hasAccounts: try row.decode(forColumn: "has_accounts"),
            remembersSomebody: try row.decode(forColumn: "remembers_somebody"),
            lastAttemptAt: try row.decode(forColumn: "last_attempt_at"))
    }
}

extension AccountKey: FetchableRecord {
    static let columns = "session, app, id"

    /// From a row with ``columns``.
    public init(row: Row) throws {
        self.init(
            session: try row.decode(forColumn: "session"), app: try row.decode(forColumn: "app"),
            id: try row.decode(forColumn: "id"))
    }
}

extension AccountRow: FetchableRecord {
    static let columns = """
        \(AccountKey.columns), username, name, tenant_id, environment, object_id, issuer, subject, sid, policy, is_current,
        needs_interaction, interaction_claims, signed_in_at, claims
        """

    package init(row: Row) throws {
        self.init(
            key: try AccountKey(row: row), username: try row.decode(forColumn: "username"),
            name: try row.decode(forColumn: "name"), tenantID: try row.decode(forColumn: "tenant_id"),
            environment: try row.decode(forColumn: "environment"), objectID: try row.decode(forColumn: "object_id"),
            issuer: try row.decode(forColumn: "issuer"), subject: try row.decode(forColumn: "subject"),
            sid: try row.decode(forColumn: "sid"), policy: try row.decode(forColumn: "policy"),
            isCurrent: try row.decode(forColumn: "is_current"),
            needsInteraction: try row.decode(forColumn: "needs_interaction"),
            interactionClaims: try row.decode(forColumn: "interaction_claims"),
            signedInAt: try row.decode(forColumn: "signed_in_at"), claims: try row.decode(forColumn: "claims"))
    }
}

extension AccessTokenRow: FetchableRecord {
    static let columns = """
        \(AccountKey.columns), tenant, requested_scopes, granted_scopes, declined_scopes, expires_at, refresh_at, token
        """

    package init(row: Row) throws {
        self.init(
            account: try AccountKey(row: row), tenant: try row.decode(forColumn: "tenant"),
            requestedScopes: try row.decode(forColumn: "requested_scopes"),
            grantedScopes: try row.decode(forColumn: "granted_scopes"),
            declinedScopes: try row.decode(forColumn: "declined_scopes"),
            expiresAt: try row.decode(forColumn: "expires_at"), refreshAt: try row.decode(forColumn: "refresh_at"),
            token: try row.decode(forColumn: "token"))
    }
}

extension AttemptRow: FetchableRecord {
    static let columns = """
        session, begun_id_hash, app, return_to, prompt, requested_scopes, expected_account, begun_at, sealed, consumed_at,
        code_hash, failed_at, completed_at, issued_id_hash
        """

    package init(row: Row) throws {
        self.init(
            session: try row.decode(forColumn: "session"), begunIDHash: try row.decode(forColumn: "begun_id_hash"),
            app: try row.decode(forColumn: "app"), returnTo: try row.decode(forColumn: "return_to"),
            prompt: try row.decode(forColumn: "prompt"),
            requestedScopes: try row.decode(forColumn: "requested_scopes"),
            expectedAccountID: try row.decode(forColumn: "expected_account"),
            begunAt: try row.decode(forColumn: "begun_at"), sealed: try row.decode(forColumn: "sealed"))
        consumedAt = try row.decode(forColumn: "consumed_at")
        codeHash = try row.decode(forColumn: "code_hash")
        failedAt = try row.decode(forColumn: "failed_at")
        completedAt = try row.decode(forColumn: "completed_at")
        issuedIDHash = try row.decode(forColumn: "issued_id_hash")
    }
}
