import Foundation
import Languages

/// The setup that a native app needs for MSAL, for `companion native`. The page `/native` shows the same from the
/// same file, `assets/native.json`.
package struct NativeSetup: Sendable {
    /// The platform that the app runs on.
    package enum Platform: String, Sendable, CaseIterable, Decodable {
        case ios, macos

        fileprivate var name: String { self == .ios ? "iOS" : "macOS" }
    }

    /// The values that the developer enters.
    package struct Values: Sendable {
        package let bundleID: String
        package let clientID: String

        /// - Parameters:
        ///   - bundleID: the app's bundle identifier, such as `com.contoso.tasks`.
        ///   - clientID: the registration's Application (client) ID.
        package init(bundleID: String, clientID: String) {
            self.bundleID = bundleID.trimmingCharacters(in: .whitespaces)
            self.clientID = clientID.trimmingCharacters(in: .whitespaces)
        }

        fileprivate func filling(_ text: String) -> String {
            text.replacing("{bundle_id}", with: bundleID).replacing("{client_id}", with: clientID)
                .replacing("{redirect_uri}", with: "msauth.\(bundleID)://auth")
                .replacing("{graph_text}", with: "\"https://graph.microsoft.com/\"")
                .replacing("{authority_text}", with: "\"https://login.microsoftonline.com/common\"")
                .replacing("{scopes_list}", with: "[\"user.read\"]")
        }
    }

    /// Values that cannot work in any app.
    package struct Mistakes: Error, CustomStringConvertible {
        /// One sentence for each mistake.
        package let sentences: [String]

        /// The sentences, one per line.
        package var description: String { sentences.joined(separator: "\n") }
    }

    private struct File: Decodable {
        /// The mistakes of each field: their names with the regular expressions that find them, in order.
        var mistakes: [String: [[String]]]
        var sections: [Section]
        var blocks: [Block]
    }

    private struct Section: Decodable, ForSomeApps {
        var id: String
        var steps: [Step]
        var kinds: [String]?
        var tenants: [String]?
        var platforms: [Platform]?
    }

    private struct Step: Decodable, ForSomeApps {
        var id: String
        var kinds: [String]?
        var tenants: [String]?
        var platforms: [Platform]?
    }

    private struct Block: Decodable, ForSomeApps {
        var id: String
        var section: String
        /// One of several ways, of which one is enough.
        var tab: String?
        var kinds: [String]?
        var tenants: [String]?
        var platforms: [Platform]?
        /// Whether it is for an authority that MSAL does not know.
        var known: Bool?
        var file: String?
        var lines: [String]
    }

    private let file: File
    private let language: Language

    /// Reads the file from the folder of the pages.
    ///
    /// - Parameter language: the tag of one of its languages, such as `sv`.
    /// - Throws: ``LanguageFault``, or an error if a file cannot be read.
    package init(publicFolder: String, language tag: String) throws {
        language = try Languages.named(tag, publicFolder: publicFolder)
        let path = publicFolder + "/assets/native.json"
        file = try JSONDecoder().decode(File.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Returns the complete setup for one platform, as text for a terminal.
    ///
    /// - Throws: ``Mistakes`` if a value cannot be right.
    package func text(for platform: Platform, _ values: Values) throws -> String {
        try check(values)
        return file.sections.filter { $0.isFor(platform) }.map { section in
            let steps = section.steps.filter { $0.isFor(platform) }.enumerated().map { number, step in
                "\(number + 1). \(values.filling(text("native.step.\(step.id)")))\n"
            }
            let blocks = file.blocks.filter {
                $0.section == section.id && $0.isFor(platform) && $0.known != true
            }
            let title = "## \(platform.name): \(text("native.section.\(section.id)"))\n"
            return ([title] + (steps.isEmpty ? [] : [steps.joined()]) + blocks.map { text(of: $0, values) })
                .joined(separator: "\n")
        }.joined(separator: "\n")
    }

    private func text(of block: Block, _ values: Values) -> String {
        let title = [block.tab.map { text("setup.package.\($0)") }, text("native.block.\(block.id)"), block.file]
        let lines = [text("native.note.\(block.id)"), ""] + block.lines.map(values.filling)
        return "### \(title.compactMap(\.self).joined(separator: " · "))\n\n\(lines.joined(separator: "\n"))\n"
    }

    /// - Throws: ``Mistakes`` if a value cannot be right.
    package func check(_ values: Values) throws {
        let mistakes = try [("bundle_id", values.bundleID), ("client_id", values.clientID)].compactMap { field, value in
            try mistake(in: value, of: field).map {
                "\(text("native_page.\(field)")): \(text("native.mistake.\(field).\($0)"))"
            }
        }
        guard mistakes.isEmpty else { throw Mistakes(sentences: mistakes) }
    }

    /// Returns the first mistake found in a value; nil if the value may be right.
    package func mistake(in value: String, of field: String) throws -> String? {
        try file.mistakes[field]?.first { rule in
            guard let pattern = rule.last else { return false }
            return try value.firstMatch(of: Regex(pattern).ignoresCase()) != nil
        }?.first
    }

    private func text(_ key: String) -> String { language.page[key] ?? key }
}

extension Languages {
    /// Reads one language from the folder of the pages.
    ///
    /// - Throws: ``LanguageFault`` if there is no such language.
    static func named(_ tag: String, publicFolder: String) throws -> Language {
        let languages = try Languages(folder: publicFolder + "/languages", cookieName: "")
        guard let language = languages[tag] ?? languages.lookup(tag) else {
            let known = languages.all.map(\.tag).joined(separator: ", ")
            throw LanguageFault(file: publicFolder + "/languages", reason: "has no “\(tag)”, but \(known)")
        }
        return language
    }
}

/// A part of the setup that may be for some kinds of tenant, some tenants or some platforms only.
private protocol ForSomeApps {
    var kinds: [String]? { get }
    var tenants: [String]? { get }
    var platforms: [NativeSetup.Platform]? { get }
}

extension ForSomeApps {
    /// Whether it is for an app of this platform in a workforce tenant of the developer's own.
    fileprivate func isFor(_ platform: NativeSetup.Platform) -> Bool {
        kinds?.contains("workforce") != false && tenants?.contains("mine") != false
            && platforms?.contains(platform) != false
    }
}
