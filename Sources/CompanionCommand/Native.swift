import ArgumentParser
import Companion
import CompanionCore
import CompanionPages
import DemoTenant
import Foundation

/// `companion native` prints the content of the page `/native`.
struct Native: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what a native app needs for MSAL: redirect URI, Info.plist, entitlements, constants.",
        discussion: """
            The same as the page /native shows: steps in the admin center, the redirect URI, Info.plist, entitlements, the \
            tutorial's constants and the package. Nothing is sent anywhere. Exit status: 0, or 1 when a value cannot be \
            right.

            With --project, it writes the tutorial's whole app as an Xcode project into a new folder: the same files as the \
            page's download. With --demo, the app signs in at `companion tenant`, and needs no client ID.
            """)

    @Option(help: "The app's bundle ID, such as com.contoso.tasks.")
    var bundleId: String

    @Option(help: "The registration's Application (client) ID.")
    var clientId: String?

    @Option(help: "The platform that the app runs on.")
    var platform = NativeSetup.Platform.ios

    @Option(help: "The language of the explanations, such as sv.")
    var language = "en"

    @Option(help: "The folder to write an Xcode project to. It must not exist yet.")
    var project: String?

    @Option(help: "The kind of identity platform that the project's app signs in at.")
    var kind = XcodeProject.Kind.workforce

    @Option(help: "How the project's app is written.")
    var style = XcodeProject.Style.scene

    @Option(help: "The authority. Needed for external and b2c: of b2c, the sign-in policy's.")
    var authority: String?

    @Option(help: "A scope that the project's app asks for. Repeatable.")
    var scope: [String] = []

    @Option(help: "The API that the app of external and b2c calls.")
    var api = "https://api.example.com/tasks"

    @Option(help: "The policy for editing the profile, of b2c.")
    var editPolicy = "b2c_1_edit_profile"

    @Flag(help: "Let the project's app sign in at `companion tenant` on this machine.")
    var demo = false

    @OptionGroup var file: ConfigurationOptions

    @Option(help: .setting("public"))
    var `public`: String?

    func validate() throws {
        let isUsual = kind == .workforce && style == .scene && authority == nil && scope.isEmpty && !demo
        guard project != nil || isUsual else {
            throw ValidationError(
                "--kind, --style, --authority, --scope and --demo choose the project of --project. The steps for every kind of tenant are on the page /native."
            )
        }
    }

    func run() throws {
        let environment = ProcessInfo.processInfo.environment
        let path = ConfigurationPath.find(option: file.config, environment: environment)
        let configuration = try ConfigurationPath.read(
            path, options: `public`.map { ["public": $0] } ?? [:], environment: environment, needsApplications: false)
        do {
            let setup = try NativeSetup(publicFolder: configuration.publicFolder, language: language)
            let values = NativeSetup.Values(bundleID: bundleId, clientID: try knownClientID())
            guard let project else { return print(try setup.text(for: platform, values)) }
            try setup.check(values)
            let template = try XcodeProject(publicFolder: configuration.publicFolder, language: language)
            let files = try template.files(kind, for: platform, style, projectValues(values, template))
            try write(files, to: project)
            print("\(project)/TutorialApp.xcodeproj")
        } catch {
            throw CommandFailure("\(error)")
        }
    }

    private func knownClientID() throws -> String {
        if let clientId { return clientId }
        guard demo else { throw CommandFailure("--client-id is missing. Only --demo needs none.") }
        return DemoClient.id(for: bundleId)
    }

    private func projectValues(
        _ own: NativeSetup.Values, _ template: XcodeProject
    ) throws -> XcodeProject.Values {
        if demo { return template.demoValues(kind, bundleID: own.bundleID, clientID: own.clientID) }
        let usual = kind == .workforce ? "https://login.microsoftonline.com/common" : nil
        guard let authority = authority ?? usual else {
            throw CommandFailure("--authority is missing: --kind \(kind.rawValue) has none that fits everybody.")
        }
        guard let url = URLComponents(string: authority), url.scheme == "https", url.host?.isEmpty == false else {
            throw CommandFailure("--authority \(authority) is no https address. MSAL accepts no other.")
        }
        let scopes = scope.isEmpty && kind == .workforce ? ["user.read"] : scope
        var values = XcodeProject.Values(
            bundleID: own.bundleID, clientID: own.clientID, authority: authority, scopes: scopes)
        values.api = api
        values.editPolicy = editPolicy
        return values
    }

    /// Writes the files into a folder that does not exist yet, so that nothing is overwritten.
    private func write(_ files: [XcodeProject.File], to folder: String) throws {
        let root = URL(fileURLWithPath: folder, isDirectory: true)
        guard !FileManager.default.fileExists(atPath: folder) else {
            throw CommandFailure("\(folder) exists already. Choose a new folder, so that nothing in it is overwritten.")
        }
        for file in files {
            let path = root.appendingPathComponent(file.path)
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(file.text.utf8).write(to: path)
        }
    }
}

extension NativeSetup.Platform: ExpressibleByArgument {}
extension XcodeProject.Kind: ExpressibleByArgument {}
extension XcodeProject.Style: ExpressibleByArgument {}
