import Foundation
import StoreTesting
import Testing

/// The data and the answers of an earlier version's program: a folder that `Tests/Upgrade/make` has made.
struct EarlierData: Sendable, CustomTestStringConvertible {
    /// A browser that was there.
    struct Browser: Sendable {
        let name: String
        let cookies: [String: String]
        /// The answers to its page's requests, as JSON in its shortest form, by method and path.
        let said: [String: String]
        /// The state of a sign-in that had not come back.
        let stateUnderWay: String?
    }

    let folder: URL
    let backend: TestedBackend
    let madeAt: Date
    /// The number of the tables' version.
    let schema: Int
    var version: String { folder.deletingLastPathComponent().lastPathComponent }
    /// Host and port of the demo tenant.
    let tenant: String
    let browsers: [Browser]
    var testDescription: String { folder.pathComponents.suffix(2).joined(separator: " on ") }

    /// Those of all earlier versions that can be restored here.
    static let all = Result {
        let root = Site.root.appendingPathComponent("Tests/Upgrade")
        return try FileManager.default.subpathsOfDirectory(atPath: root.path)
            .filter { $0.hasSuffix("/said.json") }.sorted()
            .map { try EarlierData(root.appendingPathComponent($0).deletingLastPathComponent()) }
            .filter { TestedBackend.allCases.contains($0.backend) }
    }

    private init(_ folder: URL) throws {
        self.folder = folder
        let data = try Data(contentsOf: folder.appendingPathComponent("said.json"))
        guard let backend = TestedBackend(rawValue: folder.lastPathComponent),
            let json = try JSONSerialization.jsonObject(with: data) as? [String: Any],
            let madeAt = json["made_at"] as? Double, let schema = json["schema"] as? Int,
            let tenant = json["tenant"] as? String, let browsers = json["browsers"] as? [String: [String: Any]]
        else { throw TestFailure("\(folder.path) is not an earlier version's data") }
        self.backend = backend
        self.madeAt = Date(timeIntervalSince1970: madeAt)
        self.schema = schema
        self.tenant = tenant
        self.browsers = try browsers.sorted { $0.key < $1.key }.map { name, browser in
            Browser(
                name: name, cookies: browser["cookies"] as? [String: String] ?? [:],
                said: try (browser["said"] as? [String: Any] ?? [:]).mapValues { try Self.text($0) },
                stateUnderWay: browser["state_under_way"] as? String)
        }
    }

    /// JSON in its shortest form, with its members in order.
    static func text(_ json: Any) throws -> String {
        String(
            decoding: try JSONSerialization.data(
                withJSONObject: json, options: [.sortedKeys, .withoutEscapingSlashes]),
            as: UTF8.self)
    }

    /// A copy of what its demo tenant remembers.
    ///
    /// - Returns: the file's path.
    func copyOfTenant(in folder: URL) throws -> String {
        let copy = folder.appendingPathComponent("tenant.json")
        try FileManager.default.copyItem(at: self.folder.appendingPathComponent("tenant.json"), to: copy)
        return copy.path
    }
}
