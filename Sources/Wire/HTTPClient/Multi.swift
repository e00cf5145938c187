import CCurl
import EventLoop

/// libcurl's multi handle of one worker, which opens connections. The worker watches its sockets, and provides its one
/// timer. Confined to the worker.
final class Multi {
    /// libcurl closes idle connections beyond this number, and takes all of ours for idle. The pool limits them.
    private static let maxConnections = 1 << 20

    /// TLS sessions, which are resumed from one connection to the next.
    let sessions: TLSSessions
    private let worker: Worker
    private var raw: UnsafeMutableRawPointer?
    private var sockets: [Int32: CurlSocket] = [:]
    private var timer: TimerID?

    /// This runs once for the process, before any other thread uses libcurl.
    private static let initializeLibrary: CURLcode = curl_global_init(Int(CURL_GLOBAL_ALL))

    init(worker: Worker) {
        self.worker = worker
        _ = Self.initializeLibrary
        sessions = TLSSessions()
    }

    /// Makes libcurl open the connection of `handle`, and calls `OutgoingConnection.connected` afterwards. Returns
    /// false when libcurl refuses.
    func connect(_ handle: EasyHandle) -> Bool {
        guard let multi = raw ?? open() else { return false }
        return curl_multi_add_handle(multi, handle.raw) == CURLM_OK
    }

    /// Closes the connection of `handle`, which is no longer watched.
    func disconnect(_ handle: EasyHandle) {
        if let raw { curl_multi_remove_handle(raw, handle.raw) }
    }

    /// Ends everything, when no connection is left.
    func close() {
        if let raw { curl_multi_cleanup(raw) }
        raw = nil
        timer.map { _ = worker.cancelTimer($0) }
        for socket in sockets.values { socket.watch.map { worker.unwatch($0) } }
        sockets = [:]
    }

    private func open() -> UnsafeMutableRawPointer? {
        guard let multi = curl_multi_init() else { return nil }
        let me = Unmanaged.passUnretained(self).toOpaque()
        let callbacks = ccurl_multi_set_callbacks(
            multi,
            { _, socket, interest, context, _ in
                context.map { Unmanaged<Multi>.fromOpaque($0).takeUnretainedValue().watch(socket, interest) }
                return 0
            },
            { _, milliseconds, context in
                context.map { Unmanaged<Multi>.fromOpaque($0).takeUnretainedValue().setTimer(milliseconds) }
                return 0
            }, me)
        guard callbacks == CURLM_OK,
            ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, Self.maxConnections) == CURLM_OK
        else {
            curl_multi_cleanup(multi)
            return nil
        }
        raw = multi
        return multi
    }

    // MARK: Callbacks of libcurl

    /// Watches `fd` for the events that libcurl waits for. This is called within libcurl, which must not be called from
    /// here.
    private func watch(_ fd: Int32, _ interest: Int32) {
        guard interest != CURL_POLL_REMOVE else {
            if let watch = sockets.removeValue(forKey: fd)?.watch { worker.unwatch(watch) }
            return
        }
        var readiness: Readiness = []
        if interest & CURL_POLL_IN != 0 { readiness.insert(.read) }
        if interest & CURL_POLL_OUT != 0 { readiness.insert(.write) }
        if let watch = sockets[fd]?.watch {
            if worker.update(watch, for: readiness) { return }
            // The number already belongs to another socket.
            worker.unwatch(watch)
        }
        let socket = CurlSocket(fd: fd, multi: self)
        // Without a watch the transfer ends at its deadline.
        socket.watch = try? worker.watch(fd, for: readiness, socket)
        sockets[fd] = socket
    }

    /// Replaces libcurl's only timer; -1 only cancels it. A timer of 0 ms runs after the events of the batch.
    private func setTimer(_ milliseconds: Int) {
        timer.map { _ = worker.cancelTimer($0) }
        timer = nil
        guard milliseconds >= 0 else { return }
        timer = worker.addTimer(after: .milliseconds(milliseconds)) { [unowned self] in
            timer = nil
            act(on: CURL_SOCKET_BAD, 0)
        }
    }

    /// Lets libcurl handle a socket or its timer, and reports connections that are open or have failed.
    fileprivate func act(on fd: Int32, _ ready: Int32) {
        guard let raw else { return }
        var running: Int32 = 0
        curl_multi_socket_action(raw, fd, ready, &running)
        var left: Int32 = 0
        while let message = curl_multi_info_read(raw, &left)?.pointee {
            guard message.msg == CURLMSG_DONE, let handle = EasyHandle.owning(message.easy_handle) else { continue }
            handle.connection?.connected(message.data.result)
        }
    }
}

/// A socket of libcurl, while it is watched.
private final class CurlSocket: ReadinessHandler {
    private let fd: Int32
    private let multi: Multi
    var watch: Watch?

    init(fd: Int32, multi: Multi) {
        self.fd = fd
        self.multi = multi
    }

    func ready(_ readiness: Readiness, on worker: Worker) {
        var ready: Int32 = 0
        if readiness.contains(.read) { ready |= CURL_CSELECT_IN }
        if readiness.contains(.write) { ready |= CURL_CSELECT_OUT }
        if readiness.contains(.error) { ready |= CURL_CSELECT_ERR }
        multi.act(on: fd, ready)
    }
}

/// libcurl's share handle for TLS sessions. The handles that use it retain it, because it must outlive them.
final class TLSSessions {
    let raw: UnsafeMutableRawPointer?

    init() {
        raw = curl_share_init()
        // Without this, each handshake is a full one.
        raw.map { _ = ccurl_share_set_long($0, CURLSHOPT_SHARE, Int(CURL_LOCK_DATA_SSL_SESSION.rawValue)) }
    }

    deinit { raw.map { _ = curl_share_cleanup($0) } }
}
