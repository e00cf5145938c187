import OpenIDConnect
package import WebFormats

/// The values of a sign-in whose code has been redeemed, or that came back without one: they are of no use any more. The
/// demo's pages show them to the session that began it. They are in memory only: no ``SessionEntry`` has them, so they are never stored.
package struct SpentValues: Sendable, Redacted {
    /// The number of the sign-in in ``AttemptHistory``.
    let attempt: Int
    let secrets: AuthorizationAttempt
    /// Nil if none came back. Nothing shows the verifier then, because no request has sent it.
    let code: String?

    /// The estimated memory use, in bytes.
    var bytes: Int {
        let values = [secrets.state, secrets.nonce, secrets.codeVerifier, code ?? ""]
        return values.reduce(MemoryLayout<SpentValues>.stride * 3 / 2) { $0 + $1.heapBytes }
    }

    /// Returns what the request of a step had of them.
    package func members(of step: String) -> [String: JSONValue] {
        switch step {
        case "authorize":
            [
                "state": .string(secrets.state), "nonce": .string(secrets.nonce),
                "code_challenge": .string(secrets.codeChallenge),
            ]
        case "callback":
            ["state": .string(secrets.state), "code": code.map(JSONValue.string)].compactMapValues(\.self)
        case "token": code.map { ["code": .string($0), "code_verifier": .string(secrets.codeVerifier)] } ?? [:]
        default: [:]
        }
    }
}
