import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import TenantControl
import TenantDirectory
import WebFormats

/// One request of a client. It has nothing else than what these properties say: no body, code, token or name of a person.
struct ClientRequest: Sendable, Hashable {
    /// The position among all requests, from 1.
    var position = 0
    let time: Date
    let step: ClientStep
    /// A registered client's ID, or another GUID.
    let clientID: String?
    /// Nil if it got no answer, on purpose.
    let status: Int?
    /// The seconds of `Retry-After` in the answer.
    let retryAfter: Int?
    /// Whether it is MSAL's second try.
    var isRetry = false
    var error: String?
    let correlationID: String?
    /// The client library as it names itself, such as `MSAL.iOS 2.13.0`.
    let library: String?
    /// Whether MSAL for iOS or macOS sent the request itself, rather than a browser on its behalf.
    let isFromApp: Bool
    /// Whether the companion's check of its configuration sent the request, which is meant to be refused.
    let isCheck: Bool
    /// The names of the parameters, as far as they are known.
    let parameters: [String]
    let scopes: [String]
    let milliseconds: Int
    /// Nil for everything but native authentication.
    var native: NativeExchange?

    init(
        _ request: Request, _ fields: FormFields?, step: ClientStep, note: ClientNote.Content, status: Int?,
        retryAfter: Int? = nil, time: Date, milliseconds: Int, isRegistered: (String) -> Bool
    ) {
        self.time = time
        self.step = step
        self.status = status
        self.retryAfter = retryAfter
        self.milliseconds = milliseconds
        error = note.error
        clientID = (note.clientID ?? fields?["client_id"])?.lowercased().nonEmpty.flatMap {
            isRegistered($0) || UUID(uuidString: $0) != nil ? $0 : nil
        }
        correlationID =
            ([request.head[.clientRequestID], fields?["client-request-id"]].lazy
                .compactMap { $0.flatMap(UUID.init(uuidString:))?.uuidString.lowercased() }.first) ?? note.correlationID
        let sent = request.head[.clientSKU]?.shortWord
        let version = request.head[.clientVersion] ?? fields?.value("x-client-Ver")
        library = (sent ?? fields?.value("x-client-SKU")?.shortWord).map { name in
            version?.shortWord.map { "\(name) \($0)" } ?? name
        }
        isFromApp = sent.map { ["MSAL.iOS", "MSAL.OSX"].contains($0) } ?? false
        let agent = request.head[.userAgent] ?? ""
        isCheck = agent.hasPrefix("companion/") && agent.hasSuffix(" (check)")
        // The fields of the tenant's own pages are not the client's.
        let sentFields = step == .page ? [] : fields?.fields ?? []
        let names = Set(sentFields.map(\.name).filter { $0.utf8.count < 40 }.map { $0.lowercased() })
        parameters = Self.knownParameters.filter(names.contains)
        scopes = (fields?["scope"] ?? "").split(separator: " ").prefix(16).compactMap { String($0).shortWord }
    }

    /// Whether a device asked for tokens while the person had not finished, which is no failure.
    var isPending: Bool { step == .devicePoll && error == "AADSTS\(PlatformError.authorizationPending.number)" }

    /// The lines about native authentication. MSAL sends the request again after its server's first failure.
    var nativeLines: HTML {
        guard let native, isRetry || status.map({ $0 < 500 }) == true else { return "" }
        return native.lines
    }

    /// The bytes that the request takes in memory, roughly.
    var cost: Int {
        let texts = [clientID, error, correlationID, library].compactMap(\.self) + parameters + scopes
        return texts.reduce(native == nil ? 256 : 512) { $0 + $1.utf8.count + 16 }
    }

    /// The parameters of the protocols, in the order of the page. Any other name could be a value in the wrong place.
    static let knownParameters = [
        "grant_type", "client_id", "response_type", "response_mode", "redirect_uri", "post_logout_redirect_uri",
        "scope",
        "state", "nonce", "code_challenge", "code_challenge_method", "code", "code_verifier", "refresh_token",
        "client_secret", "client_assertion", "client_assertion_type", "prompt", "login_hint", "domain_hint",
        "logout_hint",
        "id_token_hint", "max_age", "acr_values", "claims", "client_info", "haschrome", "instance_aware", "login_req",
        "domain_req", "msafed", "ui_locales", "api-version", "authorization_endpoint", "client-request-id",
        "return-client-request-id", "x-client-sku", "x-client-ver", "x-client-os", "x-client-cpu", "x-client-dm",
        "x-client-current-telemetry", "x-client-last-telemetry", "x-app-name", "x-app-ver", "username", "password",
        "assertion", "requested_token_use", "device_code", "token", "token_type_hint", "p", "token_type", "req_cnf",
        "brk_client_id", "brk_redirect_uri", "challenge_type", "capabilities", "capability", "continuation_token",
        "oob",
        "new_password", "attributes", "id", "challenge_target", "challenge_channel",
    ]
}

extension FormFields {
    /// Returns the value of the first field with this name, in whatever case.
    fileprivate func value(_ name: String) -> String? {
        fields.first { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name.lowercased() }?.value
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }

    /// The text, if it is a word of at most 100 visible ASCII characters.
    fileprivate var shortWord: String? {
        (1...100).contains(utf8.count) && utf8.allSatisfy { (0x21...0x7E).contains($0) } ? self : nil
    }
}
