import EventLoop
import Foundation

/// The reason for which a server could not start.
public enum ServerError: Error, CustomStringConvertible, Equatable {
    /// The host is neither an address nor a name that has an address.
    case unknownHost(String, reason: String)
    /// The server cannot listen on the address: it is in use, not an address of this machine, or not permitted.
    case cannotListen(address: String, reason: String)
    /// `start()` was called twice.
    case alreadyStarted
    /// The work before the first request has failed, for this reason.
    case notPrepared(String)

    /// The problem and its remedy.
    public var description: String {
        switch self {
        case .unknownHost(let host, let reason):
            "cannot listen on \"\(host)\": \(reason); give an address or a known name"
        case .cannotListen(let address, let reason):
            "cannot listen on \(address): \(reason)"
        case .alreadyStarted: "the server was already started"
        case .notPrepared(let reason): reason
        }
    }
}

/// The listening sockets of every address of a host. Each address has as many as there are workers, and the kernel
/// distributes new connections among them (SO_REUSEPORT).
enum ListeningSockets {
    /// Binds and listens.
    /// - Returns: The bound port, and the sockets of each worker, which the caller must close.
    static func open(host: String, port: Int, workers: Int) throws(ServerError) -> (port: Int, sockets: [[Int32]]) {
        var sockets = [[Int32]](repeating: [], count: workers)
        var port = port
        do throws(ServerError) {
            for (index, address) in try addresses(host: host, port: port).enumerated() {
                do throws(SocketFailure) {
                    port = try open(address, port: port, into: &sockets)
                } catch {
                    // `localhost` often has an IPv6 address in the hosts file on a machine without IPv6.
                    let isMissing = error.code == EADDRNOTAVAIL || error.code == EAFNOSUPPORT
                    if index > 0 && isMissing { continue }
                    throw error.asServerError
                }
            }
        } catch {
            for socket in sockets.joined() { close(socket) }
            throw error
        }
        return (port, sockets)
    }

    /// Takes over listening sockets: each worker watches all of them, through its own descriptors.
    /// - Returns: The port of the first socket, and the sockets of each worker, which the caller must close.
    static func adopt(_ inherited: [Int32], workers: Int) throws(ServerError) -> (port: Int, sockets: [[Int32]]) {
        var sockets = [[Int32]](repeating: [], count: workers)
        var ports: [Int] = []
        do throws(ServerError) {
            for descriptor in inherited {
                let address = try listeningAddress(of: descriptor)
                ports.append(address.port)
                do throws(SocketFailure) {
                    try address.setOptions(of: descriptor)
                    for worker in sockets.indices {
                        // All but the last worker's are copies: closing one leaves the others open.
                        let copy = worker == workers - 1 ? descriptor : fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
                        guard copy >= 0 else { throw address.failure(errno) }
                        sockets[worker].append(copy)
                    }
                } catch {
                    throw error.asServerError
                }
            }
        } catch {
            for socket in sockets.joined() { close(socket) }
            throw error
        }
        return (ports.first ?? 0, sockets)
    }

    private static func listeningAddress(of descriptor: Int32) throws(ServerError) -> Address {
        var isListening: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0, isListening == 1,
            let address = Address(boundTo: descriptor)
        else {
            throw .cannotListen(
                address: "the inherited descriptor \(descriptor)", reason: "it is not a listening TCP socket")
        }
        return address
    }

    private static func open(
        _ address: Address, port: Int, into sockets: inout [[Int32]]
    ) throws(SocketFailure) -> Int {
        var address = address
        address.setPort(port)
        for worker in sockets.indices {
            let socket = try address.makeSocket()
            // The first socket of a port is bound without SO_REUSEPORT, so that a port of another process is refused
            // and not shared. Only then is it shared with the other workers' sockets.
            if worker == 0 {
                try address.bind(socket.rawValue)
                try address.set(SO_REUSEPORT, of: socket.rawValue, level: SOL_SOCKET)
                address = try address.bound(socket.rawValue)
            } else {
                try address.set(SO_REUSEPORT, of: socket.rawValue, level: SOL_SOCKET)
                try address.bind(socket.rawValue)
            }
            guard listen(socket.rawValue, 4096) == 0 else { throw address.failure(errno) }
            sockets[worker].append(socket.release())
        }
        return address.port
    }

    private static func addresses(host: String, port: Int) throws(ServerError) -> [Address] {
        guard let port = UInt16(exactly: port) else {
            throw .cannotListen(address: "\(host):\(port)", reason: "a port is a number from 0 to 65535")
        }
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        guard status == 0, let first = list else {
            throw .unknownHost(host, reason: String(cString: gai_strerror(status)))
        }
        defer { freeaddrinfo(first) }
        var addresses: [Address] = []
        for entry in sequence(first: first, next: { $0.pointee.ai_next }) {
            guard let address = Address(entry.pointee), !addresses.contains(address) else { continue }
            addresses.append(address)
        }
        guard !addresses.isEmpty else { throw .unknownHost(host, reason: "it has no IP address") }
        // IPv4 comes first: its absence is an error, the absence of IPv6 is not.
        return addresses.filter { $0.family == AF_INET } + addresses.filter { $0.family == AF_INET6 }
    }
}

