extension FuzzTarget {
    static let ofOpenIDConnect = [
        FuzzTarget(name: "jwt", check: checkSignedToken),
        FuzzTarget(name: "jwks", check: checkKeySet),
        FuzzTarget(name: "metadata", check: checkMetadata),
        FuzzTarget(name: "www-authenticate", check: checkChallenges),
        FuzzTarget(name: "callback", check: checkCallback),
    ]
}
