import ArgumentParser
import Companion
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
            and how to fix it, or that only a sign-in can show it. It changes nothing and works while the server runs. Run it as the server's user, or as root. Exit \
            status: 0; 1 when there are errors; 3 when the only problem is a credential, certificate or token that expires \
            within --fail-before.
            """)

    @OptionGroup var file: ConfigurationOptions
    @Flag(help: "Print the report as one JSON object.") var json = false
    @Flag(help: "Print the report as JUnit XML, with a test case for each finding.") var junit = false
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
        print(json ? report.json : junit ? report.junit(failing: expiring) : report.text)
        guard report.ok else { throw ExitCode(1) }
        for finding in expiring where !json && !junit {
            print("FAILS  \(finding.subject) \(finding.item ?? ""): within \(days ?? 0) days (--fail-before)")
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
            configuration: HTTPClient.Configuration(userAgent: "companion/\(companionVersion)"))
        let report = await InstallationCheck(client: client).run(configuration)
        await client.shutdown()
        await workers.shutdown()
        return report
    }
}
