@testable import OpenIDConnect

/// Each line of the input is a WWW-Authenticate field.
@Sendable func checkChallenges(_ input: [UInt8]) throws(Disagreement) {
    let fields = lines(input).map { String(decoding: $0, as: UTF8.self) }
    let challenges = AuthenticationChallenge.parse(fields)
    try agree(challenges, fields.flatMap { AuthenticationChallenge.parse([$0]) }, "Fields are read one by one")
    for challenge in challenges {
        try hold(challenge.token68 == nil || challenge.parameters.isEmpty, "A challenge has a token or parameters")
        try hold(!challenge.scheme.isEmpty && challenge.scheme == challenge.scheme.lowercased(), "A scheme is a token")
    }
    try agree(
        AuthenticationChallenge.parse(challenges.map(written)), challenges, "Challenges that are written come back")
    try agree(
        AuthenticationChallenge.parse([challenges.map(written).joined(separator: " ,, ")]), challenges,
        "So do several in one field")
    let scopes = AuthenticationChallenge.insufficientScopes(in: challenges)
    try hold(scopes?.allSatisfy { !$0.isEmpty && !$0.contains(" ") } ?? true, "Scopes have no spaces")
    if let claims = ClaimsRequest(challenges: challenges) {
        try agree(ClaimsRequest(json: claims.json), claims, "Claims are their JSON")
    }
}

private func written(_ challenge: AuthenticationChallenge) -> String {
    if let token = challenge.token68 { return "\(challenge.scheme) \(token)" }
    let parameters = challenge.parameters.map { name, value in
        let escaped = value.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
        return "\(name)=\"\(escaped)\""
    }
    return ([challenge.scheme] + [parameters.joined(separator: ", ")]).joined(separator: " ")
}
