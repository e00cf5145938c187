import Foundation
import Testing

@testable import Companion

/// CONTRIBUTING lists the files that a new kind of database changes.
@Suite struct StorePlaceTests {
    @Test func `above the stores, only the files that CONTRIBUTING lists know the kinds of database`()
        throws
    {
        let sources = Site.root.appendingPathComponent("Sources")
        let files = try #require(FileManager.default.enumerator(atPath: sources.path)).compactMap { $0 as? String }
        let knowing = try files.filter { name in
            guard name.hasPrefix("Companion/") || name.hasPrefix("Command/"), name.hasSuffix(".swift") else {
                return false
            }
            let text = try String(contentsOf: sources.appendingPathComponent(name), encoding: .utf8)
            return text.contains(/(Postgres|SQLite)(Store|Settings|Place|Findings)/)
        }
        let contributing = try String(
            contentsOf: Site.root.appendingPathComponent("CONTRIBUTING.md"), encoding: .utf8)
        let section = try #require(
            contributing.components(separatedBy: "\n## ").first { $0.hasPrefix("A new kind of database\n") })
        let listed = section.matches(of: /`(Companion[^`]*\.swift)`/).map { String($0.output.1) }
        #expect(Set(knowing.map { String($0.drop { $0 != "/" }.dropFirst()) }) == Set(listed))
        #expect(listed.count == Set(listed).count, "each is listed once")
    }
}
