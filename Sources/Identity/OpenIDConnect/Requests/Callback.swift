public import WebFormats

/// The parameters that the browser brought back from the provider, decoded and unambiguous, but not yet trusted.
public struct Callback: Sendable, Hashable, Redacted {
    /// The `state`, which identifies the attempt. A secret.
    public let state: String
    /// The authorization code; nil when the provider returned an error. A secret.
    public var code: String? { parameters["code"] }

    private let parameters: [String: String]

    /// Parses the query of a GET, without its `?`, still percent-encoded.
    public init(query: String) throws(OpenIDError) {
        try self.init(encoded: Array(query.utf8))
    }

    /// Parses the body of a `form_post`.
    public init(formBody: [UInt8]) throws(OpenIDError) {
        try self.init(encoded: formBody)
    }

    /// Takes decoded fields. A repeated parameter is refused (RFC 6749 section 3.1), an empty one is ignored.
    public init(fields: some Sequence<(name: String, value: String)>) throws(OpenIDError) {
        var parameters: [String: String] = [:]
        for (name, value) in fields where parameters.updateValue(value, forKey: name) != nil {
            throw OpenIDError(.badRequest, "The sign-in's answer has a parameter twice. Start again.")
        }
        self.parameters = parameters.filter { !$0.value.isEmpty }
        guard let state = self.parameters["state"] else {
            throw OpenIDError(.badRequest, "The sign-in's answer has no state. Start again.")
        }
        self.state = state
        let answers = ["code", "error", "admin_consent"].filter { self.parameters[$0] != nil }
        // A refused admin consent may carry both of its parameters.
        guard answers.count == 1 || answers == ["error", "admin_consent"] else {
            throw OpenIDError(
                .badRequest, "The sign-in's answer has neither a code nor an error, or both. Start again.")
        }
    }

    private init(encoded: [UInt8]) throws(OpenIDError) {
        // Some providers write their words in another encoding. Without them, the error is still known.
        guard let form = try? FormFields(body: encoded, maxFields: .max, isRepaired: true),
            form.fields.allSatisfy({ $0.name.isStreamSafe && $0.value.isStreamSafe }),
            ["state", "code"].allSatisfy({ form[$0]?.unicodeScalars.contains("\u{FFFD}") != true })
        else {
            throw OpenIDError(.badRequest, "The sign-in's answer is not properly encoded. Start again.")
        }
        try self.init(fields: form.fields.lazy.map { (name: $0.name, value: $0.value) })
    }

    /// Checks that this callback belongs to `attempt`, comes from the issuer of `metadata` (RFC 9207), and contains a
    /// code. A provider's error is thrown with its stable code.
    ///
    /// - Parameter sent: the values that the provider's own words must not contain, made only for an error; by default
    ///   there are no words.
    public func validated(
        against attempt: AuthorizationAttempt, metadata: ProviderMetadata, sent: @autoclosure () -> SentValues? = nil
    ) throws(OpenIDError) -> ValidatedCallback {
        try checkState(attempt)
        let issuer = parameters["iss"]
        let answer = ErrorAnswer(callback: parameters)
        guard issuer.map(metadata.issuerRule.mayBe) ?? !metadata.requiresIssuerInCallback else {
            var error = OpenIDError(
                .issuerMismatch, "The answer does not come from the configured provider. Start again.")
            // Some providers name their issuer in answers with a code only.
            if issuer == nil { error.providerError = answer?.error }
            throw error
        }
        if let answer {
            throw sent().map { answer.openIDError(at: metadata.authority.kind, after: $0) } ?? answer.openIDError
        }
        guard let code else { throw OpenIDError(.badRequest, "The sign-in's answer has no code. Start again.") }
        return ValidatedCallback(code: code, attempt: attempt, metadata: metadata, issuer: issuer)
    }

    /// Returns the tenant whose administrator consented, according to the browser: it may be shown to people, but
    /// proves nothing. A provider's error is thrown with its stable code.
    public func adminConsentTenant(against attempt: AuthorizationAttempt) throws(OpenIDError) -> String? {
        try checkState(attempt)
        if let answer = ErrorAnswer(callback: parameters) { throw answer.openIDError }
        guard parameters["admin_consent"]?.lowercased() == "true" else {
            throw OpenIDError(.badRequest, "The answer is not one to a request for admin consent. Start again.")
        }
        return parameters["tenant"].flatMap { isGUID($0) ? $0 : nil }
    }

    private func checkState(_ attempt: AuthorizationAttempt) throws(OpenIDError) {
        guard isSameSecret(state, attempt.state) else {
            throw OpenIDError(.stateMismatch, "The answer does not belong to this sign-in. Start again.")
        }
    }
}

/// A callback that was checked. Only this type can be redeemed, and only ``Callback/validated(against:metadata:sent:)``
/// creates it.
public struct ValidatedCallback: Sendable, Redacted {
    let code: String
    let attempt: AuthorizationAttempt
    let metadata: ProviderMetadata
    /// The callback's `iss`; the ID token must have the same.
    let issuer: String?

    fileprivate init(code: String, attempt: AuthorizationAttempt, metadata: ProviderMetadata, issuer: String?) {
        self.code = code
        self.attempt = attempt
        self.metadata = metadata
        self.issuer = issuer
    }
}
