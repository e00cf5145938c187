import Foundation

/// Facts from the kernel about this process and its disk, named as in Prometheus's own clients.
enum ProcessFacts {
    /// The process's start time, in seconds since 1970: proc(5), `starttime` in ticks since boot.
    static let startTime: Double? = {
        guard let stat = text("/proc/self/stat"), let boot = text("/proc/stat"),
            // The program's name stands in parentheses and may contain any character.
            let end = stat.lastIndex(of: ")"),
            let bootLine = boot.split(separator: "\n").first(where: { $0.hasPrefix("btime ") }),
            let bootTime = Double(bootLine.dropFirst(6))
        else { return nil }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 19, let ticks = Double(fields[19]) else { return nil }
        return bootTime + ticks / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    }()

    /// Resident memory in bytes: proc(5), the second number of `statm`, in pages.
    static var residentBytes: Double? {
        text("/proc/self/statm")?.split(separator: " ").dropFirst().first.flatMap { Double($0) }
            .map { $0 * Double(sysconf(Int32(_SC_PAGESIZE))) }
    }

    /// Processor time in seconds, including the kernel's.
    static var processorSeconds: Double? {
        var usage = rusage()
        guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return nil }
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }

    /// The number of open descriptors, including the one that reads the folder.
    static var openDescriptors: Int? {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count
    }

    /// The number of descriptors that the process may open.
    static var maxDescriptors: UInt? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return UInt(limit.rlim_cur)
    }

    /// Returns the file system's size and the bytes available to this user, not to root.
    static func disk(of folder: String) -> (free: Double, size: Double)? {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        return (Double(status.f_bavail) * Double(status.f_frsize), Double(status.f_blocks) * Double(status.f_frsize))
    }

    /// Returns a file of proc(5). These files have no size, so they are read to the end.
    private static func text(_ path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.readToEnd() else { return nil }
        return String(bytes: data, encoding: .utf8)
    }
}
