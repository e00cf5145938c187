import Expiring
import Foundation
import Testing

@Suite struct ExpiringMapTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)
    private func after(_ seconds: TimeInterval) -> Date { start.addingTimeInterval(seconds) }

    @Test func `an entry is there until its end and not at it`() {
        var map = ExpiringMap<String, Int>(maxCount: 2)
        map.set(1, for: "a", until: after(10), now: start)
        #expect(map.value(for: "a", now: after(9.9)) == 1)
        #expect(map.value(for: "a", now: after(10)) == nil)
        #expect(map.value(for: "b", now: start) == nil)
    }

    @Test func `expired entries go when a new one comes, however much room there is`() {
        var map = ExpiringMap<Int, Int>(maxCount: 1_000)
        for number in 0..<100 { map.set(number, for: number, until: after(10), now: start) }
        #expect(map.count == 100)
        map.set(100, for: 100, until: after(20), now: after(10))
        #expect(map.count == 1)
    }

    @Test func `the entry that was set longest ago makes room`() {
        var map = ExpiringMap<String, Int>(maxCount: 2)
        for (number, key) in ["a", "b"].enumerated() { map.set(number, for: key, until: after(10), now: start) }
        map.set(5, for: "a", until: after(10), now: start)
        let takesThird = map.set(6, for: "c", until: after(10), now: start)
        #expect(takesThird)
        #expect(map.value(for: "b", now: start) == nil)
        #expect(map.value(for: "a", now: start) == 5)
        #expect(map.count == 2)
    }

    @Test func `a map that refuses newcomers keeps what it has and takes changes`() {
        var map = ExpiringMap<String, Int>(maxCount: 2, whenFull: .refusesNewcomers)
        map.set(1, for: "a", until: after(100), now: start)
        map.set(2, for: "b", until: after(10), now: start)
        let takesNewcomer = map.set(3, for: "c", until: after(10), now: start)
        #expect(!takesNewcomer)
        #expect(map.value(for: "c", now: start) == nil)
        let takesChange = map.set(4, for: "a", until: after(100), now: start)
        #expect(takesChange)
        #expect(map.value(for: "b", now: start) == 2)
        let takesLater = map.set(3, for: "c", until: after(20), now: after(10))
        #expect(takesLater, "b, behind the front of the queue, has ended")
        #expect(map.value(for: "a", now: after(10)) == 4)
        #expect(map.value(for: "c", now: after(10)) == 3)
    }

    @Test func `bytes are bounded, and what is too large alone is refused`() {
        var map = ExpiringMap<String, Int>(maxCount: 100, maxBytes: 10)
        let takesTooLarge = map.set(0, for: "large", cost: 11, until: after(10), now: start)
        #expect(!takesTooLarge)
        for (number, key) in ["a", "b", "c"].enumerated() {
            let takesEach = map.set(number, for: key, cost: 4, until: after(10), now: start)
            #expect(takesEach)
        }
        #expect(map.value(for: "a", now: start) == nil)
        #expect(map.bytes == 8)
        let takesGrown = map.set(9, for: "b", cost: 10, until: after(10), now: start)
        #expect(takesGrown)
        #expect(map.bytes == 10)
        #expect(map.count == 1)
        map.remove("b")
        #expect(map.bytes == 0)
    }

    @Test func `entries that match a predicate go, together with all that have expired`() {
        var map = ExpiringMap<Int, Int>(maxCount: 100)
        for key in 0..<10 { map.set(key, for: key, cost: 1, until: after(key < 3 ? 1 : 10), now: start) }
        map.removeAll(now: after(1)) { _, value in value % 2 == 0 }
        #expect((0..<10).filter { map.value(for: $0, now: after(1)) != nil } == [3, 5, 7, 9])
        #expect(map.bytes == 4)
    }

    @Test func `a change in place updates the cost, renews the end and makes the entry the newest`() {
        var map = ExpiringMap<String, [Int]>(maxCount: 2, maxBytes: 10)
        func append(_ number: Int, to key: String, at time: TimeInterval) -> Bool {
            map.update(key, initially: [], until: after(time + 10), now: after(time)) { list in
                list.append(number)
                return list.count * 2
            }
        }
        let takesAll = append(1, to: "a", at: 0) && append(2, to: "b", at: 1) && append(3, to: "a", at: 2)
        #expect(takesAll)
        #expect(map.value(for: "a", now: after(11)) == [1, 3], "it ends ten seconds after its last change")
        #expect(map.bytes == 6)
        map.set([], for: "c", until: after(12), now: after(3))
        #expect(map.value(for: "b", now: after(3)) == nil, "a was changed later")
        let takesEnded = append(4, to: "a", at: 12)
        #expect(takesEnded)
        #expect(map.value(for: "a", now: after(12)) == [4], "what has ended begins anew")
    }

    @Test func `an entry that a change makes too large is gone, and a full map still lets its own entries grow`() {
        var map = ExpiringMap<String, Int>(maxCount: 9, maxBytes: 10, whenFull: .refusesNewcomers)
        func cost(_ key: String, _ bytes: Int) -> Bool {
            map.update(key, initially: 0, until: after(10), now: start) { _ in bytes }
        }
        let takesTwo = cost("a", 5) && cost("b", 5)
        let takesThird = cost("c", 1)
        let takesGrowth = cost("b", 6)
        #expect(takesTwo && !takesThird && takesGrowth)
        #expect(map.bytes == 6)
        let takesTooLarge = cost("b", 11)
        #expect(!takesTooLarge)
        #expect(map.count == 0 && map.bytes == 0)
    }

    /// Against a dictionary and a list, for 20,000 seeded steps.
    @Test func `the map agrees with an obvious implementation`() {
        var seed: UInt64 = 7
        func random(_ bound: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % bound
        }
        var map = ExpiringMap<Int, Int>(maxCount: 20)
        var obvious: [(key: Int, value: Int, end: Date)] = []
        var now = start
        for step in 0..<20_000 {
            now = now.addingTimeInterval(Double(random(3)))
            let key = random(40)
            switch random(4) {
            case 0:
                map.remove(key)
                obvious.removeAll { $0.key == key }
            case 1:
                let end = now.addingTimeInterval(60)
                map.set(step, for: key, until: end, now: now)
                obvious.removeAll { $0.key == key || $0.end <= now }
                obvious.append((key, step, end))
                if obvious.count > 20 { obvious.removeFirst() }
            default:
                let expected = obvious.first { $0.key == key && $0.end > now }?.value
                guard map.value(for: key, now: now) == expected else {
                    Issue.record("step \(step): key \(key)")
                    return
                }
            }
        }
    }
}
