import CompanionCore
import HTTPServer
import HTTPTypes
import Logging

/// The one log line of a request, written at its end. It has the route's name and never the path, which may name an
/// account; no query, no address, no user.
struct RequestLog: Sendable {
    private let logger: Logger
    private let level: Logger.Level
    /// The logger's own level, asked once: most requests write nothing, and asking costs as much as counting them.
    private let threshold: Logger.Level

    /// - Parameter isWanted: whether requests that go well are logged at level info, not debug.
    init(_ logger: Logger, isWanted: Bool) {
        self.logger = logger
        level = isWanted ? .info : .debug
        threshold = logger.logLevel
    }

    /// Writes the line. What is this side's fault is a warning, also where a page gets a redirect that says so.
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
            // A sentence for people may quote what they sent.
            if let reason = problem.reason ?? (isFault ? problem.detail.english : nil) {
                metadata["reason"] = "\(reason)"
            }
            // The provider's, when it gave one: what its support asks for.
            if let id = problem.correlationID, id != context?.correlationID { metadata["correlation_id"] = "\(id)" }
        }
        if let cause = context?.cause { metadata["cause"] = "\(cause)" }
        if let count = context?.endedAccounts { metadata["ended_accounts"] = "\(count)" }
        return metadata
    }
}
