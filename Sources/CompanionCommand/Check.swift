import ArgumentParser
import Companion
import EventLoop
import Foundation
import HTTPClient

/// `companion check`: what is wrong with an installation, before anybody signs in.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look at everything that signing in needs, and print what to register at the provider.",
        discussion: """
            Configuration, keys, database, disk, file permissions, proxies, then every provider: discovery, keys, clock, \
            secrets, redirect URI. Each finding says what, why it matters and how to mend it. Changes nothing; works \
            beside a running server. Run it as the server's user, or as root. Exit status: 0, or 1 with a mistake.
            """)

    @OptionGroup var file: ConfigurationOptions
    @Flag(help: "Print one JSON object.") var json = false

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
