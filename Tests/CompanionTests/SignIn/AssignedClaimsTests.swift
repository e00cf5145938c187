import Foundation
import Testing

@testable import CompanionCore

/// A claim decides only where the operator has chosen who assigns it.
@Suite struct AssignedClaimsTests {
    private static let tenant = "5c7d0b28-bdf8-410c-aa93-4df372b16203"
    private static let everyone = "because any tenant can assign that"

    /// The settings that make a list of accounts, with an entry each.
    private static let lists = ["allowed_", "operators.", "readers."].flatMap { list in
        [("users", "adele@contoso.example"), ("groups", tenant), ("roles", "Operator")].map { (list + $0, $1) }
    }

    private func mistakes(_ authority: String, listed: String?, _ setting: String, _ entry: String) -> [String] {
        var environment = [
            "COMPANION_APPS": "portal", "COMPANION_APPS_PORTAL_CLIENT_ID": "abc",
            "COMPANION_APPS_PORTAL_AUTHORITY": "https://login.microsoftonline.com/" + authority,
            "COMPANION_APPS_PORTAL_OPERATORS_USERS": Self.tenant,
        ]
        environment["COMPANION_APPS_PORTAL_ALLOWED_TENANTS"] = listed
        environment[Setting.environmentName(of: "apps.portal." + setting)] = entry
        do throws(ConfigurationMistakes) {
            _ = try CompanionConfiguration.read(environment: environment, file: nil)
            return []
        } catch {
            return error.all.map { "\($0.key) \($0.reason)" }
        }
    }

    @Test(arguments: ["common", "organizations"], lists.indices)
    func `a username, a group or an app role is refused where every tenant may assign it`(
        authority: String, index: Int
    ) {
        let (setting, entry) = Self.lists[index]
        let found = mistakes(authority, listed: nil, setting, entry)
        #expect(found.count == 1 && found[0].hasPrefix("apps.portal.\(setting) has “\(entry)”, which has no effect, "))
        #expect(found.first?.contains(Self.everyone) == true)
        #expect(mistakes(authority, listed: Self.tenant, setting, entry) == [], "the operator lists the tenants")
        #expect(mistakes("contoso.example", listed: nil, setting, entry) == [], "a tenant of its own")
        #expect(mistakes("contoso.example", listed: Self.tenant, setting, entry) == [], "both")
    }

    @Test(arguments: lists.filter { !$0.0.hasSuffix("users") }.map(\.0))
    func `personal accounts have neither groups nor app roles`(setting: String) {
        let found = mistakes("consumers", listed: nil, setting, Self.tenant)
        #expect(found.count == 1 && found[0].contains("personal accounts have no"), "\(found)")
    }

    /// The claims that the sources read by name, except those of the demo's own tenant.
    private static func read() throws -> Set<String> {
        let sources = Site.root.appendingPathComponent("Sources")
        var names: Set<String> = []
        for module in ["Identity/OpenIDConnect", "Companion"] {
            let folder = sources.appendingPathComponent(module)
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift")
            {
                let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
                names.formUnion(text.matches(of: /(?:claims|payload)\["([a-z_]+)"\]/).map { String($0.1) })
                names.formUnion(text.matches(of: /optional\("([a-z_]+)", in: payload/).map { String($0.1) })
            }
        }
        return names
    }

    @Test func `the table of claims names each claim that the code reads, and who assigns it`() throws {
        let text = try String(contentsOf: Site.root.appendingPathComponent("SECURITY.md"), encoding: .utf8)
        let section = try #require(text.components(separatedBy: "## Claims, and who may assign them").last)
        let rows = try #require(section.components(separatedBy: "\n## ").first).split(separator: "\n").filter {
            $0.hasPrefix("| `")
        }
        var listed: Set<String> = []
        for row in rows {
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(cells.count == 3 && cells.allSatisfy { !$0.isEmpty }, "\(row)")
            for name in cells[0].matches(of: /`([a-z_]+)`/) {
                #expect(listed.insert(String(name.1)).inserted, "\(name.1) stands there twice")
            }
        }
        let read = try Self.read()
        #expect(read.subtracting(listed) == [], "claims without a row")
        #expect(listed.subtracting(read) == [], "rows of claims that nothing reads")
    }
}
