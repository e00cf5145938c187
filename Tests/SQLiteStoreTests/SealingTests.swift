import Foundation
import GRDB
import StoreTesting
import Testing
import WebFormats

@testable import SQLiteStore
@testable import SessionStore

@Suite(.closesStores) struct SealingTests {
    /// Each row puts one sealed value where another belongs.
    @Test(arguments: [
        (
            "another account's claims",
            "UPDATE account_secret SET claims = (SELECT claims FROM account_secret ORDER BY account DESC LIMIT 1)"
        ),
        (
            "another account's refresh token as this one's claims",
            "UPDATE account_secret SET claims = (SELECT refresh_token FROM account_secret ORDER BY account DESC LIMIT 1)"
        ),
        ("its own refresh token as its claims", "UPDATE account_secret SET claims = refresh_token"),
        (
            "another account's access token",
            "UPDATE access_token SET token = (SELECT token FROM access_token ORDER BY key DESC LIMIT 1)"
        ),
        ("its own token for other scopes", "UPDATE access_token SET requested_scopes = 'user.readwrite.all'"),
        ("its own token for another tenant", "UPDATE access_token SET tenant = 'tailspin'"),
        ("the account in another session", "UPDATE account SET session = (SELECT MAX(key) FROM session)"),
        ("the account in another application", "UPDATE account SET app = 'macos'"),
        (
            "one byte changed",
            "UPDATE account_secret SET claims = CAST(substr(claims, 1, 40) || x'0000' || substr(claims, 43) AS BLOB)"
        ),
    ])
    func `a value that was moved or changed does not open`(_ name: String, _ sql: String) async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(cacheBytes: 0)
        let adele = try await store.signIn("adele", at: fixture.clock)
        let megan = try await store.signIn("megan", at: fixture.clock)
        try await fixture.outsider().write { db in try db.execute(sql: sql) }
        // The row from which a value was copied is still right; the others are refused.
        var refused = 0
        for id in [adele, megan] {
            do {
                let session = try #require(try await store.session(id))
                for account in session.accounts {
                    for tenant in [nil, "tailspin"] {
                        _ = try await store.accessToken(
                            of: session.key(of: account), tenant: tenant, scopes: ["user.read"])
                    }
                }
            } catch let error as StoreError {
                guard case .cannotUnseal(let reason) = error else {
                    Issue.record("\(name): \(error)")
                    continue
                }
                #expect(reason.contains("damaged or was moved"))
                refused += 1
            }
        }
        #expect(refused > 0, "\(name)")
    }

    @Test(arguments: ["refresh_token", "id_token"])
    func `another account's token does not open in this one's row`(column: String) async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(cacheBytes: 0)
        for user in ["adele", "megan"] {
            let id = try await store.signIn(user, at: fixture.clock)
            let key = try #require(try await store.session(id)?.key)
            var tokens = NewTokens.sample(user, at: fixture.clock)
            tokens.idToken = "id-token-of-\(user)"
            tokens.idTokenClaims = "{}"
            try await store.storeRefreshed(
                AccountKey(session: key, app: "ios", id: "\(user).tenant"), tokens: tokens)
        }
        let session = try #require(try await store.list().first?.key)
        let adele = AccountKey(session: session, app: "ios", id: "adele.tenant")
        func read() async throws -> String? {
            column == "id_token" ? try await store.idToken(of: adele) : try await store.refreshToken(of: adele)
        }
        #expect(try await read()?.hasSuffix("adele") == true)
        try await fixture.outsider().write { db in
            try db.execute(
                sql: """
                    UPDATE account_secret SET \(column) = (SELECT \(column) FROM account_secret ORDER BY account DESC)
                    """)
        }
        await #expect {
            _ = try await read()
        } throws: { error in
            guard case .cannotUnseal(let reason)? = error as? StoreError else { return false }
            return reason.contains("damaged or was moved")
        }
    }

    @Test(arguments: [
        "x'', x''", "x'01', x'01'", "CAST(x'02' || randomblob(90) AS BLOB), x'02'", "randomblob(9), randomblob(9)",
    ])
    func `garbage in a sealed column is an error and no crash`(_ values: String) async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open(cacheBytes: 0)
        let id = try await store.signIn("adele", at: fixture.clock)
        try await fixture.outsider().write { db in
            try db.execute(sql: "UPDATE account_secret SET (claims, refresh_token) = (SELECT \(values))")
        }
        await #expect(throws: StoreError.self) { try await store.session(id) }
        let key = try #require(try await store.list().first?.key)
        await #expect(throws: StoreError.self) {
            try await store.refreshToken(of: AccountKey(session: key, app: "ios", id: "adele.tenant"))
        }
    }

    @Test func `no secret is in the files in the clear`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let outcome = try await store.consume(
            try await store.begin("pendingstate"), code: "code-of-pendingstate", cookie: nil)
        guard case .attempt(_, let pending?) = outcome else { throw UnexpectedOutcome(name: outcome.name) }
        let id = try await store.signIn("adele", state: "donestate", at: fixture.clock)
        let key = try #require(try await store.session(id)?.key)
        try await store.storeRefreshed(
            AccountKey(session: key, app: "ios", id: "adele.tenant"), tokens: .sample("renewed", at: fixture.clock))
        let next = try await store.removeAccount(
            AccountKey(session: key, app: "ios", id: "adele.tenant"), keepAsPrevious: true)
        let secrets = [
            "access-adele", "refresh-adele", "access-renewed", "refresh-renewed", "claim-of-adele", "pendingstate",
            "donestate", "verifier-of", "nonce-of", "code-of", id.cookieValue, pending.cookieValue, next.cookieValue,
        ]
        func scan(_ files: [String]) throws {
            for file in files {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.path + file))
                for secret in secrets {
                    #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret) in \(file)")
                }
                for cookie in [id, pending, next] {
                    let raw = try #require(Base64URL.decode(cookie.cookieValue.utf8))
                    #expect(bytes.range(of: Data(raw)) == nil, "an id's bytes in \(file)")
                }
            }
        }
        try scan(["", "-wal", "-shm"])
        // The scan can find what is there.
        let log = try Data(contentsOf: URL(fileURLWithPath: fixture.path + "-wal"))
        #expect(log.range(of: Data("adele@contoso.example".utf8)) != nil)
        #expect(log.range(of: next.hash.blob) != nil)
        await store.close()
        try scan([""])
    }

    @Test func `only the owner can read the files`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        try await store.signIn("adele", at: fixture.clock)
        for file in ["", "-wal", "-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path + file)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
        }
    }

    @Test func `keys rotate while the server runs`() async throws {
        let fixture = try StoreFixture()
        let server = try fixture.open(cacheBytes: 0)
        let old = try await server.signIn("adele", at: fixture.clock)
        let kept = try #require(
            try server.seal(.sample(state: "pending"), in: nil, for: BegunSignIn.browser))
        func nonce() -> String? { server.open(kept, state: "pending", for: BegunSignIn.browser)?.nonce }
        let oldRing = try KeyRing.load(orCreateAt: fixture.keyPath)

        let newRing = try KeyRing.rotate(fileAt: fixture.keyPath)
        // Before it noticed, the server still seals with the old key, and opens what another process sealed with the new.
        let commandLine = try fixture.open(cacheBytes: 0)
        let between = try await commandLine.signIn("megan", at: fixture.clock)
        #expect(try await server.session(between) != nil)
        _ = await server.noticeOutsideChanges(since: nil)
        #expect(server.sealer.ring.currentKeyID == newRing.currentKeyID)

        #expect(try await commandLine.reseal() == 3)  // Claims, refresh and access token.
        #expect(try await commandLine.reseal() == 0)
        #expect(nonce() == "nonce-of-pending", "what the browser has was sealed with the older key")
        try fixture.setKeyFileBack()
        #expect(try await commandLine.retireOlderKeys().retired == [oldRing.currentKeyID])
        _ = await server.noticeOutsideChanges(since: nil)
        #expect(server.sealer.ring.keyIDs == [newRing.currentKeyID])
        #expect(try await server.session(old)?.currentAccount(for: "ios")?.id == "adele.tenant")
        #expect(nonce() == nil)
        await commandLine.close()
        await server.close()

        let reopened = try fixture.open()
        #expect(try await reopened.session(old) != nil)
        await reopened.close()
        #expect(throws: StoreError.cannotUnseal(Sealer.keyMissing(newRing.currentKeyID, fixture.path))) {
            try fixture.open(keyRing: oldRing)
        }
    }

    @Test func `a lost key is named when the file is opened`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        await store.close()
        let key = try Data(contentsOf: URL(fileURLWithPath: fixture.keyPath))
        try FileManager.default.removeItem(atPath: fixture.keyPath)
        do {
            _ = try fixture.open()
            Issue.record("opened with another key")
        } catch let error as StoreError {
            guard case .cannotUnseal(let reason) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(reason.contains("Put the old key file back"))
            #expect(reason.contains("move the database away"))
        }
        // Putting it back is enough.
        try key.write(to: URL(fileURLWithPath: fixture.keyPath))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: fixture.keyPath)
        let again = try fixture.open()
        #expect(try await again.session(id) != nil)
    }

    @Test func `a store whose key sealed nothing opens with a new key`() async throws {
        let fixture = try StoreFixture()
        await (try fixture.open()).close()
        try FileManager.default.removeItem(atPath: fixture.keyPath)
        await (try fixture.open()).close()
    }
}
