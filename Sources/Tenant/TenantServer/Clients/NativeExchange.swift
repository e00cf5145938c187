import TenantControl
import WebFormats

/// A request of native authentication, with the results that MSAL has for its answer.
struct NativeExchange: Sendable, Hashable {
    let endpoint: Controls.NativeEndpoint
    let grant: String?
    let readings: [NativeReading]

    /// - Parameter point: The point of its flow at which the request came; nil if its token is not valid.
    init(
        _ endpoint: Controls.NativeEndpoint, _ fields: FormFields?, at point: ClientNote.NativePoint?,
        _ answer: NativeAnswer
    ) {
        self.endpoint = endpoint
        grant = fields?["grant_type"].flatMap { NativeRow.grants.contains($0) ? $0 : nil }
        let points: Set<String> =
            fields?["id"] == nil || endpoint != .challenge
            ? Set(point.map { [$0.kind, $0.step] } ?? []) : ["secondFactor"]
        readings = NativeRow.readings(endpoint, grant: grant, at: points, answer)
    }
}

extension NativeExchange {
    var json: JSONValue {
        [
            "request": .string(endpoint.rawValue), "grant": JSONValue(grant),
            "msal": .array(
                readings.map { reading in
                    [
                        "methods": .array(reading.methods.map(JSONValue.string)), "is_error": .bool(reading.isError),
                        "property": JSONValue(reading.property), "state": JSONValue(reading.state),
                        "next": JSONValue(reading.next), "gives_password": .bool(reading.givesPassword),
                    ]
                }),
        ]
    }

    /// The sentences for a person, one line for each result.
    var lines: HTML { "\(readings.map { "<br><span class=\"small\">\($0.sentences)</span>" as HTML })" }
}

extension NativeReading {
    fileprivate var sentences: HTML {
        let code = { (text: String) -> HTML in "<code>\(text)</code>" }
        let methods = methods.map(code)
        let all: HTML = methods.dropFirst().reduce(methods.first ?? "") { "\($0) / \($1)" }
        let sentences: [HTML?] = [
            givesPassword ? HTML(saying: "Or, if the app gave the password to <code>signIn</code>:") : nil,
            methods.isEmpty ? nil : HTML(saying: "MSAL calls %@.", all),
            property.map { HTML(saying: "%@ is true.", code($0)) }
                ?? (isError ? HTML(saying: "It is a general error.") : nil),
            state.map { HTML(saying: "The app now has %@.", code($0)) },
            next.map { HTML(saying: "MSAL itself sends %@ next.", code($0)) },
        ]
        let said = sentences.compactMap(\.self)
        return said.dropFirst().reduce(said.first ?? "") { "\($0) \($1)" }
    }
}
