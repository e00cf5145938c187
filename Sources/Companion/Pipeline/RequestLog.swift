import CompanionCore
import HTTPServer
import HTTPTypes
import Logging

/// Writes the one log line of a request when it ends. The line has the route's name instead of the path, which may
/// contain an account, and no query, address or user.
struct RequestLog: Sendable {
    private let logger: Logger
    private let level: Logger.Level
    /// The logger's own level, read once: most requests log nothing, and reading the level costs as much as counting
    /// them.
    private let threshold: Logger.Level

    /// - Parameter isWanted: whether successful requests are logged at level info instead of debug.
    init(_ logger: Logger, isWanted: Bool) {
        self.logger = logger
        level = isWanted ? .info : .debug
        threshold = logger.logLevel
    }

    /// Writes the line. A fault of this server is a warning, even if the page gets a redirect that reports it.
    func write(_ summary: RequestSummary) {
        let context = summary.mark.note as? RequestContext
        let problem = context?.problem
        let isFault = summary.status.kind == .serverError || problem?.isFault == true || context?.cause != nil
        let level = isFault ? .warning : level
        guard threshold <= level else { return }
        logger.log(level: level, "request", metadata: metadata(summary, context, problem, isFault: isFault))
    }

    private func metadata(
        _ summary: RequestSummary, _ context: RequestContext?, _ problem: Problem?, isFault: Bool
    ) -> Logger.Metadata {
        let number = RouteNumber.names.indices.contains(summary.mark.number) ? summary.mark.number : RouteNumber.none
        var metadata: Logger.Metadata = [
            "method": "\(MethodLabel.text(summary.method))", "route": "\(RouteNumber.names[number])",
            "status": "\(summary.status.code)", "microseconds": "\(Int(summary.duration / .microseconds(1)))",
            "bytes": "\(summary.bodyBytes)",
        ]
        if let context {
            metadata["request_id"] = "\(context.correlationID)"
            metadata["trace_id"] = "\(context.traceID)"
        }
        if let code = problem?.code ?? context?.upstreamCode { metadata["code"] = "\(code.rawValue)" }
        if let problem {
            // A sentence for people may quote input, so it is logged only for faults.
            if let reason = problem.reason ?? (isFault ? problem.detail.english : nil) {
                metadata["reason"] = "\(reason)"
            }
            // The provider's correlation ID, if it gave one, because its support asks for it.
            if let id = problem.correlationID, id != context?.correlationID { metadata["correlation_id"] = "\(id)" }
        }
        if let cause = context?.cause { metadata["cause"] = "\(cause)" }
        if let count = context?.endedAccounts { metadata["ended_accounts"] = "\(count)" }
        return metadata
    }
}
