import HTTPServer
import HTTPWire
import TenantControl
import TenantDirectory
import WebFormats

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
