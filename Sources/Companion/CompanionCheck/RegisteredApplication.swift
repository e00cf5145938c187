import CompanionCore
import Foundation
import WebFormats

/// An app registration as Graph's `/applications` has it, as far as the checks need it. A member of another type than
/// documented counts as absent.
package struct RegisteredApplication: Sendable {
    /// A secret or a certificate.
    struct Credential: Sendable {
        /// The name in the portal of Entra ID, or the key's ID.
        let name: String
        /// The first three characters of a secret.
        let hint: String?
        /// The end of its validity.
        let end: Date?
        /// The SHA-1 of a certificate, as base64.
        let thumbprint: String?
    }

    /// The platforms of redirect URIs, as the portal of Entra ID names them.
    enum Platform: String, CaseIterable, Sendable {
        case web = "Web"
        case spa = "Single-page application"
        case publicClient = "Mobile and desktop applications"
    }

    let redirectURIs: [Platform: [String]]
    let logoutURL: String?
    let secrets, certificates: [Credential]
    /// The IDs of delegated permissions (`Scope`) by the resource's application ID.
    let requiredScopes: [String: Set<String>]
    /// The values of app roles that are switched on.
    let appRoles: Set<String>
    let groupMembershipClaims: String?
    let signInAudience: String?
    let allowsPublicFlows: Bool

    /// The members to select. Keys come without their bytes.
    package static let select =
        "appId,displayName,signInAudience,isFallbackPublicClient,groupMembershipClaims,appRoles,requiredResourceAccess,web,spa,publicClient,passwordCredentials,keyCredentials"

    /// Reads Graph's answer; nil if it is no application.
    init?(_ json: JSONValue) {
        guard json["appId"]?.string != nil else { return nil }
        func uris(_ name: String) -> [String] { json[name]?["redirectUris"]?.array?.compactMap(\.string) ?? [] }
        redirectURIs = [.web: uris("web"), .spa: uris("spa"), .publicClient: uris("publicClient")]
        logoutURL = json["web"]?["logoutUrl"]?.string
        secrets = Self.credentials(json["passwordCredentials"])
        certificates = Self.credentials(json["keyCredentials"])
        var required: [String: Set<String>] = [:]
        for resource in json["requiredResourceAccess"]?.array ?? [] {
            guard let id = resource["resourceAppId"]?.string?.lowercased() else { continue }
            let scopes = (resource["resourceAccess"]?.array ?? []).filter { $0["type"]?.string == "Scope" }
            required[id, default: []].formUnion(scopes.compactMap { $0["id"]?.string?.lowercased() })
        }
        requiredScopes = required
        appRoles = Set(
            (json["appRoles"]?.array ?? []).filter { $0["isEnabled"]?.bool ?? true }.compactMap { $0["value"]?.string })
        groupMembershipClaims = json["groupMembershipClaims"]?.string
        signInAudience = json["signInAudience"]?.string
        allowsPublicFlows = json["isFallbackPublicClient"]?.bool ?? false
    }

    private static func credentials(_ json: JSONValue?) -> [Credential] {
        (json?.array ?? []).map { credential in
            Credential(
                name: credential["displayName"]?.string ?? credential["keyId"]?.string ?? "–",
                hint: credential["hint"]?.string, end: credential["endDateTime"]?.string.flatMap(date),
                thumbprint: credential["customKeyIdentifier"]?.string)
        }
    }

    /// Graph's times may have fractions of seconds.
    private static func date(_ text: String) -> Date? {
        let whole = text.replacing(/\.\d+/, with: "")
        return try? Date(whole, strategy: .iso8601)
    }
}