/// A failed system call on a listening socket.
private struct SocketFailure: Error {
    let address: Address
    let code: Int32

    var asServerError: ServerError {
        let remedy =
            switch code {
            case EADDRINUSE: "; stop what uses it or choose another port"
            case EACCES: "; ports below 1024 need a privilege: choose another port"
            default: ""
            }
        return .cannotListen(address: address.description, reason: String(cString: strerror(code)) + remedy)
    }
}

/// An IP address with its port, in the form of the socket calls.
private struct Address: Equatable, CustomStringConvertible {
    private var bytes: [UInt8]
    let family: Int32

    init?(_ info: addrinfo) {
        guard info.ai_family == AF_INET || info.ai_family == AF_INET6, let address = info.ai_addr else { return nil }
        family = info.ai_family
        bytes = Array(UnsafeRawBufferPointer(start: address, count: Int(info.ai_addrlen)))
    }

    /// Reads the address of an open socket; nil if it is not an IP address.
    init?(boundTo descriptor: Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        family = Int32(storage.ss_family)
        guard status == 0, family == AF_INET || family == AF_INET6 else { return nil }
        bytes = withUnsafeBytes(of: &storage) { Array($0.prefix(Int(length))) }
    }

    // sin_port and sin6_port are at the same offset, in network order.
    mutating func setPort(_ port: Int) {
        bytes[2] = UInt8(truncatingIfNeeded: port >> 8)
        bytes[3] = UInt8(truncatingIfNeeded: port)
    }

    var port: Int { Int(bytes[2]) << 8 | Int(bytes[3]) }

    func makeSocket() throws(SocketFailure) -> Descriptor {
        let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        guard let socket = try? Descriptor(Foundation.socket(family, Int32(kind), 0), from: "socket") else {
            throw failure(errno)
        }
        let descriptor = socket.rawValue
        try set(SO_REUSEADDR, of: descriptor, level: SOL_SOCKET)
        try setConnectionOptions(of: descriptor)
        if family == AF_INET6, bytes.count == MemoryLayout<sockaddr_in6>.size {
            // `::` accepts IPv4 as well, unless the host's name has addresses of both kinds (then each has its own
            // socket).
            try set(IPV6_V6ONLY, of: descriptor, level: Int32(IPPROTO_IPV6), to: isUnspecified ? 0 : 1)
        }
        return socket
    }

    /// Sets the options of a socket that another process created.
    func setOptions(of descriptor: Int32) throws(SocketFailure) {
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0,
            fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
        else { throw failure(errno) }
        try setConnectionOptions(of: descriptor)
    }

    private func setConnectionOptions(of descriptor: Int32) throws(SocketFailure) {
        // Accepted connections inherit this, which saves a system call for each.
        try set(TCP_NODELAY, of: descriptor, level: Int32(IPPROTO_TCP))
        // Limits the data that the kernel holds for a client that does not read, and makes the client's progress
        // visible to us. Accepted connections inherit this too.
        try set(TCP_NOTSENT_LOWAT, of: descriptor, level: Int32(IPPROTO_TCP), to: 128 * 1024)
    }

    private var isUnspecified: Bool { bytes[8..<24].allSatisfy { $0 == 0 } }

    func set(_ option: Int32, of descriptor: Int32, level: Int32, to value: Int32 = 1) throws(SocketFailure) {
        var value = value
        guard setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            throw failure(errno)
        }
    }

    func bind(_ descriptor: Int32) throws(SocketFailure) {
        let status = bytes.withUnsafeBytes { raw in
            raw.withMemoryRebound(to: sockaddr.self) {
                Foundation.bind(descriptor, $0.baseAddress, socklen_t(raw.count))
            }
        }
        guard status == 0 else { throw failure(errno) }
    }

    /// Returns the address with the port that the kernel chose.
    func bound(_ descriptor: Int32) throws(SocketFailure) -> Address {
        var copy = self
        var length = socklen_t(bytes.count)
        let status = copy.bytes.withUnsafeMutableBytes { raw in
            raw.withMemoryRebound(to: sockaddr.self) { getsockname(descriptor, $0.baseAddress, &length) }
        }
        guard status == 0 else { throw failure(errno) }
        return copy
    }

    func failure(_ code: Int32) -> SocketFailure { SocketFailure(address: self, code: code) }

    var description: String {
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes) }
        return PeerAddress(&storage)?.description ?? "?"
    }
}
