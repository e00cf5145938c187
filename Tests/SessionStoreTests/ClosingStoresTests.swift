import StoreTesting
import TestSupport
import Testing

@testable import SessionStore

@Suite struct ClosingStoresTests {
    private struct Thrown: Error {}

    @Test(arguments: [false, true])
    func `a test's stores are closed when it is over, whether it passes or throws`(throwing isThrowing: Bool)
        async throws
    {
        let test = try #require(Test.current)
        let opened = Shared<SessionStore?>(nil)
        var hasThrown = false
        do {
            try await ClosingStores().provideScope(for: test, testCase: nil) {
                let store = try StoreFixture(.memory).open()
                opened.change { $0 = store }
                if isThrowing { throw Thrown() }
            }
        } catch is Thrown {
            hasThrown = true
        }
        #expect(hasThrown == isThrowing)
        let store = try #require(opened.value)
        let fixture = try StoreFixture(.memory)
        await #expect(throws: StoreError.self) { try await store.signIn("adele", at: fixture.clock) }
    }

    @Test func `a suite that opens a store has to close it`() async throws {
        #expect(throws: UnexpectedOutcome.self) { try StoreFixture(.memory).open() }
    }
}
