import CompanionCore
package import Foundation
package import Languages
import WebFormats

/// One result of `companion check` or of a portal's health page.
package struct CheckFinding: Sendable, Encodable, Equatable {
    /// The severity of a finding.
    package enum Severity: String, Sendable, Encodable, CaseIterable {
        /// Something does not work, or is open to attack: exit status 1.
        case mistake
        /// Everything works, but another configuration would be better.
        case advice
        /// Only a sign-in can show whether it works.
        case unknown
        /// Everything is in order.
        case good
    }

    /// A stable name of what was checked, such as `clock` or `file_permissions`.
    package let subject: String
    /// The severity.
    package let severity: Severity
    /// The application's name; nil if the finding concerns the whole installation.
    package var application: String?
    /// The application's authority, if the finding concerns it.
    package var authority: String?
    /// The one of several things that the finding is about, such as a secret's name; nil if there is only one.
    package var item: String?
    /// The time when the credential or token of the finding expires; nil if it is about something else.
    package var expires: Date?
    /// The finding itself.
    package let what: Message
    /// The reason why it matters; nil if the severity is good or unknown.
    package let why: String?
    /// The remedy; nil if the severity is good or unknown.
    package let remedy: String?

    /// The values by which two rounds of checks recognize the same finding.
    struct Identity: Hashable {
        let application, authority: String?
        let subject: String
        let item: String?
        let severity: Severity
    }

    var identity: Identity {
        Identity(application: application, authority: authority, subject: subject, item: item, severity: severity)
    }

    static func good(_ subject: String, _ what: Message) -> CheckFinding {
        CheckFinding(subject: subject, severity: .good, what: what, why: nil, remedy: nil)
    }

    static func unknown(_ subject: String, _ what: Message) -> CheckFinding {
        CheckFinding(subject: subject, severity: .unknown, what: what, why: nil, remedy: nil)
    }

    static func advice(_ subject: String, _ what: Message, why: String, remedy: String) -> CheckFinding {
        CheckFinding(subject: subject, severity: .advice, what: what, why: why, remedy: remedy)
    }

    static func mistake(_ subject: String, _ what: Message, why: String, remedy: String) -> CheckFinding {
        CheckFinding(subject: subject, severity: .mistake, what: what, why: why, remedy: remedy)
    }

    /// The finding as `companion check --json` prints it.
    var json: JSONValue {
        .members([
            "subject": .string(subject), "severity": .string(severity.rawValue), "application": .text(application),
            "authority": .text(authority), "item": .text(item), "what": .string(what.english), "why": .text(why),
            "remedy": .text(remedy), "expires": expires.map { .string($0.formatted(.iso8601)) },
        ])
    }

    /// Returns this finding for one application.
    func of(_ application: Application, authority: String? = nil) -> CheckFinding {
        var finding = self
        finding.application = application.id
        finding.authority = authority
        return finding
    }

    /// Returns this finding with one more sentence and the severity that results from it.
    func saying(_ text: Message, _ severity: Severity) -> CheckFinding {
        var finding = CheckFinding(
            subject: subject, severity: severity, what: what + " " + text, why: why, remedy: remedy)
        finding.application = application
        finding.authority = authority
        finding.item = item
        finding.expires = expires
        return finding
    }

    /// The remedy when an address cannot be reached. A container has its own network, and perhaps no curl.
    static func remedy(reaching address: some CustomStringConvertible) -> String {
        "Look at name resolution, firewall, proxy (https_proxy) and certificates where the server runs, for example "
            + "with `curl -v \(address)`."
    }

    private init(subject: String, severity: Severity, what: Message, why: String?, remedy: String?) {
        self.subject = subject
        self.severity = severity
        self.what = what
        self.why = why
        self.remedy = remedy
    }
}
