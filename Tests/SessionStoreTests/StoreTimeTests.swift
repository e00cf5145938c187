import Foundation
import StoreTesting
import Testing

@testable import SessionStore

/// The time that counts for sessions when the machine's clock is wrong. Times are seconds after the beginning.
@Suite struct StoreTimeTests {
    private let clock = StoreClock()
    private let start = StoreClock().now.milliseconds

    /// With an idle time of ten minutes.
    private func time(openedAt known: Int64? = nil, isClustered: Bool = false) -> StoreTime {
        StoreTime(clock.clocks, opening: known.map { start + $0 * 1000 }, isClustered: isClustered, idle: 600_000)
    }

    private func seconds(_ time: StoreTime) -> [Int64] { [time.now, time.deleting].map { ($0 - start) / 1000 } }

    /// As the background work does each second.
    private func look(_ time: StoreTime, for seconds: Int) -> Bool {
        (0..<seconds).reduce(false) { wentBack, _ in
            clock.advance(by: .seconds(1))
            guard time.look() != nil else { return wentBack }
            time.broughtBack()
            return true
        }
    }

    @Test func `a server's own steady clock goes on, as fast as the machine's`() {
        let before = Date()
        let start = Clocks().steady()
        let end = Date().addingTimeInterval(0.05)
        while Date() < end {}
        let passed = Clocks().steady().timeIntervalSince(start)
        #expect(passed > 0.02)
        #expect(passed < Date().timeIntervalSince(before) + 0.02)
    }

    @Test func `a jump ahead counts at once, and deletes only when it has lasted for the idle time`() {
        let time = time()
        clock.setWrong(by: .seconds(7200))
        #expect(seconds(time) == [7200, 0])
        #expect(!look(time, for: 600))
        #expect(seconds(time) == [7800, 600])
        #expect(!look(time, for: 1))
        #expect(seconds(time) == [7801, 7801])
    }

    @Test func `a jump that is taken back in time changes nothing, and is noticed`() {
        let time = time()
        clock.setWrong(by: .seconds(7200))
        #expect(!look(time, for: 599))
        clock.setWrong(by: .zero)
        #expect(seconds(time) == [599, 599])
        #expect(look(time, for: 1))
        #expect(!look(time, for: 700), "once")
        // The next one starts from 0.
        clock.setWrong(by: .seconds(7200))
        #expect(!look(time, for: 300))
        #expect(seconds(time) == [8800, 1600])
    }

    @Test func `two jumps ahead that did not last delete nothing`() {
        let time = time()
        for jump in [7200, 14_400] {
            clock.setWrong(by: .seconds(jump))
            _ = look(time, for: 400)
        }
        #expect(seconds(time) == [15_200, 800])
    }

    @Test func `a clock that is set back is not followed, however long it stays so`() {
        let time = time()
        clock.setWrong(by: .seconds(-7200))
        #expect(!look(time, for: 1200))
        #expect(time.now == start + 1_200_000)
        #expect(time.deleting == start - 6_000_000, "what is older than both clocks say")
    }

    @Test func `a server that starts with a wrong clock deletes by the time that the place knows`() {
        clock.setWrong(by: .seconds(7200))
        let time = time(openedAt: -60)
        #expect(seconds(time) == [7200, -60])
        clock.setWrong(by: .zero)
        _ = look(time, for: 1)
        #expect(seconds(time) == [1, -59], "it is there again")
        _ = look(time, for: 601)
        #expect(seconds(time) == [602, 602])
        #expect(seconds(self.time(openedAt: 86_400)) == [602, 602], "what the place knows may be wrong too")
    }

    @Test
    func `a jump ahead is undone only by a return to the time before, and any other time must last for the idle time`()
    {
        let time = time(openedAt: -604_800)
        clock.setWrong(by: .seconds(-7200))
        #expect(!look(time, for: 599))
        #expect(seconds(time) == [-6601, -604_201])
        clock.setWrong(by: .zero)
        #expect(!look(time, for: 1), "it was right before")
        clock.setWrong(by: .seconds(7200))
        #expect(!look(time, for: 60))
        clock.setWrong(by: .seconds(3600))
        #expect(!look(time, for: 60), "it may be this that is wrong")
        clock.setWrong(by: .zero)
        clock.advance(by: .seconds(1))
        for _ in 0..<2 { #expect(time.look() == time.now, "until it is brought back") }
        clock.setWrong(by: .seconds(-7200))
        #expect(time.look() == nil, "not to a time that may be wrong")
        #expect(!look(time, for: 599))
        #expect(look(time, for: 1), "it has lasted")
        #expect(!look(time, for: 700), "once")
    }

    @Test(arguments: [false, true])
    func `a time noted ahead at the start, or before it, counts as ahead for the idle time`(
        _ isBefore: Bool
    ) {
        clock.setWrong(by: .seconds(isBefore ? 0 : 7200))
        let time = time(openedAt: isBefore ? 7200 : -60)
        #expect(!look(time, for: 10))
        clock.setWrong(by: .zero)
        #expect(!look(time, for: isBefore ? 589 : 600))
        #expect(look(time, for: 1))
        #expect(!look(time, for: 700), "once")
    }

    @Test func `a clustered place's clock is the time, whatever the machine's says`() {
        clock.setWrong(by: .seconds(7200))
        let time = time(isClustered: true)
        #expect(seconds(time) == [0, 0])
        #expect(time.wallAhead == 7_200_000)
        #expect(self.time().wallAhead == nil)
    }

    @Test func `a place's clock is measured between question and answer, unless the answer took long`() {
        let clock = clock
        let clocks = Clocks(wall: { clock.now + 50 }, steady: { clock.now })
        let time = StoreTime(clocks, opening: start + 100_000, isClustered: true, idle: 600_000)
        #expect(seconds(time) == [100, 100])
        #expect(time.wallAhead == -50_000)
        clock.advance(by: .seconds(1))
        time.measured(start + 200_500, after: start)
        #expect(seconds(time) == [201, 101])
        clock.advance(by: .seconds(2))
        time.measured(start + 900_000, after: start + 1000)
        #expect(seconds(time) == [203, 103])
    }
}
