import Dispatch
import Foundation
import SessionStore

/// Resolves host names on threads of their own, one for each name, which may be held by a slow name server as no worker may.
enum NameResolution {
    private static let queue = DispatchQueue(label: "companion.names", attributes: .concurrent)
    /// Those who wait for the addresses of a name that is being resolved.
    private static let waiting = Locked<[String: [@Sendable ([String]) -> Void]]>([:])

    /// Calls `completion` on such a thread with the host's addresses, in the system's order; none when it has none now. That
    /// may be after a minute.
    static func addresses(of host: String, completion: @escaping @Sendable ([String]) -> Void) {
        let isFirst = waiting.withLock { waiting in
            waiting[host, default: []].append(completion)
            return waiting[host]?.count == 1
        }
        guard isFirst else { return }
        queue.async {
            let found = resolve(host)
            for completion in waiting.withLock({ $0.removeValue(forKey: host) }) ?? [] { completion(found) }
        }
    }

    private static func resolve(_ host: String) -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
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
