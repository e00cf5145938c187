import Foundation
import HTTPServer
import StoreTesting
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import SessionStore

/// On a shared device no session outlives a restart; a start that comes to nothing is none.
@Suite struct SharedDeviceTests {
    @Test func `a start that fails on its port ends nobody's session, and one that serves ends all`() async throws {
        try await Site.run { site in
            var configuration = site.configuration
            configuration.deviceMode = .shared
            configuration.database = .file(site.folder.appendingPathComponent("shared.sqlite").path)
            configuration.port = site.tenantPort
            let store = try SessionStore(configuration: configuration)
            try await store.signIn("adele", at: StoreClock())
            await store.close()
            func start(_ configuration: CompanionConfiguration) async throws {
                let server = try CompanionServer(
                    configuration: configuration, workers: site.workers, logger: site.log.logger)
                do {
                    _ = try await server.start()
                } catch {
                    await server.stop(grace: .zero)
                    throw error
                }
                await server.stop(grace: .zero)
            }
            func sessions() async throws -> Int {
                let store = try SessionStore(configuration: configuration)
                let count = try await store.list().count
                await store.close()
                return count
            }
            await #expect(throws: ServerError.self) { try await start(configuration) }
            #expect(try await sessions() == 1)
            let ports = try HeldPorts()
            configuration.port = ports.first
            try await start(configuration)
            #expect(try await sessions() == 0)
        }
    }

    @Test func `with a common database a start ends nobody's session`() async throws {
        try await Site.run(keeping: MemoryContents(trust: .zero), configured: { $0.deviceMode = .shared }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await site.beside { other in
                let second = Visitor(origin: other, pagesFrom: site.origin, client: site.client)
                second.sessionCookie = visitor.sessionCookie
                let answer = try await second.api(.get, "/api/ios/me")
                #expect(answer.status == 200)
            }
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        }
    }
}
