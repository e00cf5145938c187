/// Consents to applications.
extension Grants {
    /// Returns the key of a person's consent in the state.
    package func consentKey(_ client: DemoClient, _ account: DemoAccount) -> String {
        "\(client.id) \(account.username)"
    }

    /// Returns whether the user, or an administrator for everyone, has consented to these scopes. Any consent to the
    /// application also covers OpenID Connect's scopes.
    package func hasConsented(_ account: DemoAccount, to client: DemoClient, scopes: [String]) -> Bool {
        guard account.kind.asksForConsent else { return true }
        let key = consentKey(client, account)
        return state.read { record in
            let own = record.consents[key]
            let administrator = account.kind == .work ? record.adminConsents[client.id] : nil
            guard own != nil || administrator != nil else { return false }
            let granted = (own ?? []).union(administrator ?? [])
            return Scopes.graphScopes(scopes).allSatisfy(granted.contains)
        }
    }

    /// Returns whether an administrator has to consent first. One consents for themselves, on the page of everyone.
    package func needsAdministrator(_ account: DemoAccount, for client: DemoClient, scopes: [String]) -> Bool {
        guard account.kind.asksForConsent, !account.traits.contains(.administrator) else { return false }
        let adminOnly = scopes.contains { self.scopes.permission($0)?.adminOnly == true }
        guard account.traits.contains(.needsAdminConsent) || adminOnly else { return false }
        let granted = state.read { $0.adminConsents[client.id] }
        guard let granted else { return true }
        return !Scopes.graphScopes(scopes).allSatisfy(granted.contains)
    }

    package func recordConsent(_ account: DemoAccount, to client: DemoClient, scopes: [String]) {
        let key = consentKey(client, account)
        state.change { $0.consents[key, default: []].formUnion(scopes) }
    }

    package func recordAdminConsent(to client: DemoClient, scopes: [String]) {
        state.change { $0.adminConsents[client.id, default: []].formUnion(scopes) }
    }

    /// Makes every application ask the user again.
    package func forgetConsents(of account: DemoAccount) {
        state.change { record in
            record.consents = record.consents.filter { !$0.key.hasSuffix(" \(account.username)") }
        }
    }
}

/// Demands for a second factor. Each demand has a number. A token or session with that number, or a later one, has met
/// it.
extension Grants {
    /// Returns the demand that this account has to meet; 0 for none.
    package func secondFactorDemand(on account: DemoAccount) -> Int {
        state.read { $0.secondFactorDemands[account.username, default: 0] }
    }

    /// Returns the number that meets every demand made so far.
    package var latestSecondFactorDemand: Int { state.read { $0.lastSecondFactorDemand } }

    /// Makes a new demand, which no token or session has met yet.
    package func demandSecondFactor(of account: DemoAccount) {
        state.change { record in
            record.lastSecondFactorDemand += 1
            record.secondFactorDemands[account.username] = record.lastSecondFactorDemand
        }
    }

    /// Returns whether a silent call has to be refused. The account that demonstrates this gets its demand with the
    /// first such call, so that it can sign in without a second factor before.
    package func refusesSilently(_ account: DemoAccount, met: Int) -> Bool {
        if met == 0, account.traits.contains(.secondFactorOnSilentCall), secondFactorDemand(on: account) == 0 {
            demandSecondFactor(of: account)
        }
        return met < secondFactorDemand(on: account)
    }
}
