import Foundation

/// The kind of a sealed value, and its owner.
package enum SealedPlace: Sendable, Hashable {
    case claims(AccountKey)
    case refreshToken(AccountKey)
    case idToken(AccountKey)
    /// `tenant` is empty for the tenant in which the account signed in.
    case accessToken(AccountKey, tenant: String, scopes: String)
    /// A sign-in that the browser keeps. It opens only for this state and in this browser.
    case signIn(state: SHA256Hash, browser: [UInt8], begunAt: Int64)
    /// A posted answer. It lives for a minute, so resealing skips it.
    case postedAnswer(handle: SHA256Hash)
    /// A note about a session. It lives for an hour, so resealing skips it.
    case note(SessionKey, id: Int64)

    /// The data that is authenticated with a sealed value. It must never change: stored values would no longer open.
    var associatedData: Data {
        switch self {
        case .claims(let account): Self.data(["account_secret", "claims"] + Self.parts(account))
        case .refreshToken(let account): Self.data(["account_secret", "refresh_token"] + Self.parts(account))
        case .idToken(let account): Self.data(["account_secret", "id_token"] + Self.parts(account))
        case .accessToken(let account, let tenant, let scopes):
            Self.data(
                ["access_token", "token"] + Self.parts(account) + [scopes] + (tenant.isEmpty ? [] : [tenant]))
        case .signIn(let state, let browser, let begunAt):
            Self.data(["sign_in", state.blob.base64EncodedString(), Data(browser).base64EncodedString(), "\(begunAt)"])
        case .postedAnswer(let handle): Self.data(["posted_answer", "sealed", handle.blob.base64EncodedString()])
        case .note(let session, let id): Self.data(["session_note", "sealed", session.description, "\(id)"])
        }
    }

    private static func parts(_ account: AccountKey) -> [String] {
        [account.session.description, account.app, account.id]
    }

    /// Joins the parts, each with its length, so that no two places have the same bytes.
    private static func data(_ parts: [String]) -> Data {
        parts.reduce(into: Data("companion 1".utf8)) { data, part in
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: part.utf8.count).bigEndian) {
                data.append(contentsOf: $0)
            }
            data.append(contentsOf: part.utf8)
        }
    }
}
