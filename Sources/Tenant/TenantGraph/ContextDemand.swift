import Foundation
import TenantDirectory
import WebFormats

/// The authentication contexts that APIs demand.
extension Graph {
    /// Refuses a token without the context that its API demands: by a claims challenge if the client can handle one.
    func checkContext(of token: String?) throws(GraphError) {
        guard let claims = token.flatMap(state.verifiedClaims), let audience = claims["aud"]?.string,
            let context = OwnAPI(audience: audience)?.requiredContext
                ?? registrations.owner(of: audience)?.requiredContext(of: audience),
            claims["acrs"]?.array?.contains(.string(context)) != true
        else { return }
        let message = "The token does not have the authentication context \(context) that this API demands."
        guard claims["xms_cc"]?.array?.contains("cp1") == true else {
            throw GraphError(status: .forbidden, code: "insufficient_claims", message: message)
        }
        let demand = Data(AuthenticationContext.claims(accessToken: [context]).utf8).base64EncodedString()
        throw GraphError(
            status: .unauthorized, code: "insufficient_claims", message: message,
            challenge: bearer(
                "client_id=\"\(registrations.owner(of: audience)?.id ?? audience)\", error=\"insufficient_claims\", "
                    + "claims=\"\(demand)\", cc_type=\"authcontext\""))
    }
}
