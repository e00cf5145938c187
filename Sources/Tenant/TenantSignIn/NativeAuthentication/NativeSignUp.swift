import TenantDirectory
import WebFormats

/// Sign-up in an app's own screens: the address is confirmed by a code, then come password and attributes.
extension NativeRequest {
    /// `POST signup/v1.0/start`
    func startSignUp() throws -> JSONValue {
        var flow = try begun(.signUp, username: username())
        guard let userFlow = client.signUpFlow else { throw PlatformError.noUserFlow }
        guard people.account(username: flow.username) == nil else { throw PlatformError.userAlreadyExists }
        // The address is always confirmed by a code.
        guard asks(flow, by: .code), asks(flow, by: userFlow.method) else { return Self.redirect }
        flow.attributes = try attributes(userFlow, known: [:])
        // One that the user flow has no use for is left out.
        if userFlow.method == .password, let password = fields.text("password") {
            flow.password = try accepted(password, flow)
        }
        return try answer(beginning: flow)
    }

    /// `POST signup/v1.0/challenge`
    func challengeSignUp() throws -> JSONValue {
        try checkChallengeTypes()
        var flow = try flow(.signUp, at: .begun, .code, .credential, .password)
        guard flow.step == .credential || flow.step == .password else {
            return try answer(
                sendingTo: VerifiedContact(channel: .email, target: flow.username), flow, step: .code)
        }
        flow.step = .password
        return ["continuation_token": .string(try advance(flow)), "challenge_type": "password"]
    }

    /// `POST signup/v1.0/continue`
    func continueSignUp() throws -> JSONValue {
        guard let userFlow = client.signUpFlow else { throw PlatformError.noUserFlow }
        var flow: NativeFlow
        switch try fields.required("grant_type") {
        case "oob":
            flow = try self.flow(.signUp, at: .code)
            try checkCode(flow)
        case "password":
            let password = try fields.required("password")
            flow = try self.flow(.signUp, at: .password)
            flow.password = try accepted(password, flow)
        case "attributes":
            _ = try fields.required("attributes")
            flow = try self.flow(.signUp, at: .attributes)
            flow.attributes = try attributes(userFlow, known: flow.attributes)
        case let other: throw PlatformError.unsupportedNativeGrant(other)
        }
        return try finishSignUp(flow, userFlow)
    }

    /// Creates the account, or says what is missing.
    private func finishSignUp(_ flow: NativeFlow, _ userFlow: DemoClient.SignUpFlow) throws -> JSONValue {
        var flow = flow
        if userFlow.method == .password, flow.password == nil {
            flow.step = .credential
            throw PlatformError.credentialRequired.with(try advance(flow))
        }
        let missing = userFlow.attributes.filter { $0.isRequired && flow.attributes[$0.name] == nil }
        guard missing.isEmpty else {
            flow.step = .attributes
            throw PlatformError.attributesRequired(missing).with(try advance(flow))
        }
        flow.step = .done
        // Of two requests with one token, only one creates an account.
        let token = try advance(flow)
        guard people.signUp(username: flow.username, password: flow.password, attributes: flow.attributes) != nil else {
            platform.nativeFlows.withLock { $0.end(flow.id) }
            throw PlatformError.userAlreadyExists
        }
        return ["continuation_token": .string(token), "expires_in": .integer(ContinuationToken.lifetime)]
    }

    /// Returns a new password as it is kept, if it keeps the rules.
    private func accepted(_ password: String, _ flow: NativeFlow) throws(PlatformError) -> StoredPassword {
        let names = [flow.username] + ["displayName", "givenName", "surname"].compactMap { flow.attributes[$0] }
        if let refusal = PasswordRefusal.of(password, names: names) { throw .passwordRefused(refusal) }
        return StoredPassword(password, clock: platform.clock)
    }

    /// Returns the attributes so far with those of the request. Those that the user flow does not have are ignored.
    private func attributes(
        _ userFlow: DemoClient.SignUpFlow, known: [String: String]
    ) throws(PlatformError) -> [String: String] {
        guard let text = fields.text("attributes") else { return known }
        guard let given = JSONValue(parsing: Array(text.utf8))?.object else {
            throw .unsupportedValue("attributes", of: "attributes")
        }
        var values = known
        var invalid: [String] = []
        for attribute in userFlow.attributes {
            guard let value = given[attribute.name], value != .null else { continue }
            let text =
                value.string ?? value.integer.map(String.init) ?? value.bool.map { $0 ? "true" : "false" }
            if let text, attribute.accepts(text), !(text.isEmpty && attribute.isRequired) {
                values[attribute.name] = text
            } else {
                invalid.append(attribute.name)
            }
        }
        guard invalid.isEmpty else { throw .attributesInvalid(invalid) }
        return values
    }
}

extension PlatformError {
    static func unsupportedNativeGrant(_ type: String) -> Self {
        Self(
            error: "invalid_grant", number: 70003,
            message: "The app requested an unsupported grant type '\(type)'.")
    }
}
