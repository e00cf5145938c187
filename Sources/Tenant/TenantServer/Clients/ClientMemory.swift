import Foundation

/// MSAL's behavior after a failure, as its common core 1.26.0 for iOS and macOS has it; each comment names the file.
extension ClientRequest {
    /// Whether the next request is MSAL's second try, half a second after a 5xx or no answer
    /// (MSIDAADRequestErrorHandler.m:54-72). A request has one.
    func isRepeated(by next: ClientRequest) -> Bool {
        let seconds = next.time.timeIntervalSince(time) - Double(milliseconds) / 1000
        return isFromApp && next.isFromApp && !isRetry && hasServerFailed && seconds < 10
    }

    /// Whether both are the same step of the same call of MSAL.
    func isOfCall(of other: ClientRequest) -> Bool {
        correlationID != nil && correlationID == other.correlationID && clientID == other.clientID && step == other.step
            && native?.endpoint == other.native?.endpoint
    }

    private var hasServerFailed: Bool { status.map { (500...599).contains($0) } ?? true }

    /// The time until which MSAL answers the same silent request from memory, and whether an interactive sign-in ends that
    /// earlier; nil if it asks again.
    var memory: (end: Date, endsBySignIn: Bool)? {
        guard isFromApp, step == .refresh, let status else { return nil }
        let answered = time.addingTimeInterval(Double(milliseconds) / 1000)
        // Its body is an OAuth error (MSIDThrottlingModelNonRecoverableServerError.m:32, 69).
        if [400, 401].contains(status) { return (answered.addingTimeInterval(120), true) }
        guard status == 429 || hasServerFailed || retryAfter != nil, status != 200, !hasServerFailed || isRetry else {
            return nil
        }
        // MSIDThrottlingModel429.m:31, 105-114
        let seconds = retryAfter.map { $0 > 7200 ? 3600 : $0 } ?? 60
        return (answered.addingTimeInterval(Double(seconds)), false)
    }
}

extension ClientJournal.Content {
    /// Returns the time until which apps answer a failed request from memory; nil if none does any more.
    func memoryEnd(after now: Date) -> Date? {
        requests.compactMap { request -> Date? in
            guard let memory = request.memory, memory.end > now else { return nil }
            let hasSignedIn = requests.contains {
                $0.step == .code && $0.status == 200 && $0.clientID == request.clientID
                    && $0.position > request.position
            }
            return memory.endsBySignIn && hasSignedIn ? nil : memory.end
        }.max()
    }
}
