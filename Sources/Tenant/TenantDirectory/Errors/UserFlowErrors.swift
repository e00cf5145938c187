// Errors of a request at a user flow
extension PlatformError {
    /// Returns the error as a user flow has it, with a number and a sentence of its own (MicrosoftDocs azure-docs
    /// active-directory-b2c/error-codes.md), and always as a bad request (id-b2c-21); at another path, and where the flow has
    /// none, the same.
    ///
    /// - Parameters:
    ///   - client: The client ID of the request, as the other values; nil for none.
    ///   - asked: Another parameter of the request, by its name.
    package func at(
        _ segment: TenantSegment, client: String?, scope: String?, asked: (String) -> String? = { _ in nil }
    ) -> Self {
        guard segment.userFlow != nil, prefix == Self.workforcePrefix,
            let (number, sentence) = requestSentence(client, scope, asked("response_type"))
                ?? named.flatMap({ valueSentence($0, asked($0) ?? "") }) ?? grantSentence
        else { return self }
        return Self(
            error: Self.userFlowWords[number] ?? error, number: number, message: sentence, prefix: Self.userFlowPrefix)
    }

    /// The words that differ. The one for a secret that is missing is captured (id-b2c-22), the others are inferred.
    private static let userFlowWords = [90079: "invalid_request", 90117: "invalid_request", 90205: "access_denied"]

    /// The number and the sentence about what a request asks for.
    private func requestSentence(
        _ client: String?, _ scope: String?, _ responseType: String?
    ) -> (number: Int, sentence: String)? {
        switch (number, named) {
        case (700_016, let id):
            (
                90018,
                "The client id '\(id ?? "")' specified in the request is not registered in tenant "
                    + "'\(Tenant.fabrikamB2CDomain)'."
            )
        case (500_113, _):
            (90007, "The application associated with client id '\(client ?? "")' has no registered redirect URIs.")
        case (900_144, "client_id"): (90008, "The request does not contain a client id parameter.")
        case (900_144, "scope"): (90010, "The request does not contain a scope parameter.")
        case (900_144, let name?): (90083, "The request is missing required parameter: \(name).")
        case (70003, let type?): (90086, "The supplied grant_type [\(type)] is not supported.")
        case (70011, _), (650_053, _), (500_011, _):
            (90117, "The scope '\(scope ?? "")' provided in the request is not supported.")
        case (28000, _):
            (
                90146,
                "The scope '\(scope ?? "")' provided in request specifies more than one resource for an access token, which "
                    + "is not supported."
            )
        case (650_057, _):
            (
                90205,
                "This application does not have sufficient permissions against this web resource to perform the operation."
            )
        case (700_054, _):
            (90013, "The requested response type '\(responseType ?? "")' provided in the request is not supported.")
        case (9_002_325, _): (99059, "The supplied request must present a code_challenge")
        default: nil
        }
    }

    /// The number and the sentence about a parameter whose value is none that there is.
    private func valueSentence(_ parameter: String, _ value: String) -> (number: Int, sentence: String)? {
        guard number == 90023 else { return nil }
        return switch parameter {
        case "response_mode":
            (90014, "The requested response mode '\(value)' provided in the request is not supported.")
        case "prompt":
            (
                90043,
                "The prompt included in the request contains invalid values. Expected 'none', 'login', 'consent' or "
                    + "'select_account'."
            )
        case "max_age": (90120, "The max age parameter '\(value)' specified in the request is invalid.")
        case "code_challenge_method":
            (90184, "The supplied code_challenge_method is not supported. Supported values are plain or S256")
        default: nil
        }
    }

    /// The number and the sentence about the proof of a client, or its grant.
    private var grantSentence: (number: Int, sentence: String)? {
        switch number {
        case 7_000_218: (90079, "Clients must send a client_secret when redeeming a confidential grant.")
        case 7_000_215, 7_000_222:
            (
                90081,
                "The specified client_secret does not match the expected value for this client. Please correct the "
                    + "client_secret and try again."
            )
        case 700_025:
            (90084, "Public clients should not send a client_secret when redeeming a publicly acquired grant.")
        case 9_002_313 where error == "invalid_grant": (90090, "The provided JWE is not a valid 5 segment token.")
        case 700_005: (90088, "The provided grant has not been issued for this endpoint.")
        case 54005, 70008, 700_082, 700_084:
            (90080, "The provided grant has expired. Please re-authenticate and try again.")
        case 50034:
            (90128, "The account associated with this grant no longer exists. Please reauthenticate and try again.")
        case 50173: (90129, "The provided grant has been revoked. Please reauthenticate and try again.")
        case 501_481: (90182, "The supplied code_verifier does not match associated code_challenge")
        default: nil
        }
    }
}
