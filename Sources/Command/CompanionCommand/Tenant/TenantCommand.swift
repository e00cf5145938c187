import ArgumentParser
import CompanionCore
import Foundation
import TenantDirectory

/// `companion tenant` runs the identity platform alone, for native apps, other clients and their tests.
struct TenantCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tenant",
        abstract: "Serve the demo tenant alone over https: an identity platform on this machine for your own app.",
        discussion: """
            Everything is in memory unless --state names a file, and nothing leaves this machine. It reads no \
            companion.yaml. Client IDs are made from the bundle ID or the redirect URI, so they are the same at each \
            start; Microsoft's sample apps are known from the start. It prints what an app needs, and how a simulator \
            or a browser comes to trust its certificate, which is for localhost, fabrikam.ciamlogin.localhost, \
            127.0.0.1 and ::1 alone.

            With --config, a YAML file registers more: applications \
            (\(TenantFile.Application.keys(TenantFile.Credentials.keysOfFiles).joined(separator: ", "))), users \
            (\(DemoUser.keys.joined(separator: ", "))), groups (name, id, kind, member_of, roles), contexts, \
            password_grant and control_token. A user_flow has a method and attributes (name, type, required, regex), \
            or is none; method and sign_in are password or code; second_factor is true, false, email, sms or \
            unregistered. Other machines are only served with users and a control_token.
            """,
        subcommands: [TrustCommand.self])

    /// The default address.
    static let standard = ListenAddress(host: "localhost", port: 8443)

    @Option(help: "The YAML file with applications and users.")
    var config: String?

    @Option(help: "The address and the port to listen on; port 0 is any free one. Default: \(standard).")
    var listen: String?

    @Option(help: "The origin under which other machines reach the tenant, such as https://tenant.example:8443.")
    var publicUrl: String?

    @Option(help: "The bundle ID of an app, such as com.contoso.tasks, or a redirect URI of its own. Repeatable.")
    var native: [String] = []

    @Option(help: "The redirect URI of a web application. Repeatable; needs --secret-file.")
    var web: [String] = []

    @Option(help: "The redirect URI of a single-page application. Repeatable.")
    var spa: [String] = []

    @Option(help: "The file with the client secret of the web applications.")
    var secretFile: String?

    @Option(help: "Your own certificate (PEM, with its chain), as mkcert makes one, instead of the one made here.")
    var certificate: String?

    @Option(help: "The private key of --certificate (PEM).")
    var privateKey: String?

    @Flag(help: "Serve plain http. MSAL for iOS and macOS refuses that.")
    var plain = false

    @Option(help: "The file that keeps keys, consents and revocations across restarts.")
    var state: String?

    @Option(help: .setting("public"))
    var `public`: String?

    @Flag(help: "Print one line of JSON instead of text.")
    var json = false

    @Flag(help: "End when the process that started this one ends.")
    var exitWithParent = false

    func validate() throws {
        guard (certificate == nil) == (privateKey == nil) else {
            throw ValidationError("--certificate and --private-key belong together.")
        }
        guard !plain || certificate == nil else { throw ValidationError("--plain has no certificate.") }
        guard secretFile == nil || !web.isEmpty else {
            throw ValidationError("--secret-file is for --web; in a file for --config it is secret_file.")
        }
    }

    func run() async throws {
        let parent = exitWithParent ? ParentProcess() : nil
        let environment = ProcessInfo.processInfo.environment
        // No file: only variables such as COMPANION_PUBLIC and COMPANION_LOG_LEVEL.
        let settings = try ConfigurationPath.read(
            nil, options: `public`.map { ["public": $0] } ?? [:], environment: environment, needsApplications: false)
        let logger = Running.bootstrapLog(settings)
        do {
            let plan = try TenantPlan(self, settings: settings, environment: environment)
            let server = try await StandaloneTenant.start(plan, logger: logger)
            let stop = await StopSignals()
            Running.say(json ? server.announcement.json.text : server.announcement.text)
            let watch = parent.map { parent in Task { await parent.stopThisAtItsEnd() } }
            await stop.wait()
            watch?.cancel()
            await server.stop()
            Running.log.drain()
        } catch {
            throw Running.failure(error)
        }
    }
}

/// The process that started this one.
private struct ParentProcess {
    private let identifier = getppid()

    /// Sends this process the signal to stop when it has ended: the kernel gives its children another parent then. A signal
    /// from the kernel (prctl(2)) would also come when only the thread ends that started this process.
    func stopThisAtItsEnd() async {
        while getppid() == identifier {
            try? await Task.sleep(for: .milliseconds(250))
            if Task.isCancelled { return }
        }
        kill(getpid(), SIGTERM)
    }
}
