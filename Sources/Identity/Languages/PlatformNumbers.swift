import Foundation

/// The causes of the platform's error numbers, and the person who can fix each: the file `Public/data/aadsts.json`, which
/// the pages read, too. A language has the sentences.
package struct PlatformNumbers: Sendable {
    private let causes: [String: String]
    private let audiences: [String: ErrorExplanation.Audience]
    private let wrappers: Set<String>

    /// Reads the file of a folder with pages.
    ///
    /// - Throws: if it cannot be read, or names an audience that does not exist.
    package init(publicFolder: String) throws {
        let path = publicFolder + "/data/aadsts.json"
        guard let data = FileManager.default.contents(atPath: path) else {
            throw LanguageFault(file: path, reason: "cannot be read")
        }
        do {
            let file = try JSONDecoder().decode(File.self, from: data)
            causes = Dictionary(file.numbers.map { ($0.number, $0.cause) }) { first, _ in first }
            audiences = file.who
            wrappers = Set(file.numbers.filter { $0.wraps == true }.map(\.number))
        } catch {
            throw LanguageFault(file: path, reason: "has no table of the platform's numbers: \(error)")
        }
    }

    /// Every number, such as `AADSTS50058` or `AADB2C90118`, and code of Microsoft Graph.
    package var all: Dictionary<String, String>.Keys { causes.keys }

    /// The numbers in their order, of which those that only say that another follows come last.
    fileprivate func weighed(_ numbers: some Sequence<String>) -> [String] {
        let all = Array(numbers)
        return all.filter { !wrappers.contains($0) } + all.filter(wrappers.contains)
    }

    fileprivate func explained(_ number: String) -> (cause: String, audience: ErrorExplanation.Audience)? {
        causes[number].map { ($0, audiences[$0] ?? .operator) }
    }

    private struct File: Decodable {
        struct Row: Decodable {
            var number: String
            var cause: String
            /// Whether the platform puts the number before the one that names the cause.
            var wraps: Bool?
        }

        var who: [String: ErrorExplanation.Audience]
        var numbers: [Row]
    }
}

/// The meaning of one of the platform's error numbers, in a person's language.
package struct ErrorExplanation: Sendable, Hashable {
    /// The person who can fix it.
    package enum Audience: String, Sendable, Hashable, Decodable {
        /// The person who signs in.
        case user
        /// An administrator of the person's or the application's tenant.
        case administrator
        /// The person who configures the application.
        case `operator`
    }

    /// The number in the platform's form: `AADSTS50058`, `AADB2C90118`.
    package let number: String
    /// One sentence about the cause.
    package let cause: String
    /// The person who can fix it.
    package let audience: Audience
    /// The remedy at this server.
    package let remedy: String
}

extension Languages {
    /// Reads the languages of a folder with pages, which explain the platform's numbers.
    ///
    /// - Throws: if the folder or a file cannot be read, or if there is no English.
    package init(publicFolder: String, cookieName: String) throws {
        try self.init(
            folder: publicFolder + "/languages", cookieName: cookieName,
            numbers: PlatformNumbers(publicFolder: publicFolder))
    }
}

extension Language {
    /// Returns what the page of explanations says about a number; nil for one that is unknown.
    package func meaning(of number: String) -> (cause: String, remedy: String)? {
        numbers?.explained(number).map { row in
            (cause: page["explain.cause.\(row.cause)"] ?? "", remedy: page["explain.remedy.\(row.cause)"] ?? "")
        }
    }

    /// Returns the explanation of the first number that is known and wraps no other that is. Some numbers have sentences of their own, and some
    /// causes a remedy at this server; the others have those that the page of explanations shows.
    package func explanation(of numbers: some Sequence<String>) -> ErrorExplanation? {
        guard let table = self.numbers else { return nil }
        for number in table.weighed(numbers) {
            guard let (cause, audience) = table.explained(number) else { continue }
            return ErrorExplanation(
                number: number, cause: page["platform.\(number).cause"] ?? page["explain.cause.\(cause)"] ?? "",
                audience: audience,
                remedy: page["platform.\(number).remedy"] ?? page["platform.\(cause).remedy"]
                    ?? page["explain.remedy.\(cause)"] ?? "")
        }
        return nil
    }
}
