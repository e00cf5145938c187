import FoundationEssentials
import HTTPTypes

@testable import OpenIDConnect

/// Documents, keys and tokens that do not change, so that what the corpus holds stays what it was. The private keys are
/// thrown away.
enum SampleProvider {
    static let tenantID = "11111111-2222-3333-4444-555555555555"
    static let now: ProviderClock = { Date(timeIntervalSince1970: 1_800_000_000) }

    static func answer(_ body: [UInt8]) -> ProviderResponse {
        ProviderResponse(
            head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]), body: body)
    }

    /// The metadata of one tenant, of all tenants, and of a provider that names itself in each callback.
    static let metadata: [ProviderMetadata] = {
        let host = "https://login.microsoftonline.com"
        return [
            ("\(host)/\(tenantID)", Authority.Kind.workforce, "\(host)/\(tenantID)/v2.0", false),
            ("\(host)/common", .workforce, "\(host)/{tenantid}/v2.0", false),
            ("https://id.example", .oidc, "https://id.example", true),
        ].compactMap { text, kind, issuer, namesItself in
            guard let authority = try? Authority(text, kind: kind) else { return nil }
            let document = """
                {"issuer":"\(issuer)","authorization_endpoint":"\(text)/a","token_endpoint":"\(text)/t",\
                "jwks_uri":"\(text)/k","authorization_response_iss_parameter_supported":\(namesItself)}
                """
            return try? ProviderMetadata(parsing: answer(Array(document.utf8)), of: authority, now: now)
        }
    }()

    static let keySet = """
        {"keys":[{"kty":"RSA","use":"sig","kid":"r","e":"AQAB","n":"\
        pz5BqjxFE3__QWp06MT1KnMjuf7RKkUw4AT4sD3W2sBE1E-mXfG0cJ5xoFsJXFGGLpIHshjRVbBV74ml6-\
        BJyq1hbngTZivQiissKGvDhFUCqckeDPpyLzNSTGwqFvb6DKSVLB6_1xTe2EBsqMN0PsDkj_pf3MRoUvtxENVHoQBozLM-\
        VMgQa8SKlJcu_Y5Jouz97G8OQUf0zNgONsoGbfCcBGnUmmq0gUoOc2u3RkvzpQak4YDZYnr5-bHw5ViwgaMuP6Of-\
        kINf2dH6plgQ2_nw2ni2YwGlzZbE6vcIr_L7qUdZ3PHB09tWTZJtgpSIZ8Tm5f3Lmcrvpa1vXiHdQ"},\
        {"kty":"EC","crv":"P-256","kid":"e","x":"DM8MJKSTD128k81O1Z272pWxvK0p-vTghgTABKzmxhQ",\
        "y":"qRrbQqPZuX_s7ob28CKjKFQXd3wWkmCG6mXRDsVTEJQ"}]}
        """

    private static let claims = """
        eyJpc3MiOiJodHRwczovL2xvZ2luLm1pY3Jvc29mdG9ubGluZS5jb20vMTExMTExMTEtMjIyMi0zMzMzLTQ0NDQtNTU1NTU1NTU1\
        NTU1L3YyLjAiLCJzdWIiOiJzIiwiYXVkIjoiYyIsInRpZCI6IjExMTExMTExLTIyMjItMzMzMy00NDQ0LTU1NTU1NTU1NTU1NSIs\
        ImlhdCI6MTgwMDAwMDAwMCwiZXhwIjoxODAwMDAzNjAwLCJub25jZSI6Im4ifQ
        """
    /// The only tokens that these keys ever signed, one for each algorithm.
    static let signedTokens = [
        """
        eyJhbGciOiJSUzI1NiIsImtpZCI6InIiLCJ0eXAiOiJKV1QifQ.\(claims).\
        n5ZebtjD0DSMHtITYyJjqbueGn6NxedmNME-\
        FdGBtxddINunBc84wD0TqbfbV0TE9m0bcZK29DX5zyBgra7u5A1XzdmmF3HINF0xX8j259OQ6-pXZAP9TVe4JHOWP-eNU0v9XwZE\
        9xDWAZUh3KUZOsrppZA8Jc1PmmavwqVop4vT7IsTAmOPCHMhTezC5tzd6XszN4Se7toNP2saDMUC43Y129wSbz2FgknbMlDfWNfv\
        Uq9__byiqukIcprck_pE_dQfCsleoFzGrZ3LtX_jjezpaFdTSffFGh2OU1wA1wyuzQVLlEoMx6XEUJG7Av8he0aFfroXn_jwvdSb\
        Tskrbw
        """,
        """
        eyJhbGciOiJQUzI1NiIsImtpZCI6InIiLCJ0eXAiOiJKV1QifQ.\(claims).\
        VS8piis3D8qAFDQXgqaR4qHwGVDy5RKCM6PK0FKU0T6WUbPFjaKHFTVo84rzSHmVafNmlCGJZRzA_tzztSWRBwUJMZUM6KWP6PPE\
        QmJtIj2KCxfoMAWrvZjHDou4U_o5qXJjN_17Tbr3foAhTrAQlwzD9k1Y5x0TFbeFciDTXRB3nfDFxmMEHRflM1HvFG7GTqziU6mo\
        y3TEerdwbHd56vEi86A6Q3kOcaUQMYJ6atRJRPho5DufvuNLaM9SHTwaTr-\
        vBvBzfVLb5rNmsHwpdr9_o3HmTEja8jlSO9XqEPgUOU-Xpv643Upg_sFMV74_GGV8HObvj60LWiC-8w0MMw
        """,
        """
        eyJhbGciOiJFUzI1NiIsImtpZCI6ImUiLCJ0eXAiOiJKV1QifQ.\(claims).\
        S4t9K2Rw2O1u-g10JWhKEFm8Hr2p47tQiPp7MvG0zHvpUu-ZluLZ8vWoa186BUF7SnRiuzouA6j579_9b4ePOg
        """,
    ]
}

extension SigningKey {
    static let samples: [SigningKey] = {
        let response = SampleProvider.answer(Array(SampleProvider.keySet.utf8))
        return (try? SigningKeySet(parsing: response, now: SampleProvider.now).keys) ?? []
    }()
}

extension IssuerRule {
    static let samples = SampleProvider.metadata.map(\.issuerRule)
}
