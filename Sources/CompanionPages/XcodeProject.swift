import Foundation
import Languages

/// The Xcode project of a tutorial's app, made from the templates in `Public/assets/projects`. The page `/native` offers
/// the same files as an archive.
package struct XcodeProject: Sendable {
    /// The kind of identity platform that the app signs in at.
    package enum Kind: String, Sendable, CaseIterable { case workforce, external, b2c }

    /// The way in which the app is written.
    package enum Style: String, Sendable, CaseIterable {
        /// Views, a scene delegate and completion blocks, as in the tutorials.
        case scene
        /// The callback in the app delegate, as before scenes.
        case appDelegate = "app_delegate"
        /// SwiftUI.
        case swiftUI = "swiftui"
        /// As ``scene``, with async and await.
        case async
    }

    /// The values of the app. Those that a kind does not need may be empty.
    package struct Values: Sendable {
        package var bundleID: String
        package var clientID: String
        package var authority: String
        package var scopes: [String]
        package var graph = ""
        package var api = ""
        package var editPolicy = ""
        /// Whether the app signs in at `companion tenant`.
        var isDemo = false

        package init(bundleID: String, clientID: String, authority: String, scopes: [String]) {
            self.bundleID = bundleID
            self.clientID = clientID
            self.authority = authority
            self.scopes = scopes
        }
    }

    /// One file: its path below the project's folder, and its content.
    package struct File: Equatable, Sendable {
        package let path: String
        package let text: String
    }

    /// A combination for which there is no project.
    package struct NoSuchProject: Error, CustomStringConvertible {
        package let description: String
    }

    private struct Data: Decodable {
        struct Project: Decodable {
            var id: String
            var set: [String]
        }
        struct File: Decodable {
            var path: String
            var format: ProjectTemplate.Format
            var template: String
            var `if`: String?
        }
        struct Demo: Decodable {
            struct Tenant: Decodable {
                var authority: String
                var scopes: [String]
                var graph: String
                var api: String
            }
            var origin: String
            var workforce: Tenant
            var external: Tenant
            var b2c: Tenant
        }
        var projects: [Project]
        var demo: Demo
        var files: [File]
        var graph: [String: String]
        var words: [[String: String]]
        /// The hosts of Entra ID that MSAL trusts without asking.
        var trustedHosts: [String]

        enum CodingKeys: String, CodingKey {
            case projects, demo, files, graph, words
            case trustedHosts = "trusted_hosts"
        }
    }

    private let folder: URL
    private let data: Data
    private let language: Language

    /// Reads the list of the projects from the folder of the pages.
    ///
    /// - Parameter language: the tag of the language of the project's README.
    /// - Throws: an error if the list cannot be read.
    package init(publicFolder: String, language tag: String) throws {
        language = try Languages.named(tag, publicFolder: publicFolder)
        folder = URL(fileURLWithPath: publicFolder + "/assets/projects", isDirectory: true)
        data = try JSONDecoder().decode(
            Data.self, from: Foundation.Data(contentsOf: folder.appendingPathComponent("projects.json")))
    }

    /// Returns the files of a project.
    ///
    /// - Throws: ``NoSuchProject``, or an error if a template cannot be read.
    package func files(
        _ kind: Kind, for platform: NativeSetup.Platform, _ style: Style, _ values: Values
    ) throws -> [File] {
        let wanted = Set([kind.rawValue, platform.rawValue])
        let own = Set([Style.appDelegate, .swiftUI, .async].map(\.rawValue))
        let found = data.projects.first { project in
            wanted.isSubset(of: project.set)
                && own.intersection(project.set) == (style == .scene ? [] : [style.rawValue])
        }
        guard let found else {
            throw NoSuchProject(
                description:
                    "There is no project of the style \(style.rawValue) for \(kind.rawValue) and \(platform.rawValue). There are: \(data.projects.map(\.id).joined(separator: ", "))."
            )
        }
        let names = Set(found.set + (values.isDemo ? ["demo"] : []))
        let filled = texts(names, kind, values)
        return try data.files.filter { Self.holds($0.if, names) }.map { file in
            let source = try String(
                contentsOf: folder.appendingPathComponent(file.template), encoding: .utf8)
            let text = try ProjectTemplate(source, format: file.format).text(filled) {
                language.page["project.\($0)"] ?? $0
            }
            return File(path: file.path, text: text)
        }
    }

    /// Returns the values of `companion tenant` with its usual address.
    package func demoValues(_ kind: Kind, bundleID: String, clientID: String) -> Values {
        let tenant =
            switch kind {
            case .workforce: data.demo.workforce
            case .external: data.demo.external
            case .b2c: data.demo.b2c
            }
        // MSAL accepts no host without a dot for an external tenant.
        let dotted = data.demo.origin.replacing("://localhost", with: "://127.0.0.1")
        func filled(_ text: String) -> String {
            text.replacing("{origin}", with: data.demo.origin).replacing("{dotted}", with: dotted)
        }
        var values = Values(
            bundleID: bundleID, clientID: clientID, authority: filled(tenant.authority), scopes: tenant.scopes)
        values.graph = filled(tenant.graph)
        values.api = filled(tenant.api)
        values.editPolicy = "b2c_1_edit_profile"
        values.isDemo = true
        return values
    }

    private static func holds(_ condition: String?, _ names: Set<String>) -> Bool {
        (condition ?? "").split(separator: " ").allSatisfy {
            $0.hasPrefix("!") ? !names.contains(String($0.dropFirst())) : names.contains(String($0))
        }
    }

    /// Returns everything that the templates name.
    private func texts(_ names: Set<String>, _ kind: Kind, _ values: Values) -> [String: String] {
        let url = URLComponents(string: values.authority)
        let host = url?.host.map { host in host + (url?.port.map { ":\($0)" } ?? "") } ?? ""
        var texts = Dictionary(uniqueKeysWithValues: names.map { ($0, "yes") })
        texts["bundle_id"] = values.bundleID
        texts["redirect_uri"] = "msauth.\(values.bundleID)://auth"
        texts["client_id"] = values.clientID
        texts["authority"] = values.authority
        texts["graph"] = values.graph.isEmpty ? data.graph[host] ?? data.graph[""] : values.graph
        texts["api"] = values.api
        texts["scopes"] = ProjectTemplate.swiftList(values.scopes)
        texts["signout_from_browser"] = "false"
        if kind == .workforce, !data.trustedHosts.contains(host) { texts["known_authority"] = "yes" }
        if kind == .b2c {
            let path = (url?.path ?? "").split(separator: "/").filter { $0 != "tfp" }
            texts["host"] = host
            texts["tenant_name"] = path.first.map(String.init) ?? ""
            texts["sign_in_policy"] = path.dropFirst().first.map(String.init) ?? ""
            texts["edit_policy"] = values.editPolicy
        }
        for words in data.words where Self.holds(words["if"], names) {
            texts.merge(words.filter { $0.key != "if" }) { $1 }
        }
        return texts
    }
}
