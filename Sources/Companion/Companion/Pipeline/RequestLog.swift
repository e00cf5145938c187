import CompanionCore
import HTTPServer
import HTTPTypes
import Languages
import Logging

/// Writes the one log line of a request when it ends. The line has the route's name instead of the path, which may
/// contain an account, and no query, address or user.
struct RequestLog: Sendable {
    /// All of a fault's line that is the same for requests that fail in the same way.
    struct Cause: Hashable {
        let route: Int
        let status: Int
        let code: Problem.Code?
        let reason: String?
        let cause: String?
    }

    private let logger: Logger
    private let english: Language
    private let level: Logger.Level
    /// The logger's own level, read once: most requests log nothing, and reading the level costs as much as counting
    /// them.
    private let threshold: Logger.Level
    /// Faults, if other requests have no line.
    private let faults: FaultLines<Cause, RequestSummary>

    /// - Parameters:
    ///   - isWanted: whether successful requests are logged at level info instead of debug. Where that is below the
    ///     logger's own level, faults of one cause share a line.
    ///   - english: the language that explains the platform's numbers.
    ///   - afterASecond: see ``FaultLines``.
    init(
        _ logger: Logger, isWanted: Bool, english: Language,
        afterASecond: FaultLines<Cause, RequestSummary>.Timer? = nil
    ) {
        self.logger = logger
        self.english = english
        level = isWanted ? .info : .debug
        threshold = logger.logLevel
        let write: @Sendable (RequestSummary, Int) -> Void = { summary, others in
            var metadata = Self.metadata(summary, isFault: true, english)
            if others > 0 { metadata["others"] = "\(others)" }
            logger.log(level: .warning, "request", metadata: metadata)
        }
        faults = afterASecond.map { FaultLines(afterASecond: $0, write: write) } ?? FaultLines(write: write)
    }

    /// Writes the line. A fault of this server is a warning, even if the page gets a redirect that reports it.
    func write(_ summary: RequestSummary) {
        let context = summary.mark.note as? RequestContext
        let problem = context?.problem
        let isFault = summary.status.kind == .serverError || problem?.isFault == true || context?.cause != nil
        if threshold <= level {
            let metadata = Self.metadata(summary, isFault: isFault, english)
            return logger.log(level: isFault ? .warning : level, "request", metadata: metadata)
        }
        guard isFault, threshold <= .warning else { return }
        let cause = Cause(
            route: summary.mark.number, status: summary.status.code, code: problem?.code ?? context?.upstreamCode,
            reason: problem.flatMap { $0.reason ?? $0.detail.english }, cause: context?.cause)
        faults.note(summary, of: cause)
    }

    /// Writes what is still counted.
    func end() { faults.end() }

    private static func metadata(
        _ summary: RequestSummary, isFault: Bool, _ english: Language
    ) -> Logger.Metadata {
        let context = summary.mark.note as? RequestContext
        let problem = context?.problem
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
                let cause = english.explanation(of: problem.numbers).map { " " + $0.cause } ?? ""
                metadata["reason"] = "\(reason)\(cause)"
            }
            // The provider's correlation ID, if it gave one, because its support asks for it.
            if let id = problem.correlationID, id != context?.correlationID { metadata["correlation_id"] = "\(id)" }
        }
        if let cause = context?.cause { metadata["cause"] = "\(cause)" }
        if let count = context?.endedAccounts { metadata["ended_accounts"] = "\(count)" }
        return metadata
    }
}
