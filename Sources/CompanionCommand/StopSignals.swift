import Dispatch
import Foundation

/// Catches SIGTERM and SIGINT from its creation on. It is created before the server announces that it runs. An earlier
/// signal ends the process with the usual status of a killed process.
struct StopSignals {
    private let signals: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    /// Returns when both are caught. Dispatch takes a moment for that, in which a signal must not be lost.
    init() async {
        let (signals, continuation) = AsyncStream<Void>.makeStream()
        self.signals = signals
        var sources: [any DispatchSourceSignal] = []
        for number in [SIGTERM, SIGINT] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            await withCheckedContinuation { caught in
                source.setRegistrationHandler { caught.resume() }
                source.resume()
            }
            sources.append(source)
        }
        self.sources = sources
    }

    /// Returns at the first signal.
    func wait() async {
        for await _ in signals { break }
        sources.forEach { $0.cancel() }
    }
}
