import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantServer

extension FuzzTarget {
    static let ofTenantControl = [FuzzTarget(name: "control", check: checkControl)]
}

/// The input is a body sent to `/control`: JSON, or a form of the page.
@Sendable func checkControl(_ input: [UInt8]) throws(Disagreement) {
    if let value = JSONValue(parsing: input) {
        try agree(JSONValue(parsing: value.bytes), value, "JSON that is written comes back")
        if let members = value.object { try checkChanges(members) }
    }
    if let members = ControlForm.members(input) { try checkChanges(members) }
}

/// All changes are taken or none, and each alone is judged as it is among others.
private func checkChanges(_ members: [String: JSONValue]) throws(Disagreement) {
    let all = outcome(members)
    let alone = members.map { outcome([$0.key: $0.value]) }
    let isGood = alone.allSatisfy { if case .success = $0 { true } else { false } }
    switch all {
    case .success(let changes):
        try hold(isGood, "What is refused alone is refused among others")
        let count = alone.reduce(0) { $0 + ((try? $1.get().count) ?? 0) }
        try agree(changes.count, count, "Every change is made")
        try hold(members.keys.allSatisfy({ ControlKey.named($0) != nil }), "An unknown key is refused")
    case .failure(let problem):
        try hold(!isGood, "What is taken alone is taken among others: \(problem.message)")
        try hold(!problem.message.isEmpty, "A problem has a sentence")
    }
}

private func outcome(_ members: [String: JSONValue]) -> Result<[ControlChange], ControlChange.Problem> {
    guard let directory = try? Directory(users: [], hasDemoAccounts: true, clients: []) else {
        return .failure(ControlChange.Problem(message: "The built-in accounts cannot be used."))
    }
    return Result { () throws(ControlChange.Problem) in
        try ControlChange.parse(members, ControlChange.Known(accounts: directory.accounts, clients: DemoClient.samples))
    }
}
