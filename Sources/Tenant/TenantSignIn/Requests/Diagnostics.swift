import Foundation
package import HTTPServer
import TenantControl
package import TenantDirectory
package import WebFormats

/// The identifiers that support asks for. They are new for each request, except that a caller's correlation ID is kept
/// if it is a GUID.
package struct Diagnostics {
    let traceID: String
    var correlationID: String { didSet { note() } }
    let time: Date

    package init(_ request: Request, _ fields: FormFields?, clock: TenantClock) {
        traceID = clock.newID()
        let asked = request.head[.clientRequestID] ?? fields?["client-request-id"]
        correlationID = asked.flatMap(UUID.init(uuidString:))?.uuidString.lowercased() ?? clock.newID()
        time = clock.now()
        note()
    }

    private func note() { ClientNote.change { $0.correlationID = correlationID } }

    /// The time in the form `2026-01-31 23:59:59Z`.
    var timestamp: String { time.formatted(.iso8601.dateTimeSeparator(.space)) }

    /// Returns `AADSTS…: … Trace ID: … Correlation ID: … Timestamp: …`.
    func describe(_ error: PlatformError) -> String {
        ClientNote.change { $0.error = "\(error.prefix)\(error.number)" }
        // B2C has other lines, and no trace (id-b2c-17).
        guard error.prefix == PlatformError.workforcePrefix else {
            return "\(error.prefix)\(error.number): \(error.message)\r\nCorrelation ID: \(correlationID)\r\n"
                + "Timestamp: \(timestamp)\r\n"
        }
        return "\(error.prefix)\(error.number): \(error.message) Trace ID: \(traceID) Correlation ID: \(correlationID) "
            + "Timestamp: \(timestamp)"
    }
}
