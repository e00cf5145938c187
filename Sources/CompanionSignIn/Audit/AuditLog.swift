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
package final class AuditLog: Sendable {
    private let logger: Logger
    private let file: AuditFile?
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - path: the file; nil writes to the log.
    ///   - mayMakeFile: see ``AuditFile``.
    /// - Throws: if the file cannot be written. The error's description gives the reason.
    package init(
        logger: Logger, file path: String?, mayMakeFile: Bool = true, now: @escaping @Sendable () -> Date
    ) throws {
        self.logger = logger
        file = try path.map { try AuditFile($0, mayMake: mayMakeFile) }
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
            write(.sessionEndedByOperator, more: ["ended_session": session.description, "by": "command_line"])
        }
    }

    /// Records that a limit has refused a request.
    ///
    /// - Parameter limit: its stable name, such as `sign_ins`.
    package func limitReached(_ limit: String, application: String?) {
        write(.limitReached, application: application, more: ["outcome": limit])
    }

    /// Writes a line. If the file cannot be written, the error is reported and the line goes to the log; the caller
    /// never fails.
    ///
    /// - Parameters:
    ///   - session: the session of the event.
    ///   - more: further fields, such as another outcome than `ok`. They contain no secrets or personal data.
    package func write(
        _ event: AuditEvent, application: String? = nil, account: Pseudonym? = nil, session: SessionKey? = nil,
        more: [String: String] = [:]
    ) {
        var fields = ["outcome": "ok"].merging(more) { $1 }
        fields["event"] = event.rawValue
        fields["application"] = application
        fields["account"] = account?.description
        fields["session"] = session?.description
        fields["request_id"] = RequestContext.current?.correlationID
        if let file {
            do {
                try append(fields, to: file)
                return
            } catch {
                logger.error("\(error.description)")
            }
        }
        logger.info("audit", metadata: fields.mapValues { "\($0)" })
    }

    private func append(_ fields: [String: String], to file: AuditFile) throws(AuditFile.Failure) {
        var fields = fields
        fields["time"] = Timeline.text(now())
        try file.append(JSONValue.object(fields.mapValues(JSONValue.string)).bytes)
    }
}
