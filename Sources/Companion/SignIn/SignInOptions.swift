import HTTPWire
import OpenIDConnect

/// What a sign-in's URL may ask for, checked.
struct SignInOptions: Sendable {
    /// MSAL's "prompt if necessary", which is no `prompt` parameter at the provider.
    static let ifNecessary = "if_necessary"

    let prompt: Prompt?
    let loginHint: String?
    let domainHint: String?
    let extraScopes: [String]
    /// A claims request (OpenID Connect Core §5.5), a JSON object.
    let claims: ClaimsRequest?
    let returnPath: ReturnPath

    /// Reads the query of `/auth/{app}/sign-in`.
    ///
    /// - Throws: ``Problem`` `bad_request` that names the parameter.
    init(query: String?, application: Application) throws(Problem) {
        let fields: FormFields
        do {
            fields = try FormFields(query: query ?? "")
        } catch {
            throw Problem(.badRequest, "The address has a query that cannot be read. Start again from the page.")
        }
        let known: Set = ["prompt", "login_hint", "domain_hint", "scope", "claims", "return_to"]
        for name in known where fields.values(for: name).count > 1 {
            throw Problem(.badRequest, "“\(name)” is given twice. Start again from the page.")
        }
        for name in known.subtracting(["claims"]) {
            guard let value = fields[name] else { continue }
            guard value.utf8.count <= 512,
                !value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
            else {
                throw Problem(.badRequest, "“\(name)” is too long or has control characters.")
            }
        }
        loginHint = fields["login_hint"].flatMap { $0.isEmpty ? nil : $0 }
        domainHint = fields["domain_hint"].flatMap { $0.isEmpty ? nil : $0 }
        extraScopes = (fields["scope"] ?? "").split(separator: " ").map(String.init)
        // A hint names the account, so that asking which account it is (the application's own prompt) would be wrong.
        switch fields["prompt"] {
        case nil, "": prompt = loginHint == nil ? application.prompt : nil
        case SignInOptions.ifNecessary: prompt = nil
        case .some(let text):
            guard let known = Prompt(rawValue: text) else {
                throw Problem(
                    .badRequest, "“prompt” must be if_necessary, select_account, login, consent, create or none.")
            }
            prompt = known
        }
        if let text = fields["claims"], !text.isEmpty {
            guard let request = ClaimsRequest(json: text) else {
                throw Problem(.badRequest, "“claims” must be a JSON object of at most 8192 bytes.")
            }
            claims = request
        } else {
            claims = nil
        }
        guard let path = ReturnPath(fields["return_to"] ?? "/\(application.id)") else {
            throw Problem(.badRequest, "“return_to” must be a path of this site.")
        }
        returnPath = path
    }
}
