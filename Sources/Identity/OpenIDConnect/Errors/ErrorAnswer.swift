import WebFormats

/// An OAuth error response (RFC 6749 sections 4.1.2.1 and 5.2) with the platform's additions. Only values with the form
/// of an identifier leave it unchanged, because a response may quote the request.
struct ErrorAnswer {
    let error: String
    private(set) var suberror: String?
    private(set) var aadsts: [Int] = []
    private(set) var aadb2c: [Int] = []
    private(set) var traceID: String?
    private(set) var correlationID: String?
    private(set) var timestamp: String?
    private(set) var claims: ClaimsRequest?
    private var isCancelled = false
    private var description = ""

    /// The meaning of an empty 400 from a token endpoint: the grant is not accepted.
    static let emptyRefusal = ErrorAnswer(error: "invalid_grant")

    private init(error: String) {
        self.error = error
    }

    /// Reads a body of the token endpoint; nil if it has no `error`.
    init?(body: JSONValue) {
        guard let error = body["error"]?.string.flatMap(Self.identifier) else { return nil }
        self.error = error
        suberror = body["suberror"]?.string.flatMap(Self.identifier)
        claims = body["claims"]?.string.flatMap(ClaimsRequest.init(json:))
        aadsts = (body["error_codes"]?.array ?? []).prefix(8).compactMap(\.lenientInteger).compactMap(
            Int.init(exactly:))
        traceID = body["trace_id"]?.string.flatMap(Self.requestID)
        correlationID = body["correlation_id"]?.string.flatMap(Self.requestID)
        timestamp = body["timestamp"]?.string.flatMap(Self.time)
        description = body["error_description"]?.string ?? ""
        readDescription()
    }

    /// Reads the parameters of a callback; nil if there is no `error`.
    init?(callback parameters: [String: String]) {
        guard let text = parameters["error"] else { return nil }
        error = Self.identifier(text) ?? "unknown_error"
        suberror = parameters["suberror"].flatMap(Self.identifier)
        claims = parameters["claims"].flatMap(ClaimsRequest.init(json:))
        isCancelled = parameters["error_subcode"] == "cancel"
        description = parameters["error_description"] ?? ""
        readDescription()
    }

    /// Fills in values that have no member of their own, from "AADSTS65001: … Trace ID: … Correlation ID: … Timestamp:
    /// …".
    private mutating func readDescription() {
        // The text is searched by bytes: in some texts the boundary of a character depends on everything before it.
        let text = Array(description.utf8.prefix(4096))
        if aadsts.isEmpty { aadsts = Self.numbers(after: "AADSTS", in: text) }
        aadb2c = Self.numbers(after: "AADB2C", in: text)
        traceID = traceID ?? Self.words(after: "Trace ID:", in: text, to: " ").flatMap(Self.requestID)
        correlationID = correlationID ?? Self.words(after: "Correlation ID:", in: text, to: " ").flatMap(Self.requestID)
        timestamp = timestamp ?? Self.words(after: "Timestamp:", in: text, to: "\"").flatMap(Self.time)
    }

    /// Returns the error with the provider's own words, where no numbers explain it better.
    ///
    /// - Parameter sent: the values that the words must not contain.
    func openIDError(at kind: Authority.Kind, after sent: @autoclosure () -> SentValues) -> OpenIDError {
        var error = openIDError
        if kind == .oidc, !description.isEmpty { error.providerWords = sent().words(of: description) }
        return error
    }

    /// The error with its stable code. `error` and `suberror` decide; the numbers only refine.
    var openIDError: OpenIDError {
        var result = OpenIDError(code, PlatformErrors.hint(for: code))
        result.providerError = error
        result.suberror = suberror
        result.aadsts = aadsts
        result.aadb2c = aadb2c
        result.traceID = traceID
        result.correlationID = correlationID
        result.timestamp = timestamp
        result.claims = claims
        return result
    }

    /// Whether its numbers say that the client has not proved itself.
    var isAboutCredential: Bool {
        !PlatformErrors.credentialFaults.isDisjoint(with: aadsts)
            || !PlatformErrors.policyCredentialFaults.isDisjoint(with: aadb2c)
    }

    private var code: OpenIDError.Code {
        switch error {
        case "invalid_client", "unauthorized_client": return .providerRejectedClient
        case "access_denied" where aadb2c.contains(PlatformErrors.passwordForgotten): return .passwordResetRequested
        case "temporarily_unavailable", "server_error": return .providerUnavailable
        default: break
        }
        if aadsts.contains(where: PlatformErrors.adminConsent.contains) { return .adminConsentRequired }
        if aadsts.contains(PlatformErrors.consentDeclined) || aadb2c.contains(PlatformErrors.policyCancelled)
            || isCancelled
        {
            return error == "access_denied" ? .cancelled : .consentRequired
        }
        if error == "consent_required" || suberror == "consent_required"
            || aadsts.contains(PlatformErrors.consentMissing)
        {
            return .consentRequired
        }
        switch error {
        case "interaction_required", "login_required", "account_selection_required", "invalid_grant", "bad_token":
            return .interactionRequired
        case "access_denied", "permission_denied":
            return aadsts.isEmpty && aadb2c.isEmpty ? .cancelled : .accessDenied
        default: break
        }
        if isAboutCredential || aadsts.contains(where: PlatformErrors.clientFaults.contains) {
            return .providerRejectedClient
        }
        if aadsts.contains(where: PlatformErrors.accountRefused.contains) { return .accessDenied }
        if let suberror, OpenIDError.interactionSuberrors.contains(suberror) { return .interactionRequired }
        return .providerRejectedRequest
    }

    private static func identifier(_ text: String) -> String? {
        let isIdentifier =
            (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "_") }
        return isIdentifier ? text : nil
    }

    private static func requestID(_ text: String) -> String? { isGUID(text) ? text : nil }

    private static func time(_ text: String) -> String? {
        let isTime =
            (10...30).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || "-:.TZ+ ".utf8.contains($0) }
        return isTime ? text : nil
    }

    /// Returns the text after a label, without leading spaces, up to a byte or the end of the line.
    private static func words(after label: StaticString, in text: [UInt8], to end: Unicode.Scalar) -> String? {
        places(behind: label, in: text, atMost: 1).first.map { place in
            let rest = text[place...].drop { $0 == 0x20 }
            return String(decoding: rest.prefix { $0 != UInt8(ascii: end) && $0 >= 0x20 }, as: UTF8.self)
        }
    }

    private static func numbers(after label: StaticString, in text: [UInt8]) -> [Int] {
        var numbers: [Int] = []
        for place in places(behind: label, in: text, atMost: 8) {
            let digits = text[place...].prefix(9).prefix { (0x30...0x39).contains($0) }
            if let number = Int(String(decoding: digits, as: UTF8.self)), !numbers.contains(number) {
                numbers.append(number)
            }
        }
        return numbers
    }

    /// Returns the positions at which the first occurrences of a label end.
    private static func places(behind label: StaticString, in text: [UInt8], atMost count: Int) -> [Int] {
        let label = Array(label.description.utf8)
        var places: [Int] = []
        var start = 0
        while places.count < count, start + label.count <= text.count {
            let end = start + label.count
            if text[start..<end].elementsEqual(label) {
                places.append(end)
                start = end
            } else {
                start += 1
            }
        }
        return places
    }
}
