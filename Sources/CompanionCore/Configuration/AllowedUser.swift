import Foundation
package import OpenIDConnect
import WebFormats

/// One entry of `allowed_users`: an account by something that the provider vouches for. An e-mail address or a display
/// name is what people, or the administrators of any tenant, say of themselves, and never counts.
package enum AllowedUser: Sendable, Equatable {
    /// `oid`, in lower case, in one tenant or in any that is admitted.
    case object(id: String, tenantID: String? = nil)
    /// `sub`, where there is one issuer.
    case subject(String)
    /// `preferred_username`, where the tenants are fixed: their administrators give it.
    case username(String)

    /// What identifies an account, as the ID token says it.
    package struct Claims {
        package let tenantID, objectID, subject: String?
        /// Read when an entry needs it: it may have to be looked up in the stored claims.
        package let preferredUsername: () -> String?

        package init(tenantID: String?, objectID: String?, subject: String?, preferredUsername: @escaping () -> String?)
        {
            self.tenantID = tenantID
            self.objectID = objectID
            self.subject = subject
            self.preferredUsername = preferredUsername
        }
    }

    /// Reads an operator's entry.
    ///
    /// - Throws: what to write instead.
    package static func entries(
        _ text: String, at authority: Authority, listed tenants: [String]
    ) throws(Mistake) -> [AllowedUser] {
        guard authority.kind != .oidc else { return [.subject(text)] }
        if UUID(uuidString: text) != nil {
            // Azure AD B2C and external tenants can be configured to leave oid out; sub is the same there.
            let object = AllowedUser.object(id: text.lowercased())
            return authority.kind == .workforce ? [object] : [object, .subject(text.lowercased())]
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 2, UUID(uuidString: parts[0]) != nil, UUID(uuidString: parts[1]) != nil {
            return [.object(id: parts[1].lowercased(), tenantID: parts[0].lowercased())]
        }
        if text.contains("@") { return [try username(text, at: authority, listed: tenants)] }
        let isOneTenant = if case .tenant = authority.segment { tenants.isEmpty } else { false }
        // The platform's pairwise subject: base64url of 32 bytes.
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
        case (.b2c, _): throw Mistake("names nobody: B2C's tokens vouch for no username; write the object id")
        case (_, .consumers): throw Mistake("names nobody: personal accounts are named by their object id")
        case (_, .common) where tenants.isEmpty, (_, .organizations) where tenants.isEmpty:
            throw Mistake(
                "counts for nothing, because any tenant may give that name to anybody; name allowed_tenants too, or "
                    + "write the object id")
        default: return .username(text)
        }
    }

    /// Why an entry cannot be taken, for the operator.
    package struct Mistake: Error {
        package let reason: String
        init(_ reason: String) { self.reason = reason }
    }

    /// Whether it names this account.
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

    /// ASCII letters without case; everything else as it is, since Unicode's folding makes different names equal.
    private static func folded(_ text: String) -> some Sequence<UInt8> {
        text.utf8.lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }
}
