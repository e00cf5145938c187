@testable import TenantDirectory
@testable import TenantSignIn

extension FuzzTarget {
    static let ofTenantSignIn = [FuzzTarget(name: "requested-claims", check: checkRequestedClaims)]
}

/// The input is the parameter `claims`. What is read of it is known, ordered, and the same in the form of a challenge.
@Sendable func checkRequestedClaims(_ input: [UInt8]) throws(Disagreement) {
    guard let text = String(validating: input, as: UTF8.self), let claims = try? RequestedClaims(text) else { return }
    let (accessToken, idToken) = (claims.accessTokenContexts ?? [], claims.idTokenContexts ?? [])
    for contexts in [accessToken, idToken] {
        try agree(AuthenticationContext.known(contexts), contexts, "Contexts have IDs, in order, each once")
        try hold(contexts.count <= 99, "There are 99 contexts")
    }
    try hold([nil, [], ["cp1"]].contains(claims.capabilities), "There is one capability")
    let challenge = try? RequestedClaims(AuthenticationContext.claims(accessToken: accessToken, idToken: idToken))
    try agree(challenge?.accessTokenContexts, accessToken, "The access token's contexts come back")
    try agree(challenge?.idTokenContexts, idToken, "The ID token's contexts come back")
}
