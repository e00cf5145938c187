package import Foundation
import HTTPServer
import Synchronization
package import TenantDirectory

/// The mails and text messages with the codes that the platform would have sent. They are in memory, and leave it only by
/// `/outbox`.
package final class Outbox: Sendable {
    static let mostMessages = 500
    static let mostWaiting = 100

    package struct Delivery: Sendable, Hashable {
        package enum State: String, Sendable {
            /// The code can be used.
            case valid
            case used
            /// A newer code replaced it, or its flow has ended.
            case void
            case expired
        }

        /// The position among all messages, from 1.
        package fileprivate(set) var id = 0
        package let time: Date
        package let contact: VerifiedContact
        package let code: String
        package let flowKind: String
        package let clientID: String
        package let username: String
        package let expires: Date
        let flow: String
        /// The network that caused it.
        let network: PeerAddress.Network
        fileprivate(set) var isUsed = false
        fileprivate(set) var isVoid = false

        package func state(at now: Date) -> State {
            isUsed ? .used : isVoid ? .void : now < expires ? .valid : .expired
        }
    }

    fileprivate struct Waiting {
        let address: String?
        let after: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    fileprivate struct Memory {
        /// The newest is last.
        var messages: [Delivery] = []
        var lastID = 0
        var waiting: [Int: Waiting] = [:]
        var lastWaiting = 0
    }

    private let memory = Mutex(Memory())

    /// Adds a message. Older codes of its flow are void.
    func send(_ message: Delivery) {
        let woken = memory.withLock { memory in
            memory.voidCodes(of: message.flow)
            memory.lastID += 1
            var message = message
            message.id = memory.lastID
            memory.makeRoom()
            memory.messages.append(message)
            let woken = memory.waiting.filter { $0.value.wants(message) }
            for id in woken.keys { memory.waiting[id] = nil }
            return woken.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Notes that the newest code of a flow was used.
    func use(_ flow: String) {
        memory.withLock { memory in
            guard let index = memory.messages.lastIndex(where: { $0.flow == flow }) else { return }
            memory.messages[index].isUsed = true
        }
    }

    /// Notes that a flow has ended.
    func end(_ flow: String) { memory.withLock { $0.voidCodes(of: flow) } }

    /// Forgets all messages.
    package func empty() { memory.withLock { $0.messages = [] } }

    /// Returns the messages, newest first.
    ///
    /// - Parameters:
    ///   - address: The address or number that they went to; nil for all.
    ///   - after: The message after which they were sent.
    package func messages(to address: String?, after: Int = 0) -> [Delivery] {
        memory.withLock { memory in
            memory.messages.reversed().filter { $0.id > after && $0.isTo(address) }
        }
    }

    /// Waits for a message whose code can be used, if there is none yet. No thread waits.
    ///
    /// - Returns: false if too many others wait.
    package func wait(for address: String?, after: Int, now: Date, atMost duration: Duration) async -> Bool {
        var isWaiting = true
        await withCheckedContinuation { continuation in
            let id: Int? = memory.withLock { memory in
                if memory.messages.contains(where: {
                    $0.id > after && $0.isTo(address) && $0.state(at: now) == .valid
                }) {
                    return nil
                }
                isWaiting = memory.waiting.count < Self.mostWaiting
                guard isWaiting else { return nil }
                memory.lastWaiting += 1
                memory.waiting[memory.lastWaiting] = Waiting(
                    address: address, after: after, continuation: continuation)
                return memory.lastWaiting
            }
            guard let id else { return continuation.resume() }
            Task {
                try? await Task.sleep(for: duration)
                memory.withLock { $0.waiting.removeValue(forKey: id) }?.continuation.resume()
            }
        }
        return isWaiting
    }
}

extension Outbox.Memory {
    /// Removes a message if there are too many: the oldest of the network that has the most, so that a stranger's messages
    /// displace their own.
    fileprivate mutating func makeRoom() {
        guard messages.count >= Outbox.mostMessages else { return }
        let byNetwork = Dictionary(grouping: messages.indices) { messages[$0].network }
        // Of networks with equally many, the one whose first message is older.
        let most = byNetwork.values.max { ($0.count, $1.first ?? 0) < ($1.count, $0.first ?? 0) }
        guard let oldest = most?.first else { return }
        messages.remove(at: oldest)
    }

    fileprivate mutating func voidCodes(of flow: String) {
        for index in messages.indices where messages[index].flow == flow { messages[index].isVoid = true }
    }
}

extension Outbox.Delivery {
    fileprivate func isTo(_ address: String?) -> Bool {
        guard let address, contact.target.lowercased() != address.lowercased() else { return true }
        guard let number = Self.digits(contact.target) else { return false }
        return number == Self.digits(address)
    }

    /// Returns the digits of a telephone number, however they are grouped; nil for anything else. The `+` of a query is a
    /// space.
    private static func digits(_ text: String) -> String? {
        guard text.allSatisfy({ "0123456789+-(). ".contains($0) }) else { return nil }
        return text.filter { ("0"..."9").contains($0) }
    }
}

extension Outbox.Waiting {
    fileprivate func wants(_ message: Outbox.Delivery) -> Bool { message.id > after && message.isTo(address) }
}
