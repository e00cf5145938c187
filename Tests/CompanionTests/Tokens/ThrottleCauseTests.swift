import Testing

@testable import CompanionCore
@testable import CompanionSignIn

/// Accounts that are too fast by themselves, and all others of their client.
@Suite struct ThrottleCauseTests {
    typealias Table = ThrottleTests.Table

    @Test func `the probe after a pause is of an account that did not cause it`() throws {
        let table = try Table()
        table.pause(5)
        table.clock.advance(6)
        for account in ["1", "2", "3"] { #expect(!table.refresh(account)) }
        #expect(table.refresh("4"))
        for account in ["1", "2", "3", "5"] { #expect(table.refresh(account)) }
    }

    @Test func `an account that caused the pause is the probe when no other has been for ten seconds`() throws {
        let table = try Table()
        table.pause(5)
        table.clock.advance(5 + TokenThrottle.longestWait - 1)
        #expect(!table.refresh("1"))
        table.clock.advance(1)
        #expect(table.refresh("1"))
        #expect(table.refresh("2"))
    }

    @Test func `four accounts that get a 429 again and again pause the others twice`() throws {
        let table = try Table()
        var (refused, asked) = (0, 0)
        for second in 0..<120 {
            for account in ["1", "2", "3", "4"] { _ = table.refresh(account, Table.error(429, retryAfter: 5)) }
            asked += 1
            if !table.refresh("other\(second % 6)", in: Int64(100 + second % 6)) { refused += 1 }
            table.clock.advance(1)
        }
        // The fourth one is the first probe, and causes the second pause.
        #expect(refused <= 10, "\(refused) of \(asked) calls of others")
    }

    @Test func `others that get a 429 after their probe succeeded pause the client again`() throws {
        let table = try Table()
        table.pause(5)
        table.clock.advance(6)
        #expect(table.refresh("4"))
        for account in ["5", "6", "7"] { #expect(table.refresh(account, Table.error(429, retryAfter: 30))) }
        #expect(!table.refresh("4"))
    }
}
