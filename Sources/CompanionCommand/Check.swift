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
            status: 0, or 1 when there are errors.
            """)

    @OptionGroup var file: ConfigurationOptions
    @Flag(help: "Print the report as one JSON object.") var json = false

    func run() async throws {
        let report = try await report()
        print(json ? report.json : report.text)
        guard report.ok else { throw ExitCode(1) }
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
