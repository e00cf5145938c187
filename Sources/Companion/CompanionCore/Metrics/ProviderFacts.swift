package import Foundation
package import HTTPTypes
import OpenIDConnect
import Synchronization
import WebFormats

/// Facts about each identity provider from earlier requests: its clock difference, its last response, and its last
/// failure.
package final class ProviderFacts: Sendable {
    /// The facts about one provider.
    package struct Facts: Sendable {
        /// The time by which this machine's clock is ahead of the provider's, in seconds.
        package var clockSkew: TimeInterval?
        package var lastAnswer: Date?
        package var lastFailure: Date?
        /// The description of the last failure, for operators.
        package var reason: String?

        /// Whether the last request failed.
        package var isFailing: Bool { lastFailure.map { $0 > lastAnswer ?? .distantPast } ?? false }
    }

    /// The hosts of the configured authorities, with the port if it is not the scheme's default. The last entry is
    /// `other`, for endpoints on other hosts.
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

    /// Returns the index of a host in ``hosts``.
    package func place(_ host: String) -> Int { places[host] ?? hosts.count - 1 }

    /// The facts about all providers, in the order of ``hosts``.
    package var all: [(host: String, facts: Facts)] { Array(zip(hosts, facts.withLock { $0 })) }

    /// Records the end of one request. It has failed if there is no response or a 5xx.
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
    /// Returns the time by which this machine's clock is ahead of the sender's, in seconds; nil without a Date field
    /// (RFC 9110 §6.6.1).
    package func clockSkew(at now: Date) -> TimeInterval? {
        let now = now.timeIntervalSince1970
        guard let text = headerFields[.date],
            let theirs = HTTPDate(parsing: text, now: HTTPDate(secondsSince1970: Int64(now)))
        else { return nil }
        return now - TimeInterval(theirs.secondsSince1970)
    }
}
