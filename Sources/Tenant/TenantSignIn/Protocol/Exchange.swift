import Foundation
package import HTTPServer
import HTTPTypes
import HTTPWire
import TenantControl
package import TenantDirectory
package import WebFormats

/// One request at an identity endpoint, with its identifiers for logs and errors.
struct Exchange {
    let request: Request
    private(set) var diagnostics: Diagnostics
    /// The parameters; none if they cannot be read.
    let fields: FormFields
    private let isReadable: Bool

    init(_ request: Request, clock: TenantClock, isVersion1: Bool = false) {
        self.request = request
        let sent = request.parameters
        isReadable = sent != nil
        fields = (isVersion1 ? sent?.ofVersion2 : sent) ?? FormFields([])
        diagnostics = Diagnostics(request, fields, clock: clock)
    }

    /// Returns the exchange as one of a sign-in that has begun with this correlation ID.
    func continuing(_ correlationID: String?) -> Self {
        var exchange = self
        if let correlationID { exchange.diagnostics.correlationID = correlationID }
        return exchange
    }

    /// Throws if the parameters cannot be read.
    func check() throws(PlatformError) {
        guard isReadable else { throw .malformedRequest }
    }
}

/// The identifiers that support asks for. They are new for each request, except that a caller's correlation ID is kept
/// if it is a GUID.
package struct Diagnostics {
    let traceID: String
    fileprivate(set) var correlationID: String { didSet { note() } }
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
