import EventLoop
import Foundation
import Logging
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("What survives the process")
struct StateTests {
    @Test func `tokens, keys, sign-on, consent and revocations survive a restart`() async throws {
        let path = try TestTenant.temporaryPath()
        defer { TestTenant.remove(path) }
        let clock = TestTenant.Clock()
        struct Kept: Sendable {
            var access, refresh, usedRefresh, revoked, usedCode, freshCode: String?
            var keys: JSONValue?
            var cookies: [String: String]
        }
        let kept = try await TestTenant.run(stateFile: path, clock: clock) {
            (tenant: TestTenant) async throws -> Kept in
            let browser = tenant.browser()
            let revoked = try await browser.tokens("megan@contoso.example").member("refresh_token")
            _ = try await browser.control(["revoke": "megan@contoso.example", "access_token_seconds": 7000])
            let (answer, _) = try await browser.signIn("adele@contoso.example")
            let tokens = try await browser.redeem(answer["code"])
            _ = try await browser.control(["refresh_token_single_use": true])
            let usedRefresh = try await browser.tokens("adele@contoso.example").member("refresh_token")
            for _ in 0..<2 { _ = try await browser.refresh(usedRefresh) }
            return Kept(
                access: tokens.member("access_token"), refresh: tokens.member("refresh_token"),
                usedRefresh: usedRefresh, revoked: revoked,
                usedCode: answer["code"], freshCode: try await browser.signIn("adele@contoso.example").answer["code"],
                keys: try await browser.get("/\(Tenant.contoso)/discovery/v2.0/keys").json?["keys"]?.withoutIssuers,
                cookies: await browser.cookies)
        }
        try await TestTenant.run(stateFile: path, clock: clock) { (tenant: TestTenant) async throws -> Void in
            let browser = tenant.browser()
            // Here the tenant has another port than before, which the cookies' names carry.
            let port = try #require(tenant.tenant.baseURL.split(separator: ":").last)
            let cookies = kept.cookies.map { ($0.key.replacing(/-[0-9]+-/, with: "-\(port)-"), $0.value) }
            await browser.use(Dictionary(cookies) { $1 })
            #expect(try await browser.me(kept.access).status == 200)
            #expect(try await browser.refresh(kept.refresh).status == 200)
            #expect(try await browser.refresh(kept.revoked).number == 50173)
            #expect(try await browser.refresh(kept.usedRefresh).number == 50173)
            #expect(try await browser.signIn("adele@contoso.example").pages == [])
            #expect(try await browser.redeem(kept.usedCode).number == 54005)
            #expect(try await browser.redeem(kept.freshCode).status == 200)
            #expect(
                try await browser.get("/\(Tenant.contoso)/discovery/v2.0/keys").json?["keys"]?.withoutIssuers
                    == kept.keys)
            // Failures on demand do not outlive the process.
            #expect(try await browser.get("/control").json?["access_token_seconds"] == .null)
        }
    }

    @Test func `only the owner can read the state file, whatever the umask and the file before`() async throws {
        let path = try TestTenant.temporaryPath()
        defer { TestTenant.remove(path) }
        try await TestTenant.run(stateFile: path) { (tenant) async throws in
            chmod(path, 0o644)
            _ = try await tenant.browser().signIn("adele@contoso.example")
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(!FileManager.default.fileExists(atPath: "\(path).new"))
        }
    }

    @Test func `a file that is not a state file stops the start, and is left alone`() throws {
        let path = try TestTenant.temporaryPath()
        defer { TestTenant.remove(path) }
        try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
        #expect {
            try TenantState(path: path, randomBytes: { .init(repeating: 1, count: $0) }, logger: Logger(label: "t"))
        } throws: { error in
            "\(error)".contains("\(path) cannot be used") && "\(error)".contains("remove it to start again")
        }
        #expect(FileManager.default.contents(atPath: path) == Data("{}".utf8))
    }

    @Test func `without a state file the state is in memory`() async throws {
        let state = try TenantState(
            path: nil, randomBytes: { .init(repeating: 1, count: $0) }, logger: Logger(label: "t"))
        #expect(state.keys.map(\.forConsumers) == [false, false, true, true])
        #expect(state.keys[0].id != state.keys[1].id)
    }

    @Test func `a state file without keys gets them at the next start, for good`() throws {
        let path = try TestTenant.temporaryPath()
        defer { TestTenant.remove(path) }
        let unfinished = TenantState.Record(sealingKey: Data(repeating: 1, count: 32), keys: [])
        try JSONEncoder().encode(unfinished).write(to: URL(fileURLWithPath: path))
        func keys() throws -> [DemoSigningKey] {
            try TenantState(
                path: path, randomBytes: { .init(repeating: 2, count: $0) }, logger: Logger(label: "t")
            ).keys
        }
        let made = try keys()
        #expect(made.map(\.forConsumers) == [false, false, true, true])
        #expect(try keys().map(\.id) == made.map(\.id))
    }

    /// The path of a copy of the state file that an earlier version wrote, with one key of each kind and no certificate.
    private static func earlierFile(_ version: String) throws -> String {
        let path = try TestTenant.temporaryPath()
        let earlier = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Upgrade/\(version)/sqlite/tenant.json").standardized
        try FileManager.default.copyItem(at: earlier, to: URL(fileURLWithPath: path))
        return path
    }

    private static func start(_ path: String, sync: @escaping StateFile.Sync = { fsync($0) }) throws -> TenantState {
        try TenantState(
            path: path, randomBytes: { .init(repeating: 2, count: $0) }, sync: sync, logger: Logger(label: "t"))
    }

    @Test(arguments: ["0.1.0", "0.2.0"])
    func `the file of an earlier version gets the certificates and keys that it lacks, for good`(
        _ version: String
    ) throws {
        let path = try Self.earlierFile(version)
        defer { TestTenant.remove(path) }
        let before = try #require(try StateFile.load(path)).keys
        #expect(before.map(\.forConsumers) == [false, true] && before.allSatisfy { $0.certificate == nil })
        let first = try Self.start(path)
        #expect(first.keys.map(\.forConsumers) == [false, true, false, true])
        #expect(Set(first.keys.map(\.id)).count == 4)
        #expect(first.newestKey(forConsumers: false)?.id == before.first?.id, "the known keys go on signing")
        #expect(first.newestKey(forConsumers: true)?.id == before.last?.id)
        #expect(try StateFile.load(path)?.keys.map(\.certificate) == first.keys.map(\.stored.certificate))
        let published = first.keys.map { $0.jwk(issuer: nil, cloud: "") }
        #expect(try Self.start(path).keys.map { $0.jwk(issuer: nil, cloud: "") } == published)
    }

    @Test func `the file of an earlier version can be used where it cannot be written`() throws {
        let path = try Self.earlierFile("0.2.0")
        defer { TestTenant.remove(path) }
        let state = try Self.start(path) { _ in
            errno = EIO
            return -1
        }
        #expect(state.keys.count == 4)
        #expect(try StateFile.load(path)?.keys.count == 2)
    }

    @Test func `the host has to be the loopback's`() throws {
        let workers = try WorkerGroup(count: 1)
        #expect(throws: DemoTenantError.self) {
            try DemoTenant(
                configuration: DemoTenantConfiguration(
                    host: "0.0.0.0", clients: [], publicFolder: TestTenant.publicFolder),
                workers: workers, logger: Logger(label: "t"))
        }
    }

    @Test func `a sealed value opens only unchanged, for its purpose and with its key`() throws {
        let sealer = DemoSealer(key: .init(repeating: 1, count: 32))
        let text = try sealer.seal(["a": 1], for: .code)
        #expect(sealer.open(text, for: .code, as: [String: Int].self) == ["a": 1])
        #expect(sealer.open(text, for: .refreshToken, as: [String: Int].self) == nil)
        #expect(sealer.open(text + "AAAA", for: .code, as: [String: Int].self) == nil)
        #expect(sealer.open(String(text.dropLast(4)), for: .code, as: [String: Int].self) == nil)
        #expect(sealer.open("", for: .code, as: [String: Int].self) == nil)
        #expect(sealer.open("not base64url!", for: .code, as: [String: Int].self) == nil)
        let other = DemoSealer(key: .init(repeating: 2, count: 32))
        #expect(other.open(text, for: .code, as: [String: Int].self) == nil)
    }
}

extension JSONValue {
    /// Keys without the issuer, whose port differs after a restart.
    fileprivate var withoutIssuers: JSONValue {
        guard case .array(let keys) = self else { return self }
        return .array(keys.map { .object(($0.object ?? [:]).filter { $0.key != "issuer" }) })
    }
}
