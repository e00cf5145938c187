import ArgumentParser
import Companion
import CompanionCore
import CompanionPages
import Foundation

/// `companion native` prints the content of the page `/native`.
struct Native: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what a native app needs for MSAL: redirect URI, Info.plist, entitlements, constants.",
        discussion: """
            The same as the page /native shows: steps in the admin center, the redirect URI, Info.plist, entitlements, the \
            tutorial's constants and the package. Nothing is sent anywhere. Exit status: 0, or 1 when a value cannot be \
            right.
            """)

    @Option(help: "The app's bundle ID, such as com.contoso.tasks.")
    var bundleId: String

    @Option(help: "The registration's Application (client) ID.")
    var clientId: String

    @Option(help: "The platform that the app runs on.")
    var platform = NativeSetup.Platform.ios

    @Option(help: "The language of the explanations, such as sv.")
    var language = "en"

    @OptionGroup var file: ConfigurationOptions

    @Option(help: .setting("public"))
    var `public`: String?

    func run() throws {
        let environment = ProcessInfo.processInfo.environment
        let path = ConfigurationPath.find(option: file.config, environment: environment)
        let configuration = try ConfigurationPath.read(
            path, options: `public`.map { ["public": $0] } ?? [:], environment: environment, needsApplications: false)
        do {
            let setup = try NativeSetup(publicFolder: configuration.publicFolder, language: language)
            print(try setup.text(for: platform, NativeSetup.Values(bundleID: bundleId, clientID: clientId)))
        } catch {
            throw CommandFailure("\(error)")
        }
    }
}

extension NativeSetup.Platform: ExpressibleByArgument {}
