package import Foundation
package import HTTPTypes
import HTTPWire
import OpenIDConnect
import Synchronization
import WebFormats

/// What is known of each identity provider from the requests so far: how its clock differs, when it last answered, and
/// how it last failed.
package final class ProviderFacts: Sendable {
    /// What is known of one.
    package struct Facts: Sendable {
        /// How far this machine's clock is ahead of the provider's, in seconds.
        package var clockSkew: TimeInterval?
        package var lastAnswer: Date?
        package var lastFailure: Date?
        /// What happened then, for operators.
        package var reason: String?

        /// Whether the last request failed.
        package var isFailing: Bool { lastFailure.map { $0 > lastAnswer ?? .distantPast } ?? false }
    }

    /// The configured authorities' hosts, with the port where it is not the scheme's own; the last one is `other`, for
    /// endpoints that a provider has elsewhere.
    package let hosts: [String]
    private let places: [String: Int]
    private let facts: Mutex<[Facts]>
    private let now: @Sendable () -> Date

    init(applications: [Application], now: @escaping @Sendable () -> Date) {
        var hosts: [String] = []
        for authority in applications.flatMap({ [$0.authority] + $0.userFlows.values }) {
            let host = authority.discoveryRequest.head.authority ?? "other"
            if !hosts.contains(host), host != "other" { hosts.append(host) }
        }
        self.hosts = hosts + ["other"]
        places = Dictionary(uniqueKeysWithValues: hosts.enumerated().map { ($1, $0) })
        facts = Mutex(Array(repeating: Facts(), count: hosts.count + 1))
        self.now = now
    }

    /// A host's place among ``hosts``.
    package func place(_ host: String) -> Int { places[host] ?? hosts.count - 1 }

    /// What is known of each, in the order of ``hosts``.
    package var all: [(host: String, facts: Facts)] { Array(zip(hosts, facts.withLock { $0 })) }

    /// One request ended; without an answer, or with a 5xx, it failed.
    package func note(_ place: Int, _ answer: HTTPResponse?, failure: String?) {
        let now = now()
        let skew = answer?.clockSkew(at: now)
        facts.withLock { facts in
            guard facts.indices.contains(place) else { return }
            if let skew { facts[place].clockSkew = skew }
            if let answer, answer.status.kind != .serverError {
                facts[place].lastAnswer = now
            } else {
                facts[place].lastFailure = now
                facts[place].reason = failure ?? answer.map { "status \($0.status.code)" }
            }
        }
    }
}

extension HTTPResponse {
    /// How far this machine's clock is ahead of the sender's, in seconds; nil when it does not say (RFC 9110 §6.6.1).
    package func clockSkew(at now: Date) -> TimeInterval? {
        let now = now.timeIntervalSince1970
        guard let text = headerFields[.date],
            let theirs = HTTPDate(parsing: text, now: HTTPDate(secondsSince1970: Int64(now)))
        else { return nil }
        return now - TimeInterval(theirs.secondsSince1970)
    }
}
