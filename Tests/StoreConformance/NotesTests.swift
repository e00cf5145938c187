import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// Notes about sessions that servers on the same place keep for each other.
@Suite(.closesStores) struct NotesTests {
    /// Two servers, or the only one twice, and somebody who has signed in at the first.
    private static func run(
        _ backend: TestedBackend, _ test: (StoreFixture, [SessionStore], SessionKey) async throws -> Void
    ) async throws {
        let fixture = try StoreFixture(backend)
        let first = try fixture.open()
        let stores = [first, TestedBackend.clustered.contains(backend) ? try fixture.open() : first]
        let id = try await stores[0].signIn("adele", at: fixture.clock)
        try await test(fixture, stores, try #require(try await stores[0].session(id)?.key))
        await first.close()
        if stores[1] !== first { await stores[1].close() }
    }

    private static func texts(_ store: SessionStore, _ session: SessionKey) async throws -> [String] {
        try await store.notes(of: session).map(\.text)
    }

    @Test(arguments: TestedBackend.clustered)
    func `all servers read the notes of each one, in the order in which they were made`(_ backend: TestedBackend)
        async throws
    {
        try await Self.run(backend) { (fixture, stores, session) async throws in
            for number in 0..<6 {
                stores[number % 2].note(SessionNote(app: "ios", text: "ä \(number)\u{0}"), of: session)
                // Servers go by their clocks.
                fixture.clock.advance(by: .seconds(1))
            }
            for store in stores { await store.settleNotes() }
            let expected = (0..<6).map { "ä \($0)\u{0}" }
            for store in stores { #expect(try await Self.texts(store, session) == expected) }
            #expect(try await stores[0].notes(of: session).map(\.app) == Array(repeating: "ios", count: 6))
            await stores[1].forgetNotes(of: session)
            #expect(try await Self.texts(stores[0], session).isEmpty)
        }
    }

    @Test(arguments: TestedBackend.clustered)
    func `a note is written by itself, and a reader sees what the same server noted before`(_ backend: TestedBackend)
        async throws
    {
        try await Self.run(backend) { (_, stores, session) async throws in
            stores[0].note(SessionNote(app: "ios", text: "one"), of: session)
            #expect(try await Self.texts(stores[0], session) == ["one"])
            stores[0].note(SessionNote(app: "ios", text: "two"), of: session)
            let end = ContinuousClock.now + .seconds(20)
            var read: [String] = []
            while read.count < 2, ContinuousClock.now < end { read = try await Self.texts(stores[1], session) }
            #expect(read == ["one", "two"])
        }
    }

    @Test(arguments: TestedBackend.clustered)
    func `the oldest notes make room, a newcomer's sooner, and after an hour there are none`(_ backend: TestedBackend)
        async throws
    {
        try await Self.run(backend) { fixture, stores, session in
            let stranger = try await stores[0].consume(try await stores[0].begin("s")).session
            for (key, count) in [(session, 300), (stranger, 100)] {
                for number in 0..<count { stores[0].note(SessionNote(app: "ios", text: "\(number)"), of: key) }
            }
            await stores[0].settleNotes()
            // Every sixteenth has the oldest looked for.
            let kept = try await Self.texts(stores[1], session)
            let ofStranger = try await Self.texts(stores[1], stranger)
            #expect((SignInRules.maxNotes..<SignInRules.maxNotes + 16).contains(kept.count))
            #expect(kept.last == "299")
            #expect((SignInRules.maxNotesOfNewcomer..<SignInRules.maxNotesOfNewcomer + 16).contains(ofStranger.count))
            #expect(ofStranger.last == "99")
            fixture.clock.advance(by: .seconds(3601))
            #expect(try await Self.texts(stores[1], session).isEmpty)
            _ = try await stores[0].purgeExpired()
            #expect(try await fixture.count("session_note") == 0)
        }
    }

    @Test(arguments: TestedBackend.clustered)
    func `trips are limited at all servers together, until there is progress or the time is over`(
        _ backend: TestedBackend
    ) async throws {
        try await Self.run(backend) { (fixture, stores, session) async throws in
            func trip(_ number: Int, app: String = "ios") async throws -> Duration? {
                try await stores[number % 2].countTrip(of: session, app: app, most: 3, within: .seconds(60))
            }
            for number in 0..<3 {
                #expect(try await trip(number) == nil)
                fixture.clock.advance(by: .seconds(10))
            }
            #expect(try await trip(3) == .seconds(30))
            #expect(try await trip(0, app: "macos") == nil)
            fixture.clock.advance(by: .seconds(31))
            #expect(try await trip(4) == nil)
            #expect(try await trip(5) != nil)
            stores[0].note(SessionNote(.progress, app: "ios"), of: session)
            #expect(try await trip(0) == nil)
            #expect(try await trip(1) == nil)
        }
    }

    @Test(arguments: TestedBackend.clustered)
    func `only three of many simultaneous trips at both servers go ahead`(_ backend: TestedBackend) async throws {
        try await Self.run(backend) { _, stores, session in
            let admitted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        try await stores[number % 2].countTrip(
                            of: session, app: "ios", most: 3, within: .seconds(60)) == nil
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(admitted == 3)
        }
    }

    @Test(arguments: TestedBackend.allCases)
    func `an answer that was posted to one server is found at another, for a minute`(_ backend: TestedBackend)
        async throws
    {
        try await Self.run(backend) { fixture, stores, _ in
            let handle = try #require(try await stores[0].keepAnswer("code=1", state: "s", from: [1]))
            #expect(try await stores[1].answer(handle) == "code=1")
            #expect(try await stores[1].keepAnswer("code=2", state: "s", from: [1]) == handle)
            #expect(try await stores[0].answer(handle) == "code=2")
            #expect(try await stores[0].answer("unknown") == nil)
            #expect(try await stores[0].keepAnswer("code=2", state: "t", from: [1]) != handle)
            fixture.clock.advance(by: .seconds(61))
            #expect(try await stores[0].answer(handle) == nil)
            _ = try await stores[0].purgeExpired()
            if backend != .sqlite { #expect(try await fixture.count("posted_answer") == 0) }
        }
    }

    @Test(arguments: TestedBackend.allCases)
    func `unfetched answers are bounded in bytes, and kept ones stay`(_ backend: TestedBackend)
        async throws
    {
        try await Self.run(backend) { _, stores, _ in
            let text = String(repeating: "x", count: 64 << 10)
            let first = try #require(try await stores[0].keepAnswer(text, state: "0", from: [0]))
            var kept = 1
            while kept < 64, try await stores[1].keepAnswer(text, state: "\(kept)", from: [UInt8(kept)]) != nil {
                kept += 1
            }
            #expect((30...32).contains(kept), "two megabytes")
            #expect(try await stores[0].answer(first) == text)
        }
    }

    // In PostgreSQL the bound is the same rule's, and a thousand writes take long.
    @Test(arguments: TestedBackend.allCases.filter(TestedBackend.immediate.contains))
    func `without room, new answers are refused and kept ones stay`(_ backend: TestedBackend)
        async throws
    {
        try await Self.run(backend) { (fixture, stores, _) async throws in
            func keep(_ number: Int, _ text: String = "code") async throws -> String? {
                try await stores[number % 2].keepAnswer(
                    text, state: "\(number)", from: [UInt8(number / 256), UInt8(number % 256)])
            }
            let first = try #require(try await keep(0))
            for number in 1..<1_000 { #expect(try await keep(number) != nil) }
            #expect(try await keep(1_000) == nil)
            #expect(try await keep(0, "new") == first)
            #expect(try await stores[0].answer(first) == "new")
            fixture.clock.advance(by: .seconds(60))
            #expect(try await keep(1_000) != nil)
        }
    }

    @Test(arguments: TestedBackend.allCases)
    func `a hundred answers of one address are kept at all servers together, and the oldest makes room`(
        _ backend: TestedBackend
    ) async throws {
        try await Self.run(backend) { fixture, stores, _ in
            let other = try #require(try await stores[0].keepAnswer("other", state: "other", from: [2]))
            var handles: [String] = []
            for number in 0...100 {
                handles.append(
                    try #require(try await stores[number % 2].keepAnswer("\(number)", state: "\(number)", from: [1])))
                fixture.clock.advance(by: .milliseconds(100))
            }
            #expect(try await stores[0].answer(handles[0]) == nil)
            for number in 1...100 { #expect(try await stores[0].answer(handles[number]) == "\(number)") }
            // One that comes again takes no other's place.
            #expect(try await stores[0].keepAnswer("again", state: "100", from: [1]) == handles[100])
            #expect(try await stores[1].answer(handles[1]) == "1")
            #expect(try await stores[1].answer(other) == "other")
        }
    }

    @Test(arguments: TestedBackend.allCases)
    func `an address has a tenth of the bytes of all answers, and its oldest make room`(_ backend: TestedBackend)
        async throws
    {
        try await Self.run(backend) { fixture, stores, _ in
            let text = String(repeating: "x", count: 64 << 10)
            let other = try #require(try await stores[0].keepAnswer(text, state: "other", from: [2]))
            var handles: [String] = []
            for number in 0..<40 {
                handles.append(
                    try #require(try await stores[number % 2].keepAnswer(text, state: "\(number)", from: [1])))
                fixture.clock.advance(by: .milliseconds(100))
            }
            for (number, handle) in handles.enumerated() {
                #expect(try await stores[0].answer(handle) == (number < 37 ? nil : text), "\(number)")
            }
            #expect(try await stores[0].answer(other) == text)
        }
    }

    @Test func `a server that is alone stores no notes, answers or trips`() async throws {
        let fixture = try StoreFixture(.sqlite)
        let store = try fixture.open()
        let id = try await store.signIn("adele", at: fixture.clock)
        let session = try #require(try await store.session(id)?.key)
        let writes = fixture.writes
        store.note(SessionNote(app: "ios", text: "one"), of: session)
        await store.settleNotes()
        #expect(try await store.notes(of: session).isEmpty)
        let handle = try #require(try await store.keepAnswer("code=1", state: "s", from: [1]))
        #expect(try await store.answer(handle) == "code=1")
        for _ in 0..<5 {
            #expect(try await store.countTrip(of: session, app: "ios", most: 3, within: .seconds(60)) == nil)
        }
        #expect(fixture.writes == writes)
    }
}
