package import CompanionCore
package import Foundation
package import Logging
package import SessionStore
import WebFormats

/// Records what people and operators did, one line per event: in the ordinary log (level info, message `audit`), or in
/// a file of its own.
///
/// A line has the event, the application, the outcome (`ok` or a problem's code), the account as a ``Pseudonym``, the
/// session's key and the request's correlation ID. It never has a name, token, cookie or address.
///
/// Lines of a file are written in their order on a queue of their own, so that a slow disk stops no worker. No line is
/// dropped: the answer about an act waits until its line is written.
package final class AuditLog: Sendable {
    private let logger: Logger
    private let file: AuditFile?
    private let now: @Sendable () -> Date
    private let queue = DispatchQueue(label: "audit")

    /// - Parameters:
    ///   - path: the file; nil writes to the log.
    ///   - mayMakeFile: see ``AuditFile``.
    /// - Throws: if the file cannot be written. The error's description gives the reason.
    package convenience init(
        logger: Logger, file path: String?, mayMakeFile: Bool = true, now: @escaping @Sendable () -> Date
    ) throws {
        self.init(logger: logger, file: try path.map { try AuditFile($0, mayMake: mayMakeFile) }, now: now)
    }

    init(logger: Logger, file: AuditFile?, now: @escaping @Sendable () -> Date) {
        self.logger = logger
        self.file = file
        self.now = now
    }

    /// Opens the audit log for the command line, which appends to the file that the server has created.
    ///
    /// - Returns: nil if the configuration names no file.
    /// - Throws: if the file does not exist or cannot be written.
    package convenience init?(besideServerOf configuration: CompanionConfiguration) throws {
        guard let path = configuration.auditLogFile else { return nil }
        try self.init(logger: Logger(label: "companion"), file: path, mayMakeFile: false, now: { Date() })
    }

    /// Records sessions that were ended on the command line.
    package func endedByCommandLine(_ sessions: [SessionKey]) {
        for session in sessions {
            let more = ["ended_session": session.description, "by": "command_line"]
            put(fields(.sessionEndedByOperator, more: more), at: now())
        }
    }

    /// Records that a limit has refused a request, without waiting for the line.
    ///
    /// - Parameter limit: its stable name, such as `sign_ins`.
    package func limitReached(_ limit: String, application: String?) {
        writeLater(fields(.limitReached, application: application, more: ["outcome": limit]))
    }

    /// Records that the keys were rotated, without waiting for the line.
    package func keysRotated(to key: KeyRing.KeyID) {
        writeLater(fields(.keysRotated, more: ["key": key.description]))
    }

    /// Writes a line, and returns when it is written. If the file cannot be written, the error is reported and the line
    /// goes to the log; the caller never fails.
    ///
    /// - Parameters:
    ///   - session: the session of the event.
    ///   - more: further fields, such as another outcome than `ok`. They contain no secrets or personal data.
    package func write(
        _ event: AuditEvent, application: String? = nil, account: Pseudonym? = nil, session: SessionKey? = nil,
        more: [String: String] = [:]
    ) async {
        let fields = fields(event, application: application, account: account, session: session, more: more)
        await withCheckedContinuation { written in writeLater(fields) { written.resume() } }
    }

    private func fields(
        _ event: AuditEvent, application: String? = nil, account: Pseudonym? = nil, session: SessionKey? = nil,
        more: [String: String]
    ) -> [String: String] {
        var fields = ["outcome": "ok"].merging(more) { $1 }
        fields["event"] = event.rawValue
        fields["application"] = application
        fields["account"] = account?.description
        fields["session"] = session?.description
        fields["request_id"] = RequestContext.current?.correlationID
        return fields
    }

    /// The log has a queue of its own, so that only a file needs this one.
    private func writeLater(_ fields: [String: String], then done: @escaping @Sendable () -> Void = {}) {
        let time = now()
        guard file != nil else {
            put(fields, at: time)
            return done()
        }
        queue.async {
            self.put(fields, at: time)
            done()
        }
    }

    private func put(_ fields: [String: String], at time: Date) {
        if let file {
            do {
                let all = fields.merging(["time": Timeline.text(time)]) { $1 }
                try file.append(JSONValue.object(all.mapValues(JSONValue.string)).bytes)
                return
            } catch {
                logger.error("\(error.description)")
            }
        }
        logger.info("audit", metadata: fields.mapValues { "\($0)" })
    }
}
