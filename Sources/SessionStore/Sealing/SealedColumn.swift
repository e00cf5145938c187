/// A column that holds sealed values, by its name, which is the same in every backend. Where it stands, each backend knows.
///
/// Posted answers have none here, which live for a minute, and sign-ins that browsers keep for half an hour: no walk through
/// what is sealed looks for them.
package enum SealedColumn: String, CaseIterable, Sendable {
    case claims
    case refreshToken = "refresh_token"
    case idToken = "id_token"
    case accessToken = "token"

    package var name: String { rawValue }

    /// What the value of a row is sealed for, by what the row says of its owner; only what is needed is asked for.
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
    /// The column that has the value; nil where no walk looks for it.
    package var column: SealedColumn? {
        switch self {
        case .claims: .claims
        case .refreshToken: .refreshToken
        case .idToken: .idToken
        case .accessToken: .accessToken
        case .signIn, .postedAnswer: nil
        }
    }
}
