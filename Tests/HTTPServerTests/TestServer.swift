import EventLoop
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import Synchronization

/// The application of most tests.
struct TestResponder: Responder {
    static let bigAsset = Asset(
        body: Array(repeating: 0x2E, count: 8 << 20), contentType: "application/octet-stream")
    static let page = Asset(body: Array(repeating: 0x2D, count: 60_000), contentType: "text/plain")
    let gate = Gate()

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        switch head.path {
        case "/hello": .response(text("hello"))
        case "/peer": .response(text(peer.ip))
        case "/big": .asset(Self.bigAsset)
        case "/page": .asset(Self.page)
        case "/echo":
            .handler(maxBodyBytes: 100) { request in text(String(decoding: request.body, as: UTF8.self)) }
        case "/yielding":
            .handler(maxBodyBytes: 100) { request in
                for _ in 0..<10 { await Task.yield() }
                return text("yielded \(request.head.query ?? "")")
            }
        case "/gate":
            .handler(maxBodyBytes: 0) { _ in
                await gate.pass()
                return text(Task.isCancelled ? "cancelled" : "passed")
            }
        case "/sink": .handler(maxBodyBytes: 1 << 20) { _ in text("") }
        case "/worker": .handler(maxBodyBytes: 0) { _ in text(Worker.current == nil ? "elsewhere" : "on a worker") }
        case "/nothing": .response(Response(status: .noContent, headerFields: [.contentType: "text/plain"]))
        case "/status-100": .response(Response(status: .init(code: 100)))
        default:
            .response(Response(status: .notFound, headerFields: [.contentType: "text/plain"], body: Array("?".utf8)))
        }
    }
}

func text(_ text: String) -> Response {
    Response(status: .ok, headerFields: [.contentType: "text/plain"], body: Array(text.utf8))
}

/// A gate at which handlers wait until a test lets them pass, or until they are cancelled.
final class Gate: Sendable {
    private struct State {
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var entered = 0
        var cancelled = 0
        var isOpen = false
    }
    private let state = Mutex(State())

    var waiting: Int { state.withLock { $0.waiting.count } }
    /// The number of those that have come, wherever they are now.
    var entered: Int { state.withLock { $0.entered } }
    var cancelled: Int { state.withLock { $0.cancelled } }

    func pass() async {
        let number = state.withLock { state in
            state.entered += 1
            return state.entered
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    if state.isOpen || Task.isCancelled { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                state.cancelled += 1
                return state.waiting.removeValue(forKey: number)
            }
            continuation?.resume()
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// As in the product the workers outlive the servers.
enum SharedWorkers {
    private static let groups = Mutex<[Int: WorkerGroup]>([:])

    static func group(of count: Int) throws -> WorkerGroup {
        try groups.withLock { groups in
            if let group = groups[count] { return group }
            let group = try WorkerGroup(count: count)
            groups[count] = group
            return group
        }
    }
}

/// Runs a server for the time of a test.
func withServer<Answer>(
    _ responder: any Responder = TestResponder(), workers: Int = 2, inheriting sockets: [Int32] = [],
    configure: (inout ServerConfiguration) -> Void = { _ in },
    _ test: (_ port: Int, _ server: HTTPServer) async throws -> Answer
) async throws -> Answer {
    var configuration = ServerConfiguration()
    if Transport.isTLS { configuration.certificate = try TestCertificate.server() }
    configure(&configuration)
    let usesTLS = configuration.certificate != nil
    let group = try SharedWorkers.group(of: workers)
    var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    logger.logLevel = .critical
    let server = HTTPServer(configuration: configuration, workers: group, responder: responder, logger: logger)
    do {
        let port = try await server.start(inheriting: sockets)
        TestCertificate.use(usesTLS, atPort: port)
        // Another server may get the port next.
        defer { TestCertificate.use(false, atPort: port) }
        let answer = try await test(port, server)
        await server.stop(grace: .zero)
        return answer
    } catch {
        await server.stop(grace: .zero)
        throw error
    }
}

/// A listening socket of our own, on a free port of the loopback.
/// - Parameter sendBuffer: the size of its connections' send buffers in bytes, or the least that the kernel allows.
func listeningSocket(sendBuffer: Int32? = nil) throws -> Int32 {
    let socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if var sendBuffer {
        setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &sendBuffer, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let bound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    guard bound == 0, listen(socket, 128) == 0 else { throw RawClient.Failure.system("listen", code: errno) }
    return socket
}

/// Values that come in on other threads.
final class Gathered<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    var all: [Value] { values.withLock { $0 } }

    func add(_ value: Value) { values.withLock { $0.append(value) } }
}
