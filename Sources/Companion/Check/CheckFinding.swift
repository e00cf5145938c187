import CompanionCore
import CompanionSignIn

/// One thing that `companion check` looked at.
package struct CheckFinding: Sendable, Codable, Equatable {
    /// How bad it is.
    package enum Severity: String, Sendable, Codable, CaseIterable {
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
    package let what: String
    /// Why it matters; nil when it is good or unknown.
    package let why: String?
    /// How to fix it; nil when it is good or unknown.
    package let remedy: String?

    static func good(_ subject: String, _ what: String) -> CheckFinding {
        CheckFinding(subject: subject, severity: .good, what: what, why: nil, remedy: nil)
    }

    static func unknown(_ subject: String, _ what: String) -> CheckFinding {
        CheckFinding(subject: subject, severity: .unknown, what: what, why: nil, remedy: nil)
    }

    static func advice(_ subject: String, _ what: String, why: String, remedy: String) -> CheckFinding {
        CheckFinding(subject: subject, severity: .advice, what: what, why: why, remedy: remedy)
    }

    static func mistake(_ subject: String, _ what: String, why: String, remedy: String) -> CheckFinding {
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
    func saying(_ text: String, _ severity: Severity) -> CheckFinding {
        var finding = CheckFinding(
            subject: subject, severity: severity, what: what + " " + text, why: why, remedy: remedy)
        finding.application = application
        finding.authority = authority
        return finding
    }

    init(_ finding: AuthorityCheck.Finding) {
        subject = finding.subject.rawValue
        severity = finding.isGood ? .good : finding.isWarning ? .advice : .mistake
        what = finding.text
        why = finding.advice?.why
        remedy = finding.advice?.remedy
    }

    private init(subject: String, severity: Severity, what: String, why: String?, remedy: String?) {
        self.subject = subject
        self.severity = severity
        self.what = what
        self.why = why
        self.remedy = remedy
    }
}
