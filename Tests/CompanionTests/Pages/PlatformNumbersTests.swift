import Foundation
import TestSupport
import Testing

@testable import CompanionCore
@testable import Languages

/// The explanations of the platform's numbers, as the server's answers have them.
@Suite struct PlatformNumbersTests {
    static func languages() throws -> Languages {
        try Languages(publicFolder: Site.publicFolder, cookieName: "companion-language")
    }

    @Test(arguments: ["en", "ja", "pt-BR", "pt-PT", "sv", "zh-Hans"])
    func `each number has a cause and a remedy, which names nothing of a native app's code`(tag: String) throws {
        let language = try #require(try Self.languages()[tag])
        let numbers = try PlatformNumbers(publicFolder: Site.publicFolder).all
        #expect(numbers.count > 500)
        for number in numbers {
            let explanation = try #require(language.explanation(of: [number]))
            #expect(!explanation.cause.isEmpty && !explanation.remedy.isEmpty, "\(number)")
            // Graph's codes are no errors of a sign-in, which is all that the server explains by number.
            guard number.hasPrefix("AADSTS") || number.hasPrefix("AADB2C") else { continue }
            let text = explanation.cause + explanation.remedy
            #expect(!text.contains(/MSAL|\bk[A-Z]|acquireToken|SDK/), "\(number): \(text)")
        }
    }

    /// A number, and who is to do what about it.
    struct Row: CustomTestStringConvertible, Sendable {
        let number: String
        let audience: ErrorExplanation.Audience
        let cause: String
        let remedy: String
        var testDescription: String { number }
    }

    static let rows = [
        // Sentences of its own
        Row(
            number: "AADSTS7000222", audience: .operator, cause: "The client secret has expired.",
            remedy: "Create a new one in the app registration and put it into the secret's file."),
        // A cause of its own, and the remedy of all numbers with this cause
        Row(
            number: "AADSTS50173", audience: .user,
            cause: "The sign-in was revoked, for example after a password change.", remedy: "Sign in again."),
        // The remedy at this server, instead of that in a native app's code
        Row(
            number: "AADSTS9002326", audience: .operator,
            cause:
                "The redirect URI is registered under another platform than the one that redeems the code: single-page application instead of iOS / macOS or Web, or the reverse.",
            remedy: "Register the redirect URI under Web instead of Single-page application."),
        // The sentences of the page of explanations
        Row(
            number: "AADSTS50053", audience: .user,
            cause: "The account is locked, after too many wrong passwords or by an administrator.",
            remedy: "Wait and try again, or have the account unlocked."),
        Row(
            number: "AADSTS50057", audience: .administrator, cause: "The account is disabled in its tenant.",
            remedy: "Enable it under Users."),
        Row(
            number: "AADB2C90273", audience: .user,
            cause:
                "The other identity provider, such as Apple or Google, did not complete the sign-in: the person cancelled there, or it returned an error or nothing at all.",
            remedy:
                "Read what it returned in the error's description. If you cancelled there, sign in again; otherwise ask an administrator to check that provider's settings in the user flow."
        ),
    ]

    @Test(arguments: rows)
    func `a number is explained by its own sentences, its cause's remedy here, or the page's`(row: Row) throws {
        let expected = ErrorExplanation(
            number: row.number, cause: row.cause, audience: row.audience, remedy: row.remedy)
        #expect(try Self.languages().source.explanation(of: [row.number]) == expected)
    }

    @Test func `of several numbers the first known one that wraps no other is explained, and of none nothing`() throws {
        let english = try Self.languages().source
        #expect(english.explanation(of: ["AADSTS1", "AADSTS50011", "AADSTS50058"])?.number == "AADSTS50011")
        #expect(english.explanation(of: ["AADSTS70002", "AADSTS70008"])?.number == "AADSTS70008")
        #expect(english.explanation(of: ["AADSTS70002"])?.number == "AADSTS70002")
        #expect(english.explanation(of: ["AADSTS1"]) == nil)
        #expect(english.explanation(of: []) == nil)
    }

    @Test func `a problem with a number says its explanation, and without one the pages' sentence`() throws {
        let swedish = try #require(try Self.languages()["sv"])
        var problem = Problem(.accessDenied, Message(verbatim: "The provider refuses access for this account."))
        #expect(problem.detail(in: swedish) == swedish.page["sign_in.access_denied"])
        problem.numbers = ["AADSTS53005"]
        let explanation = try #require(swedish.explanation(of: problem.numbers))
        #expect(explanation.cause == swedish.page["explain.cause.protection"])
        #expect(problem.detail(in: swedish) == explanation.cause + " " + explanation.remedy)
        #expect(problem.document(in: swedish)["explanation"]?["who"] == "administrator")
    }

    @Test func `a folder without the table, or with a person who is none, is refused by the file's name`() throws {
        let folder = TemporaryFolder.ofProcess.appendingPathComponent("numbers-\(UUID().uuidString)")
        defer { TemporaryFolder.remove(folder) }
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("data"), withIntermediateDirectories: true)
        let path = folder.path + "/data/aadsts.json"
        for content in [nil, #"{"who": {"scope": "nobody"}, "numbers": []}"#, "[]"] {
            if let content { try Data(content.utf8).write(to: URL(fileURLWithPath: path)) }
            let fault = #expect(throws: LanguageFault.self) { try PlatformNumbers(publicFolder: folder.path) }
            #expect(fault?.file == path)
        }
    }
}
