import Synchronization

/// The findings of the endpoints about the request that they answer, for its entry in the journal of clients.
package final class ClientNote: Sendable {
    /// The note of the request that this task answers; nil if it has no entry.
    @TaskLocal package static var current: ClientNote?

    package struct Content: Sendable {
        package var clientID: String?
        package var correlationID: String?
        /// The error's number with its prefix, such as `AADSTS50011`.
        package var error: String?
        /// Nil if the request has no valid continuation token.
        package var nativePoint: NativePoint?
    }

    /// The point of its flow at which a request of native authentication came.
    package struct NativePoint: Sendable, Hashable {
        package let kind: String
        package let step: String

        package init(kind: String, step: String) { (self.kind, self.step) = (kind, step) }
    }

    private let content = Mutex(Content())

    package init() {}

    /// Changes the note of the request that this task answers.
    package static func change(_ body: (inout Content) -> Void) { current?.content.withLock { body(&$0) } }

    /// The note as it is now.
    package var now: Content { content.withLock { $0 } }
}
