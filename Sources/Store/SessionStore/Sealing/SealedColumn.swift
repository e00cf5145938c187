/// A column that holds sealed values, with its name, which is the same in every backend. Each backend knows its table.
///
/// Posted answers live for a minute, notes for an hour, and browsers keep sign-ins for half an hour. None of them has a
/// column here, because resealing skips them.
package enum SealedColumn: String, CaseIterable, Sendable {
    case claims
    case refreshToken = "refresh_token"
    case idToken = "id_token"
    case accessToken = "token"

    package var name: String { rawValue }

    /// Returns the place for which a row's value is sealed. Only the parts of the row that are needed are read.
    package func place(
        account: @autoclosure () throws -> AccountKey, tenant: @autoclosure () throws -> String,
        scopes: @autoclosure () throws -> String
    ) rethrows -> SealedPlace {
        switch self {
        case .claims: .claims(try account())
        case .refreshToken: .refreshToken(try account())
        case .idToken: .idToken(try account())
        case .accessToken: .accessToken(try account(), tenant: try tenant(), scopes: try scopes())
        }
    }
}

extension SealedPlace {
    /// The column that stores the value; nil if resealing skips it.
    package var column: SealedColumn? {
        switch self {
        case .claims: .claims
        case .refreshToken: .refreshToken
        case .idToken: .idToken
        case .accessToken: .accessToken
        case .signIn, .postedAnswer, .note: nil
        }
    }
}
