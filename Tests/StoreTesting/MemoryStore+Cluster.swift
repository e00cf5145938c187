package import Foundation
package import SessionStore

/// The coordination of stores on the same contents.
extension MemoryStore {
    /// The contents' own clock, which advances while a test's clock stands still.
    private var time: Int64 { Date().milliseconds }

    package func connections() async -> StoreConnections? { nil }
    package var isEncrypted: Bool? { nil }

    package func versions(of sessions: [SessionKey], within limit: Duration?) async throws(StoreError)
        -> [SessionKey: Int64]
    {
        try read { state in
            sessions.reduce(into: [:]) { versions, key in versions[key] = state.sessions[key]?.version }
        }
    }

    package func takeRefreshLease(
        of account: AccountKey, seen: Data, by process: ServerProcess.ID, for duration: Duration
    ) async throws(StoreError) -> RefreshLeaseAnswer {
        let now = time
        return try write { (state) throws(StoreError) in
            let version = state.sessions[account.session]?.version ?? 0
            var answer = RefreshLeaseAnswer.changed
            try state.change(account) { stored in
                switch SignInRules.lease(
                    stored.refresh, refreshToken: stored.refreshToken, seen: seen, by: process, now: now)
                {
                case .take:
                    stored.refresh = stored.refresh.taken(by: process, for: duration, now: now)
                    answer = .taken(RefreshLease(account: account, fence: stored.refresh.fence, spent: seen))
                case .held(let remaining):
                    stored.refresh = stored.refresh.broughtBack(now: now) ?? stored.refresh
                    answer = .held(
                        by: stored.refresh.holder, remaining: .milliseconds(remaining), version: version)
                case .tooEarly(let wait, let status): answer = .tooEarly(.milliseconds(wait), status: status)
                case .changed: break
                }
            }
            return answer
        }
    }

    package func giveBack(_ lease: RefreshLease, pause: Duration, status: Int?) async throws(StoreError) {
        let now = time
        try write { state in
            guard let stored = state.account(lease.account), stored.refresh.fence == lease.fence else { return }
            try? state.change(lease.account) {
                $0.refresh = $0.refresh.givenBack(pause: pause, status: status, now: now)
            }
            state.sessions[lease.account.session]?.version += 1
        }
    }

    package func take(_ chore: Chore, by process: ServerProcess.ID, for duration: Duration)
        async throws(StoreError) -> Bool
    {
        let now = time
        return try write { state in
            let (holder, until) = state.chores[chore] ?? ("", 0)
            guard SignInRules.mayTake(process, from: holder, until: until, now: now) else { return false }
            state.chores[chore] = (process, now + duration.milliseconds)
            return true
        }
    }

    package func report(_ process: ServerProcess, for duration: Duration) async throws(StoreError) {
        let now = time
        try write { state in
            state.processes[process.id] = (process, now + duration.milliseconds)
            state.processes = state.processes.filter { $0.value.until > now - 24 * 3_600_000 }
        }
    }

    package func standing() async throws(StoreError) -> PlaceStanding {
        let now = time
        return try read { PlaceStanding(time: now, sealingKeys: $0.sealingKeys, refusal: $0.refusal) }
    }

    package func livingProcesses() async throws(StoreError) -> [ServerProcess] {
        let now = time
        return try read { state in
            state.processes.values.filter { $0.until > now && $0.until - now <= SignInRules.longestHold }.map(\.process)
                .sorted { $0.id < $1.id }
        }
    }
}
