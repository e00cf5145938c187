/// A way in which an ID token can be made invalid on demand.
package enum DemoIDTokenFault: String, Sendable, CaseIterable {
    case signature, issuer, audience, nonce, expired
    case notYetValid = "not_yet_valid"
    case algorithmNone = "algorithm_none"
    case unknownKeyID = "unknown_kid"
    case tenant
}
