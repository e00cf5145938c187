import ArgumentParser
import Companion
import Foundation

/// `companion kiosk-policy`: what the kiosk's browser may go to.
struct KioskPolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kiosk-policy",
        abstract: "Print the addresses that the kiosk's browser may go to, as policy of Chromium (JSON).",
        discussion: """
            Ours, the configured authorities', where Microsoft's accounts sign in, and those of kiosk.hosts; everything \
            else is blocked. The package companion-kiosk puts it in place when its session starts on the server's own \
            machine; on another one: /etc/chromium/policies/managed/companion-kiosk.urls.json. Exit status: 0, or 1 with a \
            mistake in the configuration or without an application whose page is kiosk.
            """)

    @OptionGroup var file: ConfigurationOptions

    func run() throws {
        let environment = ProcessInfo.processInfo.environment
        let path = ConfigurationPath.find(option: file.config, environment: environment)
        let configuration = try ConfigurationPath.read(path, options: [:], environment: environment)
        guard let policy = KioskPolicy(configuration) else {
            throw CommandFailure("No application of the configuration has the page kiosk.")
        }
        print(policy.json)
    }
}
