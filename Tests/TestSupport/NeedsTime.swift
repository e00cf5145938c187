import Foundation
public import Testing

extension Trait where Self == ConditionTrait {
    /// Leaves a test out where `TEST_WITHOUT` is `time`, as it is in the run that decides: it waits for seconds to pass,
    /// needs much of the machine, or takes long for what it shows. `deploy/test all` runs it afterwards, alone.
    ///
    /// - Parameter reason: follows "needs time: ", by which the harness knows it.
    public static func needsTime(_ reason: String) -> Self {
        let isLeftOut = ProcessInfo.processInfo.environment["TEST_WITHOUT"] == "time"
        return .enabled(if: !isLeftOut, "needs time: \(reason)")
    }
}
