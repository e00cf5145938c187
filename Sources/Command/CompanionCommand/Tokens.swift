import ArgumentParser
import CompanionCore
import Cryptography
import Foundation
import SessionStore
import WebFormats

/// `companion tokens` makes tokens with which programs use the server.
struct Tokens: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a token with which a program uses the server.", subcommands: [New.self])

    struct New: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a new token, and the lines of the configuration that let it in.",
            discussion: """
                Give the token to the program, for example as a secret of the pipeline, and add the lines to the \
                configuration. They have only its hash: the token is printed this one time. The program sends it as \
                Authorization: Bearer.
                """)

        @Option(help: "The token's name in the configuration and in logs: lower-case letters, digits and -.")
        var name: String
        @Option(help: "One operation that it is for; repeat it for several: check, sessions, sessions_read, metrics.")
        var scope: [String]
        @Option(help: "The number of days until it expires.") var days = 365

        func validate() throws {
            let isName = name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
            guard isName, !name.isEmpty else {
                throw ValidationError("The name must have lower-case letters, digits and - only.")
            }
            guard !scope.isEmpty, scope.allSatisfy({ APIToken.Scope(rawValue: $0) != nil }) else {
                let all = APIToken.Scope.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("The scope must be one of \(all).")
            }
            guard (1...3650).contains(days) else { throw ValidationError("The days must be from 1 to 3650.") }
        }

        func run() async throws {
            let token = APIToken.text(of: SessionStore.secureRandomBytes(APIToken.randomBytes))
            let hash = Hex.encode(SHA256.hash(data: token.utf8))
            let expires = Date().addingTimeInterval(TimeInterval(days) * 86_400)
            print(
                """
                Token (shown only once):
                  \(token)

                Configuration:
                  api_tokens:
                    - name: \(name)
                      sha256: \(hash)
                      scopes: [\(scope.joined(separator: ", "))]
                      expires: \(expires.formatted(.iso8601.year().month().day()))
                """)
        }
    }
}
