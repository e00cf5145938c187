import EventLoop
import Foundation
import HTTPTypes
import SQLiteStore
import SessionStore
import Synchronization
import TestSupport
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// The audit log has the acts of people and operators, and nothing that tells strangers who they are.
@Suite struct AuditTests {
    private static let meganID = "48d31887-5fad-4d73-a9f5-3c356e68a038"
    private static let megan = "megan@contoso.example"
    private static let events: Set<String> = [
        "signed_in", "refused", "signed_out", "account_removed", "profile_edited", "admin_consented",
        "signed_out_by_provider", "session_ended_by_operator", "keys_rotated", "limit_reached", "no_longer_admitted",
        "app_only_token_used",
    ]

    @Test func `the events have the names that readers of the log rely on`() {
        #expect(Set(AuditEvent.allCases.map(\.rawValue)) == Self.events)
    }

    @Test func `one pseudonym joins the lines of a person, and other people have other pseudonyms`() async throws {
        try await Site.runAudited { site, visitor, audit in
            try await visitor.signIn(app: "ios")
            try await visitor.signIn(app: "macos")
            let other = Visitor(site)
            try await other.signIn(app: "ios", username: Self.megan)
            _ = try await visitor.api(.post, "/auth/ios/sign-out")
            let account = try await visitor.api(.get, "/api/macos/account").json["account"] as? [String: Any]
            let id = try #require(account?["id"] as? String)
            #expect(try await visitor.api(.delete, "/api/macos/accounts/\(id)").status == 204)

            let lines = try audit.all()
            #expect(
                lines.map { $0["event"] } == ["signed_in", "signed_in", "signed_in", "signed_out", "account_removed"])
            #expect(lines.map { $0["application"] } == ["ios", "macos", "ios", "ios", "macos"])
            #expect(lines.allSatisfy { $0["outcome"] == "ok" && $0["request_id"] != nil && $0["time"] != nil })
            let adele = try #require(lines.first?["account"])
            #expect(adele.wholeMatch(of: /[0-9a-f]{32}/) != nil)
            #expect(lines.map { $0["account"] == adele } == [true, true, false, true, true])
            let session = try #require(lines.first?["session"])
            #expect(lines.map { $0["session"] == session } == [true, true, false, true, true])
            // The request's own line has the same id.
            let asked = try #require(lines[3]["request_id"])
            #expect(site.log.all.contains { $0.contains("/auth/{app}/sign-out") && $0.contains(asked) })

            let text = try audit.text()
            let secrets = [visitor, other].flatMap(\.everything).flatMap { answer in
                answer.fields[values: .setCookie].map { String($0.split(separator: ";")[0].split(separator: "=")[1]) }
            }
            for word in secrets + ["adele", "megan", "contoso", "127.0.0.1", "eyJ", id, String(id.prefix(36))] {
                #expect(word.isEmpty || !text.lowercased().contains(word.lowercased()), "\(word.prefix(8))")
            }
        }
    }

    @Test func `a refused sign-in is logged with its code, and with the person where they are known`() async throws {
        try await Site.runAudited(configured: { $0.applications[1].allowed.users = [.object(id: Self.meganID)] }) {
            site, visitor, audit in
            try await visitor.signIn(app: "ios", consent: "cancel")
            try await visitor.signIn(app: "ios")
            try await visitor.signIn(app: "macos")
            let lines = try audit.all()
            #expect(lines.map { $0["event"] } == ["refused", "signed_in", "refused"])
            #expect(lines.map { $0["outcome"] } == ["cancelled", "ok", "access_denied"])
            #expect(lines[0]["account"] == nil)
            #expect(lines[2]["account"] == lines[1]["account"])
            #expect(lines[2]["application"] == "macos")
        }
    }

    @Test func `a sign-in that could not be stored is logged as refused`() async throws {
        try await Site.runAudited { site, visitor, audit in
            let back = try await visitor.walkToCallback()
            let refusal = "CREATE TRIGGER refusal BEFORE INSERT ON account BEGIN SELECT RAISE(ABORT, 'no'); END;\n"
            _ = try SQLiteShell.run(site.database, refusal)
            _ = try await visitor.api(.get, try #require(back.location))
            let lines = try audit.all()
            #expect(lines.map { $0["event"] } == ["refused"])
            #expect(lines.first?["outcome"] == "storage_unavailable")
            #expect(lines.first?["account"] != nil)
        }
    }

    @Test func `a sign-out by the provider is logged with a line for each account`() async throws {
        try await Site.runAudited(configured: { $0.tokenDisplay = .full }) { site, visitor, audit in
            try await visitor.signIn(app: "provider")
            try await visitor.signIn(app: "contoso")
            let claims = try await visitor.api(.get, "/api/provider/claims").json
            let fields = ["iss", "sid"].map { ($0, claims[$0] as? String ?? "") }
            _ = try await Visitor(site).get("/auth/front-channel-logout?" + FormEncoding.encode(fields))
            let ended = try audit.all().filter { $0["event"] == "signed_out_by_provider" }
            #expect(Set(ended.map { $0["application"] }) == ["provider", "contoso"])
            let signedIn = try audit.all().filter { $0["event"] == "signed_in" }
            #expect(Set(ended.map { $0["account"] }) == Set(signedIn.map { $0["account"] }))
            #expect(Set(ended.map { $0["session"] }) == Set(signedIn.map { $0["session"] }))
        }
    }

    @Test func `user flows and an administrator's consent are written down`() async throws {
        try await Site.runAudited { _, visitor, audit in
            let person = "b2cuser@fabrikamb2c.example"
            try await visitor.signIn(app: "b2c", username: person)
            try await visitor.signIn(app: "b2c", query: "policy=edit_profile", username: person)
            let consent = try await visitor.get("/auth/ios/admin-consent?tenant=contoso.example")
            _ = try await visitor.follow(try #require(consent.location), username: "adele@contoso.example")
            #expect(try audit.all().map { $0["event"] } == ["signed_in", "profile_edited", "admin_consented"])
        }
    }

    @Test func `the running server writes that it follows a new key, and pseudonyms stay`() async throws {
        try await Site.runAudited { site, visitor, audit in
            try await visitor.signIn()
            let ring = try KeyRing.rotate(fileAt: site.folder.appendingPathComponent("companion.key").path)
            func rotations() throws -> [String?] {
                try audit.all().filter { $0["event"] == "keys_rotated" }.map { $0["key"] }
            }
            let end = ContinuousClock.now + .seconds(20)
            while try rotations().isEmpty, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(50)) }
            #expect(try rotations() == [ring.currentKeyID.description])
            try await site.restart()
            try await visitor.signIn()
            let accounts = try audit.all().filter { $0["event"] == "signed_in" }.map { $0["account"] }
            #expect(accounts.count == 2)
            #expect(Set(accounts).count == 1)
            #expect(try rotations().count == 1)
        }
    }

    // MARK: Where it is written

    @Test func `without a file the lines go to the log at level info`() async throws {
        try await Site.run { site in
            try await Visitor(site).signIn()
            let lines = site.log.all.filter { $0.contains("signed_in") }
            #expect(lines.count == 1)
            #expect(lines.first?.hasPrefix("info audit ") == true)
        }
    }

    @Test func `only its owner can read the file, and a new one follows one that was moved away`() async throws {
        try await Site.runAudited { site, visitor, audit in
            try await visitor.signIn()
            #expect(FileAccess(audit.path)?.mode == 0o600)
            #expect(!site.log.all.contains { $0.contains("signed_in") })
            try FileManager.default.moveItem(atPath: audit.path, toPath: audit.path + ".1")
            _ = try await visitor.api(.post, "/auth/ios/sign-out")
            #expect(try audit.all().map { $0["event"] } == ["signed_out"])
            #expect(FileAccess(audit.path)?.mode == 0o600)
            // Another server, or the same one after a restart, appends to the file.
            try await site.restart()
            try await visitor.signIn()
            #expect(try audit.all().map { $0["event"] } == ["signed_out", "signed_in"])
        }
    }

    @Test func `a file that cannot be written fails no request, and the lines go to the log`() async throws {
        try await Site.runAudited { site, visitor, audit in
            try FileManager.default.removeItem(atPath: audit.path)
            try FileManager.default.createDirectory(atPath: audit.path, withIntermediateDirectories: false)
            #expect(try await visitor.signIn().location == "/ios")
            let lines = site.log.all
            #expect(
                lines.contains { $0.hasPrefix("error The audit log \(audit.path) cannot be written: Is a directory.") })
            #expect(lines.contains { $0.hasPrefix("info audit ") && $0.contains("signed_in") })
            try FileManager.default.removeItem(atPath: audit.path)
            _ = try await visitor.api(.post, "/auth/ios/sign-out")
            #expect(try audit.all().map { $0["event"] } == ["signed_out"])
        }
    }

    @Test(arguments: ["/nowhere/audit.log", "/dev/null", "/tmp"])
    func `the server does not start with a file that it cannot write`(path: String) async throws {
        await #expect(throws: AuditFile.Failure.self) {
            try await Site.run(configured: { $0.auditLogFile = path }) { _ in }
        }
    }

    @Test func `a line that broke off does not spoil the next one`() throws {
        let lines = AuditLines()
        defer { lines.remove() }
        // A full disk takes the beginning of the second line.
        let file = try AuditFile(lines.path, mayMake: true) { descriptor, bytes in
            write(descriptor, bytes, bytes.starts(with: Array(#"{"event":"two"#.utf8)) ? 4 : bytes.count)
        }
        try file.append(Array(#"{"event":"one"}"#.utf8))
        #expect(throws: AuditFile.Failure.self) { try file.append(Array(#"{"event":"two"}"#.utf8)) }
        try file.append(Array(#"{"event":"three"}"#.utf8))
        let text = try lines.text().split(separator: "\n").map(String.init)
        #expect(text == [#"{"event":"one"}"#, #"{"ev"#, #"{"event":"three"}"#])
    }

    @Test func `a disk that hangs holds up who acted, and no thread of theirs`() async throws {
        let lines = AuditLines()
        defer { lines.remove() }
        let disk = DispatchSemaphore(value: 0)
        let file = try AuditFile(lines.path, mayMake: true) { descriptor, bytes in
            disk.holdThread("a write to the disk")
            return write(descriptor, bytes, bytes.count)
        }
        let audit = AuditLog(logger: LogLines().logger, file: file, now: { Date() })
        let workers = try WorkerGroup(count: 1)
        let isAnswered = Atomic(false)
        let act = Task(executorPreference: workers.workers[0]) {
            await audit.write(.signedIn, application: "ios")
            isAnswered.store(true, ordering: .relaxed)
        }
        // The only worker goes on, before and behind the line.
        await workers.workers[0].perform { _ in audit.limitReached("sign_ins", application: nil) }
        _ = await workers.workers[0].perform { _ in 0 }
        let isEarly = isAnswered.load(ordering: .relaxed)
        #expect(!isEarly)
        #expect(try lines.all().isEmpty)
        for _ in 0..<2 { disk.signal() }
        await act.value
        #expect(try lines.all().first?["event"] == "signed_in")
        #expect(await eventually { (try? lines.all().map { $0["event"] }) == ["signed_in", "limit_reached"] })
        await workers.shutdown()
    }

    @Test func `a limit is written with its name`() async throws {
        let lines = AuditLines()
        defer { lines.remove() }
        let audit = try AuditLog(logger: LogLines().logger, file: lines.path, now: { Date() })
        audit.limitReached("sign_ins_per_minute", application: "ios")
        // Nobody waits for that line, but this one comes behind it.
        await audit.write(.refused)
        let line = try #require(try lines.all().first)
        #expect(line["event"] == "limit_reached")
        #expect(line["outcome"] == "sign_ins_per_minute")
        #expect(line["application"] == "ios")
    }

    @Test func `the command line writes beside the server, and makes no file`() async throws {
        try await Site.runAudited { site, visitor, audit in
            try await visitor.signIn()
            let key = try #require(try audit.all().first?["session"].flatMap(SessionKey.init))
            try AuditLog(besideServerOf: site.configuration)?.endedByCommandLine([key])
            let line = try #require(try audit.all().last)
            #expect(line["event"] == "session_ended_by_operator")
            #expect(line["ended_session"] == key.description)
            #expect(line["by"] == "command_line")
            var configuration = site.configuration
            configuration.auditLogFile = nil
            #expect(try AuditLog(besideServerOf: configuration) == nil)
            configuration.auditLogFile = audit.path + ".nowhere"
            #expect(throws: AuditFile.Failure.self) { try AuditLog(besideServerOf: configuration) }
            #expect(!FileManager.default.fileExists(atPath: audit.path + ".nowhere"))
        }
    }
}

/// An audit log's file, in a folder of its own.
struct AuditLines: Sendable {
    private let folder: URL
    var path: String { folder.appendingPathComponent("audit.log").path }

    init() {
        folder = TemporaryFolder.ofProcess.appendingPathComponent("companion-audit-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func text() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// Every line, each of which is a JSON object of texts.
    func all() throws -> [[String: String]] {
        try text().split(separator: "\n").map { try JSONDecoder().decode([String: String].self, from: Data($0.utf8)) }
    }

    func remove() { TemporaryFolder.remove(folder) }
}

extension Site {
    /// A site with an audit log of its own, whose second application is a portal, and a browser.
    static func runAudited(
        configured configure: (inout CompanionConfiguration) -> Void = { _ in },
        _ test: (Site, Visitor, AuditLines) async throws -> Void
    ) async throws {
        let lines = AuditLines()
        defer { lines.remove() }
        try await run(configured: { configuration in
            configuration.applications[1].page = .portal
            configuration.auditLogFile = lines.path
            configure(&configuration)
        }) { site in
            try await test(site, Visitor(site), lines)
        }
    }
}
