import ArgumentParser
import Companion
import CompanionCheck
import CompanionCore
import EventLoop
import Foundation
import HTTPClient

/// `companion check` reports problems of an installation before anyone signs in.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check everything that signing in needs, and print what to register at the provider.",
        discussion: """
            It checks the configuration, keys, database, disk, file permissions and proxies, then every provider: \
            discovery, keys, clock, secrets, redirect URI and scopes. Each finding says what is wrong, why it matters \
            and how to fix it, or that it is not known, mostly because only a sign-in can show it. The text begins with a table; --verbose adds what is good or not known. A portal's health runs the same checks. It changes nothing and works while the server runs. Run it as the server's user, or as root. Exit \
            status: 0; 1 when there are errors; 3 when the only problem is a credential, certificate or token that expires \
            within --fail-before.
            """)

    @OptionGroup var file: ConfigurationOptions
    @Flag(help: "Print the report as one JSON object.") var json = false
    @Flag(help: "Print the report as JUnit XML, with a test case for each finding.") var junit = false
    @Flag(name: .shortAndLong, help: "Print the good and the unknown results, too.") var verbose = false
    @Option(help: "Fail when something expires within so many days, such as 30d.") var failBefore: String?

    func validate() throws {
        guard !json || !junit else { throw ValidationError("--json and --junit exclude each other.") }
        guard failBefore == nil || days != nil else {
            throw ValidationError("--fail-before must be a number of days, such as 30d.")
        }
    }

    private var days: Int? {
        guard let text = failBefore, text.hasSuffix("d"), let days = Int(text.dropLast()), (1...3650).contains(days)
        else { return nil }
        return days
    }

    func run() async throws {
        let report = try await report()
        let expiring = days.map { report.expiring(within: TimeInterval($0) * 86_400, of: Date()) } ?? []
        print(json ? report.json : junit ? report.junit(failing: expiring) : report.text(isVerbose: verbose))
        guard report.ok else { throw ExitCode(1) }
        for finding in expiring where !json && !junit {
            let about = [finding.application, finding.subject, finding.item].compactMap(\.self).joined(separator: " ")
            print("FAILS  \(about): within \(days ?? 0) days (--fail-before)")
        }
        guard expiring.isEmpty else { throw ExitCode(3) }
    }

    private func report() async throws -> CheckReport {
        let environment = ProcessInfo.processInfo.environment
        let path = ConfigurationPath.find(option: file.config, environment: environment)
        let configuration: CompanionConfiguration
        do {
            configuration = try CompanionConfiguration.read(environment: environment, file: path)
        } catch let mistakes {
            return InstallationCheck.report(of: mistakes)
        }
        let workers = try WorkerGroup(count: 1)
        let client = HTTPClient(
            workers: workers,
            configuration: HTTPClient.Configuration(
                userAgent: "companion/\(companionVersion)", certificateAuthorityFile: configuration.authorityFile))
        let report = await InstallationCheck(client: client).run(configuration)
        await client.shutdown()
        await workers.shutdown()
        return report
    }
}
