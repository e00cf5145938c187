import WebFormats

/// The policy of an authentication context, by which Conditional Access protects a part of an application.
public enum ContextPolicy: String, Sendable, CaseIterable {
    /// It needs a second factor.
    case secondFactor = "second_factor"
    /// It needs the password, even from those who are signed in already.
    case password
    /// Nobody gets in.
    case blocked
}

/// An authentication context (the claim `acrs`).
public enum AuthenticationContext {
    /// Whether a text is the ID of one: `c1` to `c99`.
    public static func isID(_ text: String) -> Bool {
        guard let number = Int(text.dropFirst()) else { return false }
        return (1...99).contains(number) && text == "c\(number)"
    }

    /// Returns those texts that are IDs in the order of their numbers, each once.
    package static func known(_ texts: [String]) -> [String] {
        Set(texts.filter(isID)).sorted { ($0.count, $0) < ($1.count, $1) }
    }

    /// Returns the request for contexts, in the form of the parameter `claims`.
    package static func claims(accessToken: [String] = [], idToken: [String] = []) -> String {
        let tokens = ["access_token": accessToken, "id_token": idToken].filter { !$0.value.isEmpty }
        return JSONValue.object(
            tokens.mapValues { ids in
                let value: [String: JSONValue] =
                    ids.count == 1
                    ? ["value": .string(ids[0])] : ["values": .array(ids.map(JSONValue.string))]
                return ["acrs": .object(value.merging(["essential": true]) { $1 })]
            }
        ).text
    }
}

extension Grants {
    /// Returns the policy of a context for an account. There are contexts in organizations and external tenants; those of
    /// an external tenant ask for a second factor, or block.
    private func policy(of context: String, for account: DemoAccount) -> ContextPolicy? {
        guard account.kind.hasContexts else { return nil }
        let policy = contexts[context]
        return account.kind == .external && policy == .password ? nil : policy
    }

    /// Returns those of the contexts whose policy an authentication does not meet, with the policy.
    package func unmet(
        _ asked: [String], of account: DemoAccount, by authentication: Authentication
    ) -> [String: ContextPolicy] {
        var unmet: [String: ContextPolicy] = [:]
        for context in asked {
            switch policy(of: context, for: account) {
            case .secondFactor where authentication.secondFactor == 0: unmet[context] = .secondFactor
            case .password where authentication.contexts?.contains(context) != true: unmet[context] = .password
            case .blocked: unmet[context] = .blocked
            case .secondFactor, .password, nil: break
            }
        }
        return unmet
    }

    /// Returns the contexts of a token: those that it was asked for, and those whose policy is met anyway if they are an
    /// optional claim of it.
    package func grantedContexts(
        asked: [String], isOptionalClaim: Bool, of account: DemoAccount, by authentication: Authentication
    ) -> [String] {
        guard account.kind.hasContexts else { return [] }
        let candidates =
            asked + (isOptionalClaim ? contexts.keys.filter { policy(of: $0, for: account) != nil } : [])
        let unmet = unmet(candidates, of: account, by: authentication)
        return AuthenticationContext.known(candidates.filter { unmet[$0] == nil })
    }

    /// Returns those of the contexts that a password meets.
    package func contextsMetByPassword(_ asked: [String], of account: DemoAccount) -> Set<String> {
        Set(asked.filter { policy(of: $0, for: account) == .password })
    }
}

extension DemoAccount.Kind {
    fileprivate var hasContexts: Bool { self == .work || self == .external }
}
