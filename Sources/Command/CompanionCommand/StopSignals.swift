import Dispatch
import Foundation

/// Catches SIGTERM, SIGINT and SIGHUP (a terminal that is closed) from its creation on. It is created before the server
/// announces that it runs. An earlier signal ends the process with the usual status of a killed process.
struct StopSignals {
    private let signals: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    /// Returns when both are caught. Dispatch takes a moment for that, in which a signal must not be lost.
    init() async {
        let (signals, continuation) = AsyncStream<Void>.makeStream()
        self.signals = signals
        var sources: [any DispatchSourceSignal] = []
        for number in [SIGTERM, SIGINT, SIGHUP] where !StopSignals.isIgnored(number) {
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

    /// Whether who started this process wants it to outlive the signal, as nohup(1) does.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Returns at the first signal.
    func wait() async {
        for await _ in signals { break }
        sources.forEach { $0.cancel() }
    }
}
