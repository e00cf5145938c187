import ArgumentParser
import CompanionCore
import EventLoop
import Foundation
import HTTPClient
import HTTPTypes

/// `companion health` reports whether the configured server is ready; for a container's health check.
struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask the running server whether it is ready.",
        discussion: """
            It requests /readyz from the configured address, for at most 4 seconds, and changes nothing. Exit status: 0 \
            when the server is ready, 1 when it is not ready or does not answer; `companion check` reports why.
            """)

    private static let timeout: Duration = .seconds(4)

    @OptionGroup var file: ConfigurationOptions
    @OptionGroup var address: AddressOptions

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let path = ConfigurationPath.find(option: file.config, environment: environment)
        let configuration = try ConfigurationPath.read(
            path, options: address.values, environment: environment, needsApplications: false)
        // Requests to this machine must not use the proxy that the environment configures for others (libcurl-env(3)).
        setenv("no_proxy", "*", 1)
        let workers = try WorkerGroup(count: 1)
        // The certificate is for the public name, and any authority may have issued it: the server's own chain is what counts.
        let client = HTTPClient(
            workers: workers,
            configuration: HTTPClient.Configuration(
                certificateAuthorityFile: configuration.tls?.certificate,
                connectsTo: configuration.tls.map { _ in Health.authority(configuration) }))
        let url = configuration.publicURL
        let problem =
            configuration.tls == nil
            ? await problem(at: "http", Health.authority(configuration), client)
            : await problem(at: "https", url.host + (url.port.map { ":\($0)" } ?? ""), client)
        await client.shutdown()
        await workers.shutdown()
        if let problem { throw CommandFailure(problem) }
        print("ready")
    }

    /// Returns the reason why the server is not ready; nil if it is.
    private func problem(at scheme: String, _ authority: String, _ client: HTTPClient) async -> String? {
        let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/readyz")
        do {
            let answer = try await client.send(request, timeout: Health.timeout)
            guard answer.head.status != .ok else { return nil }
            return
                "The server is not ready (\(answer.head.status.code)): \(String(decoding: answer.body, as: UTF8.self))"
        } catch {
            return "No server answers: \(error.reason)."
        }
    }

    /// Returns the address at which this machine reaches the server, also when it listens on all addresses.
    private static func authority(_ configuration: CompanionConfiguration) -> String {
        switch configuration.host {
        case "0.0.0.0": "127.0.0.1:\(configuration.port)"
        case "::": "[::1]:\(configuration.port)"
        case let host where host.contains(":"): "[\(host)]:\(configuration.port)"
        case let host: "\(host):\(configuration.port)"
        }
    }
}
