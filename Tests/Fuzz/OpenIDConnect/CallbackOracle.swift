import WebFormats

@testable import OpenIDConnect

/// The input is a callback's query.
@Sendable func checkCallback(_ input: [UInt8]) throws(Disagreement) {
    let callback = try? Callback(formBody: input)
    if let text = String(validating: input, as: UTF8.self) {
        try agree((try? Callback(query: text))?.state, callback?.state, "A query is read as a form is")
    }
    guard let form = try? FormFields(body: input, maxFields: .max, isRepaired: true) else {
        try hold(callback == nil, "What is no form is no callback")
        return
    }
    let isStreamSafe = form.fields.allSatisfy { $0.name.isStreamSafe && $0.value.isStreamSafe }
    try hold(isStreamSafe || callback == nil, "No text is dear to compare")
    guard let callback else { return }

    try hold(!form.hasRepeatedNames, "No parameter comes twice")
    try agree(callback.state, form["state"], "The state is the parameter's")
    try agree(callback.code ?? "", form["code"] ?? "", "So is the code")
    let secrets = callback.state + (callback.code ?? "")
    try hold(!secrets.unicodeScalars.contains("\u{FFFD}"), "Neither of them is repaired")
    let reversed = try? Callback(fields: form.fields.reversed().map { ($0.name, $0.value) })
    try agree(reversed?.state, callback.state, "The order does not matter")
    for metadata in SampleProvider.metadata {
        try checkValidation(callback, form, metadata)
    }
    try checkSecrets(form)
}

private func attempt(_ state: String) -> AuthorizationAttempt {
    AuthorizationAttempt(state: state, nonce: "nonce", codeVerifier: "verifier")
}

/// Only the attempt with this state is answered, by its own provider, with a code.
private func checkValidation(
    _ callback: Callback, _ form: FormFields, _ metadata: ProviderMetadata
) throws(Disagreement) {
    do {
        _ = try callback.validated(against: attempt(callback.state + "x"), metadata: metadata)
        throw Disagreement(description: "Another attempt's answer is taken")
    } catch let error as OpenIDError {
        try agree(error.code, .stateMismatch, "Another attempt's answer is none of this one")
    } catch {
        throw Disagreement(description: "\(error)")
    }
    do {
        let valid = try callback.validated(against: attempt(callback.state), metadata: metadata)
        try agree(valid.code, form["code"], "The code that is redeemed is the one that came")
        try hold(form["error"] == nil || form["error"] == "", "An error brings no code")
        if let issuer = form["iss"], !issuer.isEmpty {
            try hold(metadata.issuerRule.mayBe(issuer), "Another provider's answer is taken")
        } else {
            try hold(!metadata.requiresIssuerInCallback, "An answer without its issuer is taken")
        }
    } catch let error as OpenIDError {
        try hold(error.code != .stateMismatch, "The state is right")
    } catch {
        throw Disagreement(description: "\(error)")
    }
}

/// Neither state nor code is in what is shown and logged, whatever the provider says beside them.
private func checkSecrets(_ form: FormFields) throws(Disagreement) {
    let secret = "5ecret-0f-this-0racle"
    let fields = form.fields.map { field in
        (field.name, ["state", "code"].contains(field.name) && !field.value.isEmpty ? secret : field.value)
    }
    for metadata in SampleProvider.metadata {
        do {
            let callback = try Callback(fields: fields)
            let shown = "\(callback) \(String(reflecting: callback))"
            try hold(!shown.contains(secret), "A callback does not show its secrets")
            _ = try callback.validated(against: attempt(secret), metadata: metadata)
        } catch let error as Disagreement {
            throw error
        } catch {
            try hold(!String(reflecting: error).contains(secret), "No secret is in an error: \(error)")
        }
    }
}
