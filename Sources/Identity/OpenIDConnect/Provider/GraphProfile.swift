import WebFormats

/// The response of Microsoft Graph's `/me`.
public enum GraphProfile {
    /// Microsoft Graph's hosts (its page on national cloud deployments).
    static let hosts: Set = [
        "graph.microsoft.com", "graph.microsoft.us", "dod-graph.microsoft.us", "microsoftgraph.chinacloudapi.cn",
    ]

    /// Whether an API is Graph's `/me`: at Microsoft, or at an emulator that is both provider and Graph.
    public static func isServed(at api: Endpoint, with authority: Authority) -> Bool {
        (hosts.contains(api.host) || api.origin == authority.origin)
            && ["/v1.0/me", "/v1.0/me/", "/beta/me", "/beta/me/"].contains(api.path)
    }

    /// Whether a successful response is about the account. `id` is the object ID of the ID token; for a personal
    /// account it is the last 16 digits of it. A response without `id`, which `$select` may cause, is accepted.
    public static func isAbout(objectID: String, body: [UInt8]) -> Bool {
        guard let id = JSONValue(parsing: body)?["id"]?.string?.lowercased() else { return true }
        let objectID = objectID.lowercased()
        guard objectID.hasPrefix("00000000-0000-0000-") else { return id == objectID }
        let digits = objectID.filter { $0 != "-" }.drop { $0 == "0" }
        return id.filter { $0 != "-" }.drop { $0 == "0" } == digits
    }
}
