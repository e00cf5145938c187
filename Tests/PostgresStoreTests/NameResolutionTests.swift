import Dispatch
import StoreTesting
import TestSupport
import Testing

@testable import PostgresStore

/// Callers and the look-ups of a name for which they wait.
@Suite struct NameResolutionTests {
    @Test func `a look-up that hangs does not block later ones, and simultaneous ones share one`() async throws {
        let time = Shared(ContinuousClock.now)
        let (begun, answers) = (Shared(0), Shared([String]()))
        let hung = DispatchSemaphore(value: 0)
        let names = NameResolution(
            resolve: { _ in
                let number = begun.change { $0 += 1 }
                if number == 1 { hung.holdThread("the first look-up") }
                return ["192.0.2.\(number)"]
            }, now: { time.value })
        func ask() { names.addresses(of: "database") { found in answers.change { $0 += found } } }
        ask()
        #expect(await eventually { begun.value == 1 })
        time.change { $0 += NameResolution.patience }
        ask()
        #expect(begun.value == 1, "it has taken no longer than others may")
        time.change { $0 += .nanoseconds(1) }
        ask()
        #expect(await eventually { answers.value == Array(repeating: "192.0.2.2", count: 3) }, "it is found for all")
        ask()
        #expect(await eventually { answers.value.last == "192.0.2.3" })
        hung.signal()
    }

    @Test func `three look-ups of a name may hang, and others wait for the last of them`() async throws {
        let time = Shared(ContinuousClock.now)
        let begun = Shared(0)
        let hung = DispatchSemaphore(value: 0)
        let names = NameResolution(
            resolve: { _ in
                begun.change { $0 += 1 }
                hung.holdThread("a look-up")
                return []
            }, now: { time.value })
        let answered = Shared(0)
        for number in 1...5 {
            names.addresses(of: "database") { _ in answered.change { $0 += 1 } }
            #expect(await eventually { begun.value == min(number, 3) })
            time.change { $0 += .seconds(60) }
        }
        for _ in 1...5 { hung.signal() }
        #expect(await eventually { answered.value == 5 })
        #expect(begun.value == 3)
    }
}
