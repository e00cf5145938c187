import Foundation
import GRDB
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore
@testable import SessionStore

/// A child process signs people in and out, 200 at once, and reports each answer; at a seeded moment it is killed as
/// `kill -9` does. Whatever it had reported must be there afterwards.
@Suite(.closesStores, .serialized) struct CrashTests {
    /// The kill comes so many microseconds after so many answers.
    @Test(arguments: [(0, 1_000), (0, 30_000), (1, 0), (1, 777), (40, 1_234), (150, 0), (150, 3_210), (400, 555)])
    func `nothing that was answered is lost when the process is killed`(answers: Int, microseconds: Int) async throws {
        let fixture = try StoreFixture()
        // Twice on the same file: the second child begins with what the first left behind.
        for _ in 0..<2 {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [folder = fixture.folder as String, answers, microseconds] in
                try await CrashingWriter(folder, killAfter: answers, microseconds).run()
            }
            let store = try fixture.open()
            let answered = try CrashingWriter.answers(fixture.folder)
            for (cookie, user, isSignedOut) in answered {
                let id = try #require(SessionID(cookieValue: cookie))
                let session = try #require(try await store.session(id), "\(user) was answered")
                if isSignedOut {
                    #expect(session.accounts.isEmpty, "\(user)'s sign-out was answered")
                    continue
                }
                let account = try #require(session.currentAccount(for: "ios"))
                #expect(account.id == "\(user).tenant")
                let token = try await store.accessToken(of: session.key(of: account), scopes: ["user.read"])
                #expect(token?.secret == "access-\(user)")
                #expect(
                    try await store.refreshToken(of: session.key(of: account)) == "refresh-\(user)")
            }
            #expect(answered.count >= answers)
            await store.close()
            let (integrity, strays) = try await fixture.outsider().read { db in
                (
                    try String.fetchAll(db, sql: "PRAGMA integrity_check"),
                    try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").count
                )
            }
            #expect(integrity == ["ok"])
            #expect(strays == 0)
        }
    }
}

/// The child's side.
final class CrashingWriter: Sendable {
    private let folder: String
    private let killAfter: Int
    private let microseconds: Int
    private let file: Int32
    private let reported = Shared(0)

    init(_ folder: String, killAfter: Int, _ microseconds: Int) {
        self.folder = folder
        self.killAfter = killAfter
        self.microseconds = microseconds
        file = open(folder + "/answers", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    }

    func run() async throws {
        if killAfter == 0 { killSoon() }
        let clock = StoreClock()
        let ring = try KeyRing.load(orCreateAt: folder + "/companion.key")
        let store = SessionStore(
            backend: try SQLiteStore(path: folder + "/companion.sqlite", keyRing: ring),
            configuration: .init(idle: .seconds(3600), maxAge: .seconds(7200)), keyRing: ring, clocks: clock.clocks)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for person in 0..<200 {
                group.addTask {
                    for round in 0... {
                        let user = "u\(getpid())-\(person)-\(round)"
                        let id = try await store.signIn(user, at: clock)
                        // Every third signs out again: then that is the answer.
                        guard person.isMultiple(of: 3), let key = try await store.session(id)?.key else {
                            self.report("\(id.cookieValue) \(user) in\n")
                            continue
                        }
                        let next = try await store.removeAccount(
                            AccountKey(session: key, app: "ios", id: "\(user).tenant"), keepAsPrevious: false)
                        self.report("\(next.cookieValue) \(user) out\n")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// One `write` for each line: it is in the file, whole, when the call returns, and a kill does not take it back.
    private func report(_ line: String) {
        let bytes = Array(line.utf8)
        guard write(file, bytes, bytes.count) == bytes.count else { return }
        if reported.change({ $0 += 1 }) == killAfter { killSoon() }
    }

    private func killSoon() {
        Thread.detachNewThread { [microseconds] in
            usleep(UInt32(microseconds))
            kill(getpid(), SIGKILL)
        }
    }

    static func answers(_ folder: String) throws -> [(cookie: String, user: String, isSignedOut: Bool)] {
        guard let text = try? String(contentsOfFile: folder + "/answers", encoding: .utf8) else { return [] }
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            return words.count == 3 ? (words[0], words[1], words[2] == "out") : nil
        }
    }
}
