// Errors of an authorization request at a user flow
extension PlatformError {
    /// Returns the error as a user flow has it, with a number and a sentence of its own (MicrosoftDocs azure-docs
    /// active-directory-b2c/error-codes.md); at another path, and where the flow has none, the same.
    ///
    /// - Parameters:
    ///   - client: The client ID of the request, as the other values; nil for none.
    package func at(
        _ segment: TenantSegment, client: String?, scope: String?, responseType: String? = nil
    ) -> Self {
        guard segment.userFlow != nil, prefix == Self.workforcePrefix,
            let (number, sentence) = userFlowSentence(client, scope, responseType)
        else { return self }
        var error = self
        (error.number, error.message, error.prefix) = (number, sentence, Self.userFlowPrefix)
        // The word for a scope is invalid_request (aadsts.csv, inferred).
        if number == 90117 { error.error = "invalid_request" }
        return error
    }

    private func userFlowSentence(
        _ client: String?, _ scope: String?, _ responseType: String?
    ) -> (number: Int, sentence: String)? {
        switch number {
        case 700_016:
            return (
                90018,
                "The client id '\(client ?? "")' specified in the request is not registered in tenant "
                    + "'\(Tenant.fabrikamB2CDomain)'."
            )
        case 500_113:
            return (
                90007, "The application associated with client id '\(client ?? "")' has no registered redirect URIs."
            )
        case 900_144 where client == nil: return (90008, "The request does not contain a client id parameter.")
        case 900_144 where responseType != nil && scope == nil:
            return (90010, "The request does not contain a scope parameter.")
        case 70011, 650_053, 500_011:
            return (90117, "The scope '\(scope ?? "")' provided in the request is not supported.")
        case 700_054:
            return (
                90013,
                "The requested response type '\(responseType ?? "")' provided in the request is not supported."
            )
        default: return nil
        }
    }
}
