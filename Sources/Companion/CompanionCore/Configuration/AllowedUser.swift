import Foundation
package import OpenIDConnect
import WebFormats

/// One entry of `allowed_users`. It names an account by a value that the provider vouches for. E-mail addresses and
/// display names are not accepted, because people or the administrators of any tenant can choose them freely.
package enum AllowedUser: Sendable, Equatable {
    /// `oid` in lower case, in one tenant or in any admitted tenant.
    case object(id: String, tenantID: String? = nil)
    /// `sub`, if there is only one issuer.
    case subject(String)
    /// `preferred_username`, if the tenants are fixed, because their administrators assign it.
    case username(String)

    /// The identifying claims of an account's ID token.
    package struct Claims {
        package let tenantID, objectID, subject: String?
        /// Returns `preferred_username`. It is a function because the name may have to be looked up in the stored
        /// claims.
        package let preferredUsername: () -> String?

        package init(tenantID: String?, objectID: String?, subject: String?, preferredUsername: @escaping () -> String?)
        {
            self.tenantID = tenantID
            self.objectID = objectID
            self.subject = subject
            self.preferredUsername = preferredUsername
        }
    }

    /// Parses the operator's entries.
    ///
    /// - Throws: ``Mistake`` with what to write instead.
    package static func entries(
        _ text: String, at authority: Authority, listed tenants: [String]
    ) throws(Mistake) -> [AllowedUser] {
        guard authority.kind != .oidc else { return [.subject(text)] }
        if UUID(uuidString: text) != nil {
            // Azure AD B2C and external tenants can be configured to omit oid. There, sub has the same value.
            let object = AllowedUser.object(id: text.lowercased())
            return authority.kind == .workforce ? [object] : [object, .subject(text.lowercased())]
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 2, UUID(uuidString: parts[0]) != nil, UUID(uuidString: parts[1]) != nil {
            return [.object(id: parts[1].lowercased(), tenantID: parts[0].lowercased())]
        }
        if text.contains("@") { return [try username(text, at: authority, listed: tenants)] }
        let isOneTenant = if case .tenant = authority.segment { tenants.isEmpty } else { false }
        // The platform's pairwise subject is the base64url form of 32 bytes.
        let isSubject = text.utf8.count == 43 && Base64URL.decode(Array(text.utf8)) != nil
        guard isOneTenant, isSubject else {
            throw Mistake("is neither an object id nor a username; copy the “Object ID” from the user's page")
        }
        return [.subject(text)]
    }

    private static func username(
        _ text: String, at authority: Authority, listed tenants: [String]
    ) throws(Mistake) -> AllowedUser {
        switch (authority.kind, authority.segment) {
        case (.b2c, _): throw Mistake("matches no account: B2C does not vouch for usernames; write the object ID")
        case (_, .consumers): throw Mistake("matches no account: write a personal account's object ID")
        default: break
        }
        if authority.admitsEveryTenant(listed: tenants) { throw .assignedByEveryTenant("name") }
        return .username(text)
    }

    /// The reason why an entry is not accepted, for the operator.
    package struct Mistake: Error {
        package let reason: String
        init(_ reason: String) { self.reason = reason }

        /// The mistake of an entry that is compared with a claim which the administrators of every tenant assign.
        ///
        /// - Parameter thing: what they assign: a name, a group or an app role.
        static func assignedByEveryTenant(_ thing: String) -> Mistake {
            Mistake(
                "has no effect, because any tenant can assign that \(thing) to any user; set allowed_tenants too, or "
                    + "name users by their object IDs")
        }
    }

    /// Whether this entry names the account.
    package func names(_ account: Claims) -> Bool {
        switch self {
        case .object(let id, let tenantID):
            return account.objectID?.lowercased() == id
                && (tenantID == nil || account.tenantID?.lowercased() == tenantID)
        case .subject(let subject):
            return account.subject == subject
        case .username(let name):
            guard account.tenantID?.lowercased() != Authority.consumersTenantID,
                let username = account.preferredUsername()
            else { return false }
            return Self.folded(username).elementsEqual(Self.folded(name))
        }
    }

    /// Returns the text with ASCII letters in lower case. Other characters stay unchanged, since Unicode case folding
    /// makes some different names equal.
    private static func folded(_ text: String) -> some Sequence<UInt8> {
        text.utf8.lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }
}

extension Authority {
    /// Whether the accounts of every organization may sign in, because neither the authority nor the operator's list
    /// names a tenant.
    func admitsEveryTenant(listed tenants: [String]) -> Bool {
        switch segment {
        case .common, .organizations: tenants.isEmpty
        case .tenant, .consumers, nil: false
        }
    }
}
