import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// The names of accounts in the audit log.
@Suite(.closesStores) struct PseudonymTests {
    private static let host = "login.microsoftonline.com"

    @Test(arguments: TestedBackend.allCases)
    func `an account's name is the same at every start and after a rotation, until the old key is retired`(
        _ backend: TestedBackend
    )
        async throws
    {
        let fixture = try StoreFixture(backend)
        func name() async throws -> Pseudonym {
            let store = try fixture.open()
            let name = store.pseudonym(ofAccount: "uid.utid", environment: Self.host)
            await store.close()
            return name
        }
        let first = try await name()
        #expect(try await name() == first)
        _ = try KeyRing.rotate(fileAt: fixture.keyPath)
        #expect(try await name() == first)
        _ = try KeyRing.rotate(fileAt: fixture.keyPath)
        #expect(try await name() == first)
        let store = try fixture.open()
        try fixture.setKeyFileBack()
        _ = try await store.retireOlderKeys()
        await store.close()
        #expect(try await name() != first)
    }

    @Test(arguments: TestedBackend.allCases)
    func `another account, another cloud and another installation have other names`(_ backend: TestedBackend) throws {
        func name(_ id: String, _ host: String, key: UInt8) throws -> String {
            let ring = try KeyRing(text: Data(repeating: key, count: 32).base64EncodedString())
            return Pseudonym("\(host)\n\(id)", key: ring.pseudonymKey).description
        }
        let names = try [
            name("uid.utid", Self.host, key: 1), name("uid.utie", Self.host, key: 1),
            name("uid.utid", "login.microsoftonline.us", key: 1), name("uid.utid", Self.host, key: 2),
        ]
        #expect(Set(names).count == 4)
        for name in names { #expect(name.wholeMatch(of: /[0-9a-f]{32}/) != nil) }
    }

    @Test(arguments: TestedBackend.allCases) func `an account keeps its name from sign-in to sign-out`(
        _ backend: TestedBackend
    ) async throws {
        let fixture = try StoreFixture(backend)
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let account = try #require(try await store.session(id)?.accounts.first)
        let name = store.pseudonym(of: account)
        #expect(name == store.pseudonym(ofAccount: account.id, environment: account.identity.environment))
        let ended = try await store.removeSessions(
            issuer: account.identity.issuer, sid: nil, subject: account.identity.subject)
        #expect(ended.map(\.pseudonym) == [name])
        #expect(ended.map(\.app) == [account.app])
    }
}
