import Dispatch
import Foundation
import Synchronization
import WebFormats

/// Resolves host names on its own threads. A slow name server may block those, but must not block a worker.
///
/// Callers that ask at about the same time share a look-up. If a look-up hangs, because a query or its response was
/// lost, a later caller does not wait for it: another look-up starts beside it, up to three for a name. The first one
/// that finds addresses serves everyone who waits for the name.
final class NameResolution: Sendable {
    /// The system's resolver.
    static let system = NameResolution(resolve: resolve)

    private struct LookUp {
        let began: ContinuousClock.Instant
        var waiting: [@Sendable ([String]) -> Void]
    }

    private struct State {
        var count = 0
        var underWay: [String: [Int: LookUp]] = [:]

        /// Ends a look-up and returns the callers that wait for its result.
        mutating func end(_ number: Int, of host: String, hasFound: Bool) -> [@Sendable ([String]) -> Void] {
            var lookUps = underWay[host] ?? [:]
            var waiting = lookUps.removeValue(forKey: number)?.waiting ?? []
            if hasFound {
                for other in lookUps.keys {
                    waiting += lookUps[other]?.waiting ?? []
                    lookUps[other]?.waiting = []
                }
            }
            underWay[host] = lookUps.isEmpty ? nil : lookUps
            return waiting
        }
    }

    /// The age after which a look-up is no longer shared.
    static let patience: Duration = .seconds(2)
    private static let limit = 3

    private let queue = DispatchQueue(label: "companion.names", attributes: .concurrent)
    private let state = Mutex(State())
    private let resolve: @Sendable (String) -> [String]
    private let now: @Sendable () -> ContinuousClock.Instant

    init(
        resolve: @escaping @Sendable (String) -> [String],
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.resolve = resolve
        self.now = now
    }

    /// Calls `completion` on one of these threads with the host's addresses, in the system's order; empty if it has
    /// none now. This may take a minute.
    func addresses(of host: String, completion: @escaping @Sendable ([String]) -> Void) {
        let now = now()
        let new = state.withLock { state -> Int? in
            var lookUps = state.underWay[host] ?? [:]
            defer { state.underWay[host] = lookUps }
            if let (number, latest) = lookUps.max(by: { $0.value.began < $1.value.began }),
                latest.began.duration(to: now) <= Self.patience || lookUps.count >= Self.limit
            {
                lookUps[number]?.waiting.append(completion)
                return nil
            }
            state.count += 1
            lookUps[state.count] = LookUp(began: now, waiting: [completion])
            return state.count
        }
        guard let new else { return }
        queue.async { [self] in
            let found = resolve(host)
            let waiting = state.withLock { $0.end(new, of: host, hasFound: !found.isEmpty) }
            for completion in waiting { completion(found) }
        }
    }

    /// Returns a host's addresses, while the calling thread waits.
    static func resolve(_ host: String) -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let name = Loopback.isBelowLocalhost(host) ? "localhost" : host
        guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [String] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ai_next
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let status = getnameinfo(
                entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            guard status == 0 else { continue }
            let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if !found.contains(address) { found.append(address) }
        }
        return found
    }
}
