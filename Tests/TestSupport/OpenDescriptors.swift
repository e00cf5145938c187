import Foundation

/// Returns the number of this process's open descriptors. There is sometimes one more, which the runtime opens briefly.
public func openDescriptors() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? -1
}

/// The number of descriptors that this process may open once it has raised its limit.
public var possibleDescriptors: Int { Int(clamping: descriptorLimit().rlim_max) }

/// Lets this process open as many descriptors as possible.
public func raiseDescriptorLimit() {
    var limit = descriptorLimit()
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

private func descriptorLimit() -> rlimit {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return limit
}
