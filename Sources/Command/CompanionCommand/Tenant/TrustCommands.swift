import ArgumentParser
import CompanionCore
import DevelopmentCA
import Foundation

/// `companion tenant trust` prints how each kind of client comes to trust the certificate.
struct TrustCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Print how simulators, the Mac, Linux, browsers, Node and Python trust the certificate.",
        discussion: """
            With each command stands the one that undoes it. Nothing is changed, except that the certificate is made if there is none yet. The root's key does not exist \
            any more, and the certificate below the root may only sign for localhost, 127.0.0.0/8 and ::1, so nobody can \
            use it for another site.
            """)

    @Option(help: "The address of the root, as `companion tenant` prints it.")
    var rootUrl = "http://localhost:\(TenantCommand.standard.port + 1)\(RootServer.path)"

    func run() throws {
        let environment = ProcessInfo.processInfo.environment
        let settings = try ConfigurationPath.read(
            nil, options: [:], environment: environment, needsApplications: false)
        do {
            let made = try DevelopmentCA(settings, environment).certificate()
            print(TrustCommands(rootURL: rootUrl, rootName: made.rootName).text(fingerprint: made.rootFingerprint))
        } catch {
            throw Running.failure(error)
        }
    }
}

/// The commands with which clients trust a root. They begin where the client is, which may not be where the server is.
struct TrustCommands {
    private static let file = "companion-root.pem"

    let rootURL: String
    let rootName: String

    /// Fetches the root.
    var fetch: [String] { ["curl --output \(Self.file) \(rootURL)"] }

    /// For the simulator that runs.
    var simulator: [String] { ["xcrun simctl keychain booted add-root-cert \(Self.file)"] }

    /// One way of trusting, and of ending it.
    private struct Way {
        var client: String
        var trust: [String]
        var end: [String]
        /// Whether it was tried, and not only read in documentation.
        var wasRun: Bool
    }

    private var ways: [Way] {
        [
            Way(
                client: "The iOS simulator that runs", trust: simulator,
                end: ["xcrun simctl keychain booted reset       # all that was added to it"], wasRun: false),
            Way(
                client: "The Mac: its apps, Safari and Chrome",
                trust: ["security add-trusted-cert -r trustRoot -k ~/Library/Keychains/login.keychain-db \(Self.file)"],
                end: ["security delete-certificate -t -c \"\(rootName)\" ~/Library/Keychains/login.keychain-db"],
                wasRun: false),
            Way(
                client: "Linux: curl, wget and most programs (Debian, Ubuntu)",
                trust: [
                    "sudo install -m 644 \(Self.file) /usr/local/share/ca-certificates/companion-root.crt",
                    "sudo update-ca-certificates",
                ],
                end: [
                    "sudo rm /usr/local/share/ca-certificates/companion-root.crt",
                    "sudo update-ca-certificates --fresh",
                ], wasRun: true),
            Way(
                client: "Chrome and Chromium on Linux (libnss3-tools)",
                trust: ["certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n \"\(rootName)\" -i \(Self.file)"],
                end: ["certutil -d sql:$HOME/.pki/nssdb -D -n \"\(rootName)\""], wasRun: true),
            Way(
                client: "Firefox",
                trust: ["Settings > Privacy & Security > View Certificates > Authorities > Import, for websites"],
                end: ["The same list: \(rootName) > Delete or Distrust"], wasRun: false),
            Way(
                client: "Node", trust: ["export NODE_EXTRA_CA_CERTS=$PWD/\(Self.file)"],
                end: ["unset NODE_EXTRA_CA_CERTS"], wasRun: true),
            Way(
                client: "Python (the first for ssl and httpx, the second for requests and MSAL), this root alone",
                trust: ["export SSL_CERT_FILE=$PWD/\(Self.file)", "export REQUESTS_CA_BUNDLE=$PWD/\(Self.file)"],
                end: ["unset SSL_CERT_FILE REQUESTS_CA_BUNDLE"], wasRun: true),
        ]
    }

    /// All commands, for people.
    ///
    /// - Parameter fingerprint: The SHA-256 of the root.
    func text(fingerprint: String) -> String {
        var lines = ["First fetch the root, where the client is:"] + fetch.map { "  " + $0 }
        lines += ["", "Its name is “\(rootName)”, its SHA-256 is", "  \(fingerprint)"]
        for way in ways {
            lines += ["", way.client + (way.wasRun ? "" : "  (from its documentation, not tried here)")]
            lines += way.trust.map { "  " + $0 } + ["to take it away:"] + way.end.map { "  " + $0 }
        }
        return lines.joined(separator: "\n")
    }
}
