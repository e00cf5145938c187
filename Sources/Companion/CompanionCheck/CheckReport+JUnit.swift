package import CompanionCore
package import Foundation
import WebFormats

extension CheckReport {
    /// Returns the findings whose credential or token expires within a time. Those that have expired are mistakes and are
    /// not among them.
    package func expiring(within seconds: TimeInterval, of now: Date) -> [CheckFinding] {
        findings.filter { finding in
            guard let expires = finding.expires, finding.severity != .mistake else { return false }
            return expires.timeIntervalSince(now) < seconds
        }
    }

    /// Returns the report in the form that JUnit's readers in pipelines understand: one test suite for the installation
    /// and for each application, one test case for each finding.
    ///
    /// - Parameter expiring: findings that count as failures although they are no mistakes.
    package func junit(failing expiring: [CheckFinding]) -> String {
        let suites = [nil] + registrations.map { Optional($0.application) }
        let all = suites.map { suite -> HTML in
            let own = findings.filter { $0.application == suite }
            let failed = own.count { Self.isFailure($0, expiring) }
            let skipped = own.count { $0.severity == .unknown }
            return """
                  <testsuite name="\(suite ?? "installation")" tests="\(own.count)" failures="\(failed)" skipped="\(skipped)">
                \(own.map { Self.testCase($0, isFailure: Self.isFailure($0, expiring)) })  </testsuite>

                """
        }
        let document: HTML = """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="companion check">
            \(all)</testsuites>
            """
        // XML 1.0 has no other control characters.
        return String(
            String.UnicodeScalarView(
                document.text.unicodeScalars.filter { $0.value >= 0x20 || $0 == "\n" || $0 == "\t" }))
    }

    private static func isFailure(_ finding: CheckFinding, _ expiring: [CheckFinding]) -> Bool {
        finding.severity == .mistake || expiring.contains(finding)
    }

    private static func testCase(_ finding: CheckFinding, isFailure: Bool) -> HTML {
        let name = [finding.subject, finding.item, finding.authority].compactMap(\.self).joined(separator: " ")
        let result: HTML
        if isFailure {
            let type = finding.severity == .mistake ? "mistake" : "expiry"
            let text = [finding.what.english, finding.why, finding.remedy].compactMap(\.self).joined(separator: "\n")
            result = "<failure type=\"\(type)\" message=\"\(finding.what.english)\">\(text)</failure>"
        } else if finding.severity == .unknown {
            result = "<skipped message=\"\(finding.what.english)\"/>"
        } else {
            result = "<system-out>\(finding.what.english)</system-out>"
        }
        return """
                <testcase classname="\(finding.application ?? "installation")" name="\(name)">\(result)</testcase>

            """
    }
}
