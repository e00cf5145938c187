import Testing

@testable import Companion

struct CheckRoundsTests {
    private func expiring(_ name: String, days: Int, _ severity: CheckFinding.Severity = .advice) -> CheckFinding {
        var finding: CheckFinding =
            severity == .advice
            ? .advice("secret", "It ends in \(days) days.", why: "", remedy: "")
            : .mistake("secret", "It ended.", why: "", remedy: "")
        finding.item = name
        return finding
    }

    private func says(_ changes: [CheckRounds.Change]) -> [String] {
        changes.map { "\($0.kind.rawValue) \($0.finding.item ?? "") \($0.finding.severity.rawValue)" }
    }

    @Test func `a finding whose number of days differs is the same finding`() {
        #expect(CheckRounds.changes(from: [expiring("one", days: 12)], to: [expiring("one", days: 11)]).isEmpty)
    }

    @Test func `another secret, another severity and a finding that is gone are changes`() {
        let changes = CheckRounds.changes(
            from: [expiring("one", days: 1), expiring("two", days: 3)],
            to: [expiring("one", days: 0, .mistake), expiring("three", days: 9)])
        #expect(
            says(changes) == ["appeared one mistake", "appeared three advice", "gone one advice", "gone two advice"])
    }
}
