public import EventLoop
import Foundation
public import Logging
import Synchronization

/// An HTTP/1.1 server on the workers of an event loop. Each worker has a listener, and a connection stays on its
/// worker.
///
/// Create it, call `start()`, and call `stop(grace:)` before the workers are shut down.
public final class HTTPServer: Sendable {
    /// Descriptors that are reserved for everything except clients' connections.
    private static let reservedDescriptors = 64

    private enum State {
        case new
        case running([Lane])
        case stopped
    }

    private let configuration: ServerConfiguration
    private let workers: WorkerGroup
    private let responder: any Responder
    private let logger: Logger
    private let state = Mutex(State.new)

    /// Creates a server that does not listen yet.
    /// - Parameters:
    ///   - configuration: The address to listen on, limits and deadlines.
    ///   - workers: The event loop.
    ///   - responder: The application.
    ///   - logger: The log for the server as a whole; requests go to `configuration.onRequestEnd`.
    public init(
        configuration: ServerConfiguration, workers: WorkerGroup, responder: any Responder, logger: Logger
    ) {
        self.configuration = configuration
        self.workers = workers
        self.responder = responder
        self.logger = logger
    }

    /// Binds, listens and accepts.
    /// - Parameter sockets: Listening sockets to use instead of binding, as passed on by a service manager. They
    ///   outlive this process, so that a client that connects between two processes waits instead of being refused.
    /// - Parameter prepare: Runs after the address is bound and before a connection is accepted. It returns a reason not
    ///   to serve; nil if there is none.
    /// - Returns: The bound port.
    public func start(
        inheriting sockets: [Int32] = [], beforeAccepting prepare: () async -> String? = { nil }
    ) async throws(ServerError) -> Int {
        let isFirst = state.withLock { state in
            guard case .new = state else { return false }
            state = .running([])
            return true
        }
        guard isFirst else { throw .alreadyStarted }
        do throws(ServerError) {
            let (port, lanes) = try await listen(inheriting: sockets, beforeAccepting: prepare)
            let isWanted = state.withLock { state in
                guard case .running = state else { return false }
                state = .running(lanes)
                return true
            }
            // The server was stopped while it was starting.
            if !isWanted { for lane in lanes { await lane.stop(grace: .zero) } }
            return port
        } catch {
            state.withLock { $0 = .new }
            throw error
        }
    }

    private func listen(
        inheriting inherited: [Int32], beforeAccepting prepare: () async -> String?
    ) async throws(ServerError) -> (port: Int, lanes: [Lane]) {
        let count = workers.workers.count
        let (port, sockets) =
            inherited.isEmpty
            ? try ListeningSockets.open(host: configuration.host, port: configuration.port, workers: count)
            : try ListeningSockets.adopt(inherited, workers: count)
        if let reason = await prepare() {
            for socket in sockets.joined() { close(socket) }
            throw .notPrepared(reason)
        }
        let shared = SharedState(
            configuration: configuration, maxConnections: maxConnections(), responder: responder, logger: logger)
        let lanes = workers.workers.map { Lane(worker: $0, shared: shared) }
        for (lane, sockets) in zip(lanes, sockets) {
            let problem = await lane.worker.perform { _ in lane.listen(on: sockets) }
            if let problem {
                for lane in lanes { await lane.stop(grace: .zero) }
                throw .cannotListen(address: configuration.host, reason: problem.description)
            }
        }
        return (port, lanes)
    }

    /// Continues to serve, but closes each connection after its response. A proxy then has no connection left on which
    /// a request could meet the stop, even if it does not notice that a server is about to leave.
    public func announceStop() async {
        for lane in runningLanes { await lane.announceStop() }
    }

    /// Stops accepting, closes idle connections at once, lets requests in progress finish (with `Connection: close`)
    /// for at most `grace`, then cancels and cuts the rest, and returns when everything has ended.
    /// - Parameter idleGrace: The time for which idle connections stay open, for requests that are already on their
    ///   way.
    public func stop(grace: Duration, idleGrace: Duration = .zero) async {
        let lanes = state.withLock { state -> [Lane] in
            defer { state = .stopped }
            guard case .running(let lanes) = state else { return [] }
            return lanes
        }
        await withTaskGroup(of: Void.self) { group in
            for lane in lanes { group.addTask { await lane.stop(grace: grace, idleGrace: idleGrace) } }
        }
    }

    /// Closes the connections that wait for their next request, so that clients must open new ones. This is for
    /// failures on demand: many clients silently repeat a request when a connection that they used before is closed.
    public func closeIdleConnections() async {
        for lane in runningLanes { await lane.closeIdle() }
    }

    /// The number of open connections.
    public var connectionCount: Int { runningLanes.first?.shared.connectionCount ?? 0 }

    private var runningLanes: [Lane] {
        state.withLock { state in if case .running(let lanes) = state { lanes } else { [] } }
    }

    private func maxConnections() -> Int {
        let wanted = max(1, configuration.limits.maxConnections)
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return wanted }
        let possible = Int(clamping: limit.rlim_cur) - min(Self.reservedDescriptors, Int(clamping: limit.rlim_cur) / 2)
        guard possible < wanted else { return wanted }
        logger.warning(
            "the descriptor limit allows \(possible) connections instead of \(wanted); raise it (ulimit -n, LimitNOFILE=)"
        )
        return max(1, possible)
    }
}
