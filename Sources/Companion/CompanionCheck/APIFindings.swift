import CompanionCore
import OpenIDConnect

/// Finds APIs (`apis`) that could get a token that is not for them.
struct APIFindings {
    let apis: [AllowedAPI]
    let applications: [Application]

    var all: [CheckFinding] { apis.flatMap { api in unprotected(api) + foreign(api) + uncovered(api) } }

    private func paths(withoutScopes api: AllowedAPI) -> [APIPathPattern] {
        api.paths.filter { api.scopes[$0]?.isEmpty ?? true }
    }

    /// The applications whose tokens go there.
    private func callers(of api: AllowedAPI) -> [Application] {
        applications.filter { api.applications.contains($0.id) }
    }

    /// Those of them whose own API is at another origin.
    private func strangers(to api: AllowedAPI) -> [Application] {
        callers(of: api).filter { ($0.api ?? $0.graph)?.origin != api.base.origin }
    }

    private func unprotected(_ api: AllowedAPI) -> [CheckFinding] {
        guard !api.base.isTrustworthy else { return [] }
        return [
            CheckFinding.mistake(
                "apis", "apis.\(api.name).base is \(api.base), which is not https.",
                why: "Anyone on the way can read the access token, and use it.",
                remedy: "Write an https:// address, or one of this machine."
            ).about(api)
        ]
    }

    private func foreign(_ api: AllowedAPI) -> [CheckFinding] {
        let (open, strangers) = (paths(withoutScopes: api), strangers(to: api))
        guard !open.isEmpty, !strangers.isEmpty else { return [] }
        return [
            CheckFinding.mistake(
                "apis",
                "\(api.base.origin) gets access tokens that are for other APIs, from \(strangers.map(\.id).joined(separator: ", ")), at \(open.map(\.description).joined(separator: ", ")).",
                why:
                    "A path without scopes takes the token of the application's own API. Who runs this host could use it there.",
                remedy: "Write the API's own scopes for each of these paths in apis.\(api.name).scopes."
            ).about(api)
        ]
    }

    private func uncovered(_ api: AllowedAPI) -> [CheckFinding] {
        let open = paths(withoutScopes: api)
        guard !open.isEmpty, strangers(to: api).count < callers(of: api).count else { return [] }
        return [
            CheckFinding.advice(
                "apis",
                "apis.\(api.name).scopes does not name \(open.map(\.description).joined(separator: ", ")).",
                why:
                    "The application's own scopes are asked for there, which may be too few for the API, or more than it needs.",
                remedy: "Write the scopes of each path in apis.\(api.name).scopes."
            ).about(api)
        ]
    }
}

extension CheckFinding {
    fileprivate func about(_ api: AllowedAPI) -> CheckFinding {
        var finding = self
        finding.item = api.name
        return finding
    }
}
