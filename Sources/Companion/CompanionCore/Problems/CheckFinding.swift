package import Foundation
package import Languages
package import WebFormats

/// One result of `companion check` or of a portal's health page.
package struct CheckFinding: Sendable, Equatable {
    /// The severity of a finding.
    package enum Severity: String, Sendable, Encodable, CaseIterable {
        /// Something does not work, or is open to attack: exit status 1.
        case mistake
        /// Everything works, but another configuration would be better.
        case advice
        /// It is not known whether it works, mostly because only a sign-in can show it. This is neither good nor bad.
        case unknown
        /// Everything is in order.
        case good

        /// Returns the worst severity among findings. What is not known comes before what is good.
        package static func worst(of findings: [CheckFinding]) -> Severity {
            allCases.first { severity in findings.contains { $0.severity == severity } } ?? .unknown
        }

        /// Whether somebody has to do something, or should.
        package var isProblem: Bool { self == .mistake || self == .advice }
    }

    /// A stable name of what was checked, such as `clock` or `file_permissions`.
    package let subject: String
    /// The severity.
    package private(set) var severity: Severity
    /// The application's name; nil if the finding concerns the whole installation.
    package var application: String?
    /// The application's authority, if the finding concerns it.
    package var authority: String?
    /// The one of several things that the finding is about, such as a secret's name; nil if there is only one.
    package var item: String?
    /// The time when the credential or token of the finding expires; nil if it is about something else.
    package var expires: Date?
    /// The sentences of the finding, each with a translation of its own.
    package private(set) var sentences: [Message]
    /// The reason why it matters; nil if the severity is good or unknown.
    package let why: String?
    /// The remedy; nil if the severity is good or unknown.
    package let remedy: String?

    /// The finding itself.
    package var what: Message { sentences.dropFirst().reduce(sentences.first ?? "") { $0 + " " + $1 } }

    /// The finding in a language.
    package func what(in language: Language) -> String { sentences.map(language.text).joined(separator: " ") }

    /// Whether it is good; nil if that is not known.
    package var isGood: Bool? { severity == .unknown ? nil : severity == .good }

    /// The values by which two rounds of checks recognize the same finding.
    package struct Identity: Hashable {
        let application, authority: String?
        let subject: String
        let item: String?
        let severity: Severity
    }

    package var identity: Identity {
        Identity(application: application, authority: authority, subject: subject, item: item, severity: severity)
    }

    package static func good(_ subject: String, _ what: Message) -> CheckFinding {
        CheckFinding(subject: subject, severity: .good, sentences: [what], why: nil, remedy: nil)
    }

    package static func unknown(_ subject: String, _ what: Message) -> CheckFinding {
        CheckFinding(subject: subject, severity: .unknown, sentences: [what], why: nil, remedy: nil)
    }

    package static func advice(_ subject: String, _ what: Message, why: String, remedy: String) -> CheckFinding {
        CheckFinding(subject: subject, severity: .advice, sentences: [what], why: why, remedy: remedy)
    }

    package static func mistake(_ subject: String, _ what: Message, why: String, remedy: String) -> CheckFinding {
        CheckFinding(subject: subject, severity: .mistake, sentences: [what], why: why, remedy: remedy)
    }

    /// Returns the finding about something that expires: a mistake once it has, and advice in the thirty days before.
    package static func expiry(
        _ subject: String, at end: Date, now: Date, expired: Message, soon: Message, valid: Message, why: String,
        remedy: String
    ) -> CheckFinding {
        let left = end.timeIntervalSince(now)
        let (severity, what): (Severity, Message) =
            left <= 0 ? (.mistake, expired) : left < 30 * 86_400 ? (.advice, soon) : (.good, valid)
        let isGood = severity == .good
        return CheckFinding(
            subject: subject, severity: severity, expires: end, sentences: [what], why: isGood ? nil : why,
            remedy: isGood ? nil : remedy)
    }

    /// The finding as `companion check --json` prints it.
    package var json: JSONValue {
        .members([
            "subject": .string(subject), "severity": .string(severity.rawValue), "application": .text(application),
            "authority": .text(authority), "item": .text(item), "what": .string(what.english), "why": .text(why),
            "remedy": .text(remedy), "expires": expires.map { .string($0.formatted(.iso8601)) },
        ])
    }

    /// Returns this finding for one application.
    package func of(_ application: Application, authority: String? = nil) -> CheckFinding {
        var finding = self
        finding.application = application.id
        finding.authority = authority
        return finding
    }

    /// Returns this finding with the severity that one more sentence gives it.
    package func saying(_ severity: Severity, _ sentence: Message) -> CheckFinding {
        var finding = self
        finding.severity = severity
        finding.sentences.append(sentence)
        return finding
    }

    /// Returns this finding with a provider's own words, if there are any.
    package func quoting(_ words: String?) -> CheckFinding {
        words.map { saying(severity, "The provider says: “\($0)”.") } ?? self
    }

    /// The remedy when an address cannot be reached. A container has its own network, and perhaps no curl.
    package static func remedy(reaching address: some CustomStringConvertible) -> String {
        "Look at name resolution, firewall, proxy (https_proxy) and certificates where the server runs, for example "
            + "with `curl -v \(address)`. For a certificate authority of your own, set provider_ca_file."
    }
}

extension Date {
    /// The day in UTC, such as 2027-01-31.
    package var day: String { formatted(.iso8601.year().month().day()) }

    /// The number of days until the `day` of a later time, whatever the time of day is.
    package func days(until end: Date) -> Int {
        let (today, last) = (timeIntervalSince1970 / 86_400, end.timeIntervalSince1970 / 86_400)
        return Int(last.rounded(.down) - today.rounded(.down))
    }
}

extension CheckFinding: Encodable {
    private enum CodingKeys: String, CodingKey {
        case subject, severity, application, authority, item, expires, what, why, remedy
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(subject, forKey: .subject)
        try members.encode(severity, forKey: .severity)
        try members.encodeIfPresent(application, forKey: .application)
        try members.encodeIfPresent(authority, forKey: .authority)
        try members.encodeIfPresent(item, forKey: .item)
        try members.encodeIfPresent(expires?.formatted(.iso8601), forKey: .expires)
        try members.encode(what, forKey: .what)
        try members.encodeIfPresent(why, forKey: .why)
        try members.encodeIfPresent(remedy, forKey: .remedy)
    }
}

// MARK: Stored form

extension CheckFinding {
    /// The stored form, in which the sentences can still be shown in each reader's language. The application is its
    /// report's.
    package var stored: JSONValue {
        .members([
            "subject": .string(subject), "severity": .string(severity.rawValue), "authority": .text(authority),
            "item": .text(item), "expires": expires.map { .integer(Int($0.timeIntervalSince1970)) }, "why": .text(why),
            "remedy": .text(remedy), "sentences": .array(sentences.map { .members($0.stored) }),
        ])
    }

    /// Restores a finding from its ``stored`` form; nil if a newer version has stored a severity that this one lacks.
    package init?(stored: JSONValue, of application: Application) {
        guard let subject = stored["subject"]?.string,
            let severity = stored["severity"]?.string.flatMap(Severity.init(rawValue:)),
            let sentences = stored["sentences"]?.array
        else { return nil }
        self.init(
            subject: subject, severity: severity,
            sentences: sentences.compactMap { $0.object.flatMap(Message.restored(from:)) },
            why: stored["why"]?.string, remedy: stored["remedy"]?.string)
        self.application = application.id
        authority = stored["authority"]?.string
        item = stored["item"]?.string
        expires = stored["expires"]?.integer.map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }
}
