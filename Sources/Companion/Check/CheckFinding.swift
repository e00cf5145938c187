import CompanionCore
import CompanionSignIn
package import Languages

/// One thing that `companion check`, or a portal's health page, looked at.
package struct CheckFinding: Sendable, Encodable, Equatable {
    /// How bad it is.
    package enum Severity: String, Sendable, Encodable, CaseIterable {
        /// Something does not work, or is open to others: exit status 1.
        case mistake
        /// Works, and would be better otherwise.
        case advice
        /// Only a sign-in can show whether it works.
        case unknown
        /// As it should be.
        case good
    }

    /// What was looked at: a stable name, as `clock` or `file_permissions`.
    package let subject: String
    /// How bad it is.
    package let severity: Severity
    /// The application's name; nil for what concerns the whole installation.
    package var application: String?
    /// The application's authority, when it is about that.
    package var authority: String?
    /// What was found.
    package let what: Message
    /// Why it matters; nil when it is good or unknown.
    package let why: String?
    /// How to fix it; nil when it is good or unknown.
    package let remedy: String?

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

    /// The same about one application.
    func of(_ application: Application, authority: String? = nil) -> CheckFinding {
        var finding = self
        finding.application = application.id
        finding.authority = authority
        return finding
    }

    /// The same with one more sentence about what was found, and what that makes of it.
    func saying(_ text: Message, _ severity: Severity) -> CheckFinding {
        var finding = CheckFinding(
            subject: subject, severity: severity, what: what + " " + text, why: why, remedy: remedy)
        finding.application = application
        finding.authority = authority
        return finding
    }

    /// The remedy where something cannot be reached. A container has a network of its own, and perhaps no curl.
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
