import Foundation
import Testing
import WebFormats

@testable import OpenIDConnect

/// The numbers by which an error is classified, beside the table that explains all of them.
@Suite struct PlatformNumbersTests {
    static let classified: [(numbers: Set<Int>, prefix: String, causes: Set<String>)] = [
        ([PlatformErrors.consentMissing, PlatformErrors.consentDeclined], "AADSTS", ["consent"]),
        (PlatformErrors.adminConsent, "AADSTS", ["admin_consent"]),
        (PlatformErrors.redirectURIMismatch, "AADSTS", ["unregistered"]),
        (PlatformErrors.clientFaults, "AADSTS", ["unregistered", "tenant", "audience", "confidential", "secret"]),
        (PlatformErrors.credentialFaults, "AADSTS", ["confidential", "secret"]),
        (PlatformErrors.policyCredentialFaults, "AADB2C", ["confidential", "secret"]),
        ([PlatformErrors.applicationUnassigned], "AADSTS", ["unassigned"]),
        (PlatformErrors.accountRefused, "AADSTS", ["account_missing", "unassigned", "access_policy"]),
        ([PlatformErrors.policyCancelled], "AADB2C", ["cancelled"]),
        ([PlatformErrors.passwordForgotten], "AADB2C", ["reset"]),
    ]

    @Test(arguments: classified)
    func `a number that decides about an error has a cause of the same meaning in the table`(
        _ numbers: Set<Int>, _ prefix: String, _ causes: Set<String>
    ) throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Public/data/aadsts.json")
        let table = try #require(JSONValue(parsing: Array(Data(contentsOf: file)))?["numbers"]?.array)
        let known = Dictionary(table.map { ($0["number"]?.string ?? "", $0["cause"]?.string ?? "") }) { first, _ in
            first
        }
        #expect(Set(numbers.map { known["\(prefix)\($0)"] ?? "missing: \($0)" }) == causes)
    }
}
