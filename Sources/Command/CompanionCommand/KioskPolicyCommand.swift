import ArgumentParser
import CompanionPages
import Foundation

/// `companion kiosk-policy` prints which addresses the kiosk's browser may visit.
struct KioskPolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kiosk-policy",
        abstract: "Print a Chromium policy (JSON) with the addresses that the kiosk's browser may visit.",
        discussion: """
            The policy allows the companion's own address, the configured authorities, Microsoft's sign-in hosts and \
            kiosk.hosts, and blocks everything else. On the server's own machine, the package companion-kiosk installs it \
            when the kiosk session starts. On another machine, write it to \
            /etc/chromium/policies/managed/companion-kiosk.urls.json. Exit status: 0, or 1 when the configuration has a \
            mistake or no application has the page kiosk.
            """)

    @OptionGroup var file: ConfigurationOptions

    func run() throws {
        let environment = ProcessInfo.processInfo.environment
        let path = ConfigurationPath.find(option: file.config, environment: environment)
        let configuration = try ConfigurationPath.read(path, options: [:], environment: environment)
        guard let policy = KioskPolicy(configuration) else {
            throw CommandFailure("No configured application has the page kiosk.")
        }
        print(policy.json)
    }
}
