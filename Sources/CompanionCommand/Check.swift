import ArgumentParser
import Companion
import EventLoop
import Foundation
import HTTPClient

/// `companion check`: what is wrong with a configuration, before anybody signs in.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Report all mistakes of the configuration, reach every authority, print the redirect URIs to register.")

    @OptionGroup var file: ConfigurationOptions

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let path = ConfigurationPath.find(option: file.config, environment: environment)
        let configuration = try ConfigurationPath.read(path, options: [:], environment: environment)
        let workers = try WorkerGroup(count: 1)
        let client = HTTPClient(workers: workers)
        let reports = await AuthorityCheck(client: client).run(configuration.applications)
        await client.shutdown()
        await workers.shutdown()
        for report in reports {
            print("\(report.application.id): \(report.authority)")
            for finding in report.findings {
                print("  \(finding.subject.rawValue): \(finding.isGood ? "" : "MISTAKE: ")\(finding.text)")
            }
            print("  register as redirect URI (platform Web): \(configuration.publicURL.redirectURI)")
            print("  register for signing out of the browser: \(configuration.publicURL.origin)/auth/signed-out")
        }
        guard reports.allSatisfy(\.isHealthy) else { throw ExitCode(1) }
        print("No mistakes found.")
    }
}
