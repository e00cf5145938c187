import CCurl
import EventLoop

/// libcurl's multi handle of one worker: its sockets are watched by the worker, its one timer is the worker's.
///
/// `@unchecked Sendable`: everything but `worker` and `configuration` is touched on the worker only.
final class Multi: @unchecked Sendable {
    /// Idle handles kept for the next transfers; connections are kept apart from them.
    private static let maxIdleHandles = 128
    /// Idle connections kept open.
    private static let maxIdleConnections = 256

    let worker: Worker
    let configuration: HTTPClient.Configuration
    /// The connections on which we speak HTTP ourselves.
    private lazy var connections = DirectConnections(self)
    private var raw: UnsafeMutableRawPointer?
    private var sockets: [Int32: CurlSocket] = [:]
    private var timer: TimerID?
    private var idle: [EasyHandle] = []
    private var active: [ObjectIdentifier: EasyHandle] = [:]
    private var closed = false

    /// Once for the process, and before any other thread uses libcurl.
    private static let initializeLibrary: CURLcode = curl_global_init(Int(CURL_GLOBAL_ALL))

    init(worker: Worker, configuration: HTTPClient.Configuration) {
        self.worker = worker
        self.configuration = configuration
        _ = Self.initializeLibrary
    }

    // MARK: Transfers

    /// Starts `transfer`, whose end resumes its continuation.
    func start(_ transfer: Transfer) {
        if transfer.isCancelled { return transfer.finish(.failure(.cancelled("the task was cancelled"))) }
        guard !closed, !worker.isShutDown else {
            return transfer.finish(.failure(.cancelled("the client has been shut down")))
        }
        if transfer.direct != nil, connections.start(transfer) { return }
        startWithLibcurl(transfer)
    }

    /// Has libcurl do all of `transfer`, in what is left of its time.
    func startWithLibcurl(_ transfer: Transfer) {
        if transfer.direct != nil {
            do throws(HTTPClientError) {
                try transfer.leaveToLibcurl(timeout: connections.timeLeft(to: transfer))
            } catch {
                return transfer.finish(.failure(error))
            }
        }
        guard let multi = raw ?? open(), let handle = idle.popLast() ?? EasyHandle(configuration) else {
            return transfer.finish(.failure(.init(kind: .other, reason: "libcurl refused to be set up")))
        }
        let code = handle.prepare(transfer)
        guard code == CURLE_OK else {
            transfer.finish(.failure(.init(code, of: transfer, on: handle)))
            return handle.clear()
        }
        active[ObjectIdentifier(transfer)] = handle
        if curl_multi_add_handle(multi, handle.raw) != CURLM_OK {
            end(handle, .failure(.init(kind: .other, reason: "libcurl refused the transfer")))
        }
    }

    /// Ends `transfer` if it is under way.
    func cancel(_ transfer: Transfer) {
        if let connection = transfer.connection { return connection.fail(.cancelled("the task was cancelled")) }
        guard let handle = active[ObjectIdentifier(transfer)] else { return }
        end(handle, .failure(.cancelled("the task was cancelled")))
    }

    /// Ends everything, for good.
    func close() {
        guard !closed else { return }
        closed = true
        connections.close()
        for handle in active.values { end(handle, .failure(.cancelled("the client has been shut down"))) }
        idle = []
        if let raw { curl_multi_cleanup(raw) }
        raw = nil
        timer.map { _ = worker.cancelTimer($0) }
        for socket in sockets.values { socket.watch.map { worker.unwatch($0) } }
        sockets = [:]
    }

    /// Has libcurl make the connection of `handle`; `DirectConnection.connected` hears of it. Returns false when it
    /// refuses.
    func connect(_ handle: EasyHandle) -> Bool {
        guard let multi = raw ?? open() else { return false }
        return curl_multi_add_handle(multi, handle.raw) == CURLM_OK
    }

    /// Closes the connection of `handle`, which nobody watches any more.
    func disconnect(_ handle: EasyHandle) {
        if let raw { curl_multi_remove_handle(raw, handle.raw) }
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
            ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, Self.maxIdleConnections) == CURLM_OK
        else {
            curl_multi_cleanup(multi)
            return nil
        }
        raw = multi
        return multi
    }

    /// Takes `handle` out of libcurl's hands, ends its transfer, and keeps it for another.
    private func end(_ handle: EasyHandle, _ result: Result<HTTPClientResponse, HTTPClientError>) {
        if let raw { curl_multi_remove_handle(raw, handle.raw) }
        if let transfer = handle.transfer {
            active[ObjectIdentifier(transfer)] = nil
            transfer.finish(result)
        }
        handle.clear()
        if idle.count < Self.maxIdleHandles { idle.append(handle) }
    }

    // MARK: What libcurl wants of the worker

    /// Watches `fd` for what libcurl waits for. Called within libcurl, which must not be called back from here.
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
            // The number belongs to another socket by now.
            worker.unwatch(watch)
        }
        let socket = CurlSocket(fd: fd, multi: self)
        // Without a watch the transfer ends at its deadline.
        socket.watch = try? worker.watch(fd, for: readiness, socket)
        sockets[fd] = socket
    }

    /// Replaces libcurl's one timer; -1 only ends it. One of 0 ms is served after the events of the batch.
    private func setTimer(_ milliseconds: Int) {
        timer.map { _ = worker.cancelTimer($0) }
        timer = nil
        guard milliseconds >= 0 else { return }
        timer = worker.addTimer(after: .milliseconds(milliseconds)) { [unowned self] in
            timer = nil
            act(on: CURL_SOCKET_BAD, 0)
        }
    }

    /// Lets libcurl work on a socket, or on its timer, and ends what is complete.
    fileprivate func act(on fd: Int32, _ ready: Int32) {
        guard let raw else { return }
        var running: Int32 = 0
        curl_multi_socket_action(raw, fd, ready, &running)
        var left: Int32 = 0
        while let message = curl_multi_info_read(raw, &left)?.pointee {
            guard message.msg == CURLMSG_DONE, let handle = EasyHandle.owning(message.easy_handle) else { continue }
            let code = message.data.result
            handle.connection?.connected(code)
            guard let transfer = handle.transfer else { continue }
            if code == CURLE_OK, let response = transfer.response(timings: handle.timings) {
                end(handle, .success(response))
            } else {
                let code = code == CURLE_OK ? CURLE_WEIRD_SERVER_REPLY : code
                end(handle, .failure(.init(code, of: transfer, on: handle)))
            }
        }
    }
}

/// One of libcurl's sockets while it is watched.
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

extension HTTPClientError {
    static func cancelled(_ reason: String) -> HTTPClientError {
        HTTPClientError(kind: .cancelled, reason: reason)
    }
}
