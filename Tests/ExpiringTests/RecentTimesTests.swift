import Foundation
import Testing

@testable import Expiring

@Suite struct RecentTimesTests {
    private func after(_ seconds: Double) -> Date { Date(timeIntervalSince1970: 1_800_000_000 + seconds) }

    @Test func `the window slides, and refused times do not count`() {
        var times = RecentTimes<String>(most: 3, within: 60, maxKeys: 10)
        let counted = [0.0, 10, 30].allSatisfy { times.add("a", now: after($0)) == nil }
        let refused = [40.0, 59].map { times.add("a", now: after($0)) }
        let another = times.add("b", now: after(40))
        #expect(counted && refused == [20, 1] && another == nil)
        let first = times.add("a", now: after(60))
        let second = times.add("a", now: after(60))
        #expect(first == nil && second == 10)
        times.forget("a")
        let forgotten = times.add("a", now: after(60))
        #expect(forgotten == nil)
    }

    @Test func `times of a clock that was set back since do not count`() {
        var times = RecentTimes<String>(most: 1, within: 60, maxKeys: 10)
        let counted = [3600.0, 0].allSatisfy { times.add("a", now: after($0)) == nil }
        let refused = times.add("a", now: after(1))
        #expect(counted && refused == 59)
    }

    @Test func `too many keys push out the one that was counted longest ago`() {
        var times = RecentTimes<Int>(most: 1, within: 60, maxKeys: 2)
        let counted = [1, 2, 3].allSatisfy { times.add($0, now: after(0)) == nil }
        let kept = [3, 2].map { times.add($0, now: after(1)) }
        let pushedOut = times.add(1, now: after(1))
        #expect(counted && kept == [59, 59] && pushedOut == nil)
    }
}
