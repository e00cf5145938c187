import Foundation

@testable import OpenIDConnect

/// The first line is the authority's kind and URL; what follows is its discovery document.
@Sendable func checkMetadata(_ input: [UInt8]) throws(Disagreement) {
    let first = input.prefix { $0 != UInt8(ascii: "\n") }
    let words = String(decoding: first, as: UTF8.self).split(separator: " ", maxSplits: 1).map(String.init)
    guard words.count == 2, let kind = Authority.Kind(rawValue: words[0]) else { return }
    if let endpoint = Endpoint(words[1]) { try checkEndpoint(endpoint) }
    guard let authority = try? Authority(words[1], kind: kind) else { return }
    try agree(try? Authority(authority.description, kind: kind), authority, "An authority is its description")

    let document = Array(input.dropFirst(first.count + 1))
    let metadata: ProviderMetadata
    do {
        metadata = try ProviderMetadata(
            parsing: SampleProvider.answer(document), of: authority, now: SampleProvider.now)
    } catch {
        try hold([.invalidMetadata, .providerUnavailable].contains(error.code), "Metadata is refused as such")
        return
    }
    guard let theirs = try? JSONSerialization.jsonObject(with: Data(document)) as? [String: Any] else {
        throw Disagreement(description: "Foundation refuses what we read")
    }
    try agree(metadata.issuer, theirs["issuer"] as? String, "The issuer")
    try hold(metadata.issuerRule.mayBe(metadata.issuer), "The issuer may be a callback's")
    let endpoints = [
        ("authorization_endpoint", metadata.authorizationEndpoint), ("token_endpoint", metadata.tokenEndpoint),
        ("jwks_uri", metadata.keysEndpoint), ("end_session_endpoint", metadata.endSessionEndpoint),
        ("userinfo_endpoint", metadata.userInfoEndpoint), ("revocation_endpoint", metadata.revocationEndpoint),
    ]
    for (name, endpoint) in endpoints {
        guard let endpoint else {
            try hold(theirs[name] == nil || theirs[name] is NSNull, "\(name) is not dropped")
            continue
        }
        try agree(Endpoint(theirs[name] as? String ?? ""), endpoint, name)
        try checkEndpoint(endpoint)
        let isTrusted = endpoint.scheme == "https" || endpoint.isLoopback && authority.isLoopback
        try hold(isTrusted, "\(name) cannot be read on the way")
    }
}

/// An endpoint is what its text says, to Foundation as well: two readers that see two hosts would be a hole.
private func checkEndpoint(_ endpoint: Endpoint) throws(Disagreement) {
    try agree(Endpoint(endpoint.description), endpoint, "An endpoint is its description")
    guard let theirs = URLComponents(string: endpoint.description) else { return }
    try agree(theirs.encodedHost?.lowercased(), endpoint.host, "Foundation sees the same host in \(endpoint)")
    try agree(theirs.port, endpoint.port, "Foundation sees the same port in \(endpoint)")
    try hold(theirs.user == nil && theirs.fragment == nil, "Foundation sees no user and no fragment in \(endpoint)")
    // Brackets, which no path should have, Foundation escapes.
    let path = theirs.percentEncodedPath.replacing("%5B", with: "[").replacing("%5D", with: "]")
    let expected = endpoint.path.replacing("%5B", with: "[").replacing("%5D", with: "]")
    try agree(path, expected, "Foundation sees the same path in \(endpoint)")
}
