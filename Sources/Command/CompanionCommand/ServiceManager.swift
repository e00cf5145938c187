import EventLoop
import Foundation

/// The interface to a service manager: it hands over listening sockets that outlive a restart (sd_listen_fds(3)), and is
/// notified when the server is ready, stopping and alive (sd_notify(3)). Without a service manager, nothing happens.
struct ServiceManager: Sendable {
    private static let firstInherited: Int32 = 3
    /// The longest that a manager which does not read may keep us.
    private static let patience = timeval(tv_sec: 1, tv_usec: 0)

    /// The name of sockets (`FileDescriptorName=`) for `tls.redirect_listen`.
    private static let redirectName = "redirect"

    /// Listening sockets to take over; empty when the server binds its own.
    let sockets: [Int32]
    /// The same for `tls.redirect_listen`.
    let redirectSockets: [Int32]
    private let address: String?
    private let watchdogInterval: Duration?

    init(environment: [String: String]) {
        address = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
        let isForUs = environment["LISTEN_PID"].flatMap { Int32($0) } == getpid()
        let count = isForUs ? environment["LISTEN_FDS"].flatMap { Int32($0) } ?? 0 : 0
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        let all = (0..<min(max(count, 0), 16)).map { ServiceManager.firstInherited + $0 }
        redirectSockets = zip(all, names).filter { $1 == ServiceManager.redirectName }.map(\.0)
        sockets = all.filter { [redirectSockets] in !redirectSockets.contains($0) }
        let isWatched = environment["WATCHDOG_PID"].map { Int32($0) == getpid() } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        // The interval is half the watchdog's time, which sd_watchdog_enabled(3) recommends.
        watchdogInterval = isWatched && microseconds > 0 ? .microseconds(microseconds / 2) : nil
    }

    func ready(_ status: String) { notify("READY=1\nSTATUS=\(status)") }

    func stopping() { notify("STOPPING=1\nSTATUS=Finishing the requests under way") }

    /// Reports that the server is alive as long as each of its workers accepts work. Returns when it is cancelled.
    func keepAlive(_ workers: WorkerGroup) async {
        guard let watchdogInterval else { return }
        while !Task.isCancelled {
            for worker in workers.workers { await worker.perform { _ in } }
            notify("WATCHDOG=1")
            try? await Task.sleep(for: watchdogInterval)
        }
    }

    /// Sends one datagram. A failure is ignored, because the manager notices a missing notification.
    private func notify(_ message: String) {
        guard let address else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var patience = ServiceManager.patience
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        var path = Array(address.utf8)
        // A name with @ is abstract and begins with a zero byte (unix(7)).
        if path.first == UInt8(ascii: "@") { path[0] = 0 }
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        guard path.count < MemoryLayout.size(ofValue: name.sun_path) else { return }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path) }
        let length = socklen_t(start + path.count)
        let bytes = Array(message.utf8)
        withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
