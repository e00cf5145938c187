import Foundation

/// Returns the number of this process's open descriptors. There is sometimes one more, which the runtime opens briefly.
public func openDescriptors() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? -1
}
