import Foundation

/// The reason for which the event loop could not do something.
public enum EventLoopError: Error, Equatable, Sendable {
    /// The kernel refused `operation`; `code` is its errno.
    case system(operation: String, code: Int32)
    /// The worker has been shut down and no longer watches anything.
    case shutDown
}

extension EventLoopError: CustomStringConvertible {
    /// One line for a log, with the remedy if there is one.
    public var description: String {
        switch self {
        case .shutDown:
            return "the event loop has been shut down"
        case .system(let operation, let code):
            let hint =
                switch code {
                case EMFILE, ENFILE: "; raise the limit of open files (ulimit -n, LimitNOFILE=)"
                case ENOSPC: "; raise fs.epoll.max_user_watches"
                default: ""
                }
            return "\(operation) failed: \(String(cString: strerror(code))) (errno \(code))\(hint)"
        }
    }
}
