import Foundation
import HTTPServer
import HTTPWire
import TenantControl
package import TenantDirectory
import WebFormats

/// The content of a device code (RFC 8628). The code is this value, encrypted. The rest is in ``DeviceSignIns``.
package struct DeviceCode: Sendable, Codable {
    package static let grantType = "urn:ietf:params:oauth:grant-type:device_code"
    /// The seconds between two polls. Polling sooner is allowed, as on the platform, which never answers `slow_down`.
    static let interval = 5

    var userCode: String
    var clientID: String
    var segment: TenantSegment
    /// The parameter `scope`.
    var askedScope: String
    var expires: Date
}

/// The sign-in of a person for a device, on which they do not type.
extension GrantRequest {
    /// Issues the codes of a request: one for the device and one for the person.
    func deviceCode() throws -> JSONValue {
        let client = try clientOfDevice()
        let askedScope = try fields.required("scope")
        let scopes = try platform.scopes.parse(askedScope, of: client, tenant: segment.directoryID)
        guard platform.scopes.resources(scopes).count <= 1 else { throw PlatformError.severalResources(askedScope) }
        try platform.scopes.check(resource: fields.text("resource"), of: scopes)
        let expires = now.addingTimeInterval(TimeInterval(DeviceSignIns.lifetime))
        let signIn = DeviceSignIns.SignIn(
            clientID: client.id, segment: segment, scopes: scopes, claims: try RequestedClaims(fields["claims"]),
            network: exchange.request.peer.network, expires: expires)
        let userCode = platform.devices.withLock { [now, platform] in
            $0.add(signIn, now: now, randomBytes: platform.clock.randomBytes)
        }
        let code = DeviceCode(
            userCode: userCode, clientID: client.id, segment: segment, askedScope: askedScope, expires: expires)
        let page = "\(platform.addresses.baseURL)/devicelogin"
        controls.count(.deviceCode)
        return [
            "device_code": .string(try state.sealer.seal(code, for: .deviceCode)), "user_code": .string(userCode),
            "verification_uri": .string(page), "expires_in": .integer(DeviceSignIns.lifetime),
            "interval": .integer(DeviceCode.interval), "message": .string(message(userCode, page)),
        ]
    }

    /// The platform says of an application of one tenant that no tenant is named.
    private func clientOfDevice() throws(PlatformError) -> DemoClient {
        do {
            return try namedClient().client
        } catch {
            throw error.number == 50194 ? .noTenant : error
        }
    }

    /// Returns the sentence that the application shows, in the language of the parameter `mkt`.
    private func message(_ userCode: String, _ page: String) -> String {
        let query = exchange.request.head.query.flatMap { try? FormFields(query: $0) }
        let language = query?.text("mkt").flatMap(platform.layout.languages.lookup) ?? platform.layout.languages.source
        return DemoLanguage.$current.withValue(language) {
            HTML(
                saying: "To sign in, open the page %@ in a web browser and enter the code %@.", "\(page)", "\(userCode)"
            ).text
        }
    }

    /// Redeems the device code of a request, once the person has finished.
    func deviceTokens() throws -> JSONValue {
        let (client, secret) = try namedClient()
        let text = try fields.required("device_code")
        guard let code = state.sealer.open(text, for: .deviceCode, as: DeviceCode.self) else {
            throw PlatformError.deviceCodeUnknown
        }
        guard code.clientID == client.id else { throw PlatformError.grantOfAnotherClient }
        guard code.segment == segment else { throw PlatformError.codeOfAnotherTenant }
        let id = "device \(code.userCode)"
        try checkRedemption(of: id)
        guard now < code.expires else { throw PlatformError.deviceCodeExpired }
        guard let signIn = platform.devices.withLock({ $0[code.userCode] }) else {
            throw PlatformError.deviceCodeForgotten
        }
        let (username, authentication) =
            switch signIn.decision {
            case nil: throw PlatformError.authorizationPending
            case .declined(let reason): throw PlatformError.authorizationDeclined(reason)
            case .approved(let username, let authentication): (username, authentication)
            }
        try checkPublicFlow(of: client, secret)
        let account = try person(username)
        return try inWords(of: account) { try tokens(for: code, id, signIn, of: account, authentication, for: client) }
    }

    private func tokens(
        for code: DeviceCode, _ id: String, _ signIn: DeviceSignIns.SignIn, of account: DemoAccount,
        _ authentication: Authentication, for client: DemoClient
    ) throws -> JSONValue {
        try checkRevocation(account, authentication, issued: authentication.time)
        let claims = try RequestedClaims(fields["claims"])
        try platform.grants.checkPermissions(of: client, scopes: signIn.scopes)
        try platform.grants.checkConsent(of: account, to: client, scopes: signIn.scopes)
        let requested = claims.including(signIn.claims)
        try platform.grants.checkContexts(requested, of: account, by: authentication)
        try redeemOnce(id, until: code.expires)
        _ = controls.challengeMet(by: account.objectID, asking: signIn.claims.notBefore)
        let answer = try issuer(client, .native, account, authentication, requested: requested).answer(
            scopes: signIn.scopes, asked: code.askedScope, granted: signIn.scopes, nonce: nil,
            fault: controls.takeIDTokenFault(), wantsClientInfo: fields["client_info"] == "1")
        controls.count(.tokenDevice)
        return answer
    }
}

// Errors of a poll
extension PlatformError {
    package static let authorizationPending = Self(
        error: "authorization_pending", number: 70016,
        message: "OAuth 2.0 device flow error. Authorization is pending. Continue polling.")
    fileprivate static let deviceCodeUnknown = Self(
        error: "bad_verification_code", number: 70018,
        message: "Invalid verification code. The 'device_code' is none of this tenant's.")
    /// Of a code that was good and of which nothing is left (dc-11, MicrosoftDocs/microsoft-graph-training issue 97).
    fileprivate static let deviceCodeForgotten = Self(
        error: "invalid_grant", number: 7_000_014,
        message: "The provided value for the input parameter 'device_code' is not valid.")
    fileprivate static let deviceCodeExpired = Self(
        error: "expired_token", number: 70020,
        message: "The provided value for the input parameter 'device_code' is not valid. This device code has expired.")

    /// Returns the error of a poll after the person has not signed in.
    fileprivate static func authorizationDeclined(_ reason: PlatformError) -> Self {
        Self(error: "authorization_declined", number: reason.number, message: reason.message)
    }
}
