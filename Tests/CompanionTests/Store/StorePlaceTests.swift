import Foundation
import Testing

@testable import Companion

/// A new kind of database is a target, a case of ``StoreAddress``, a ``StorePlace``, and a case of `TestedBackend`.
@Suite struct StorePlaceTests {
    @Test func `only the address, its settings and the places know which databases there are`() throws {
        let sources = Site.root.appendingPathComponent("Sources")
        let files = try #require(FileManager.default.enumerator(atPath: sources.path)).compactMap { $0 as? String }
        let knowing = try files.filter { name in
            guard name.hasPrefix("Companion"), name.hasSuffix(".swift") else { return false }
            let text = try String(contentsOf: sources.appendingPathComponent(name), encoding: .utf8)
            return text.contains("import PostgresStore") || text.contains("import SQLiteStore")
        }
        #expect(
            Set(knowing) == [
                "CompanionCore/Configuration/StoreAddress.swift", "CompanionCore/Configuration/Settings.swift",
                "CompanionCore/Configuration/SettingType+Values.swift", "Companion/Store/SQLitePlace.swift",
                "Companion/Store/PostgresPlace.swift", "Companion/Store/PostgresFindings.swift",
            ])
    }
}
