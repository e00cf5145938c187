import EventLoop
import Foundation
import Logging
import TenantDirectory
import TenantServer

/// The tenant as a server of its own, with the plain address of its root.
struct StandaloneTenant {
    private let tenant: DemoTenant
    private let rootServer: RootServer?
    private let workers: WorkerGroup
    private let renewal: Task<Void, Never>
    /// The facts for people and programs.
    let announcement: TenantAnnouncement

    /// Starts everything.
    static func start(_ plan: TenantPlan, logger: Logger) async throws -> StandaloneTenant {
        let certificate = try TenantCertificate(plan.certificate)
        let workers = try WorkerGroup()
        var configuration = plan.tenant
        configuration.certificate = certificate?.certificate
        let tenant: DemoTenant
        let port: Int
        do {
            tenant = try DemoTenant(configuration: configuration, workers: workers, logger: logger)
            port = try await tenant.start()
        } catch DemoTenantError.texts(let reason) {
            throw CommandFailure("\(reason). Name the folder of the pages with --public or COMPANION_PUBLIC")
        } catch DemoTenantError.cannotListen(let reason) {
            throw CommandFailure("\(reason), such as --listen localhost:0 for any free one")
        }
        let rootServer = try await certificate?.serveRoot(
            host: plan.listen.host, after: port, workers: workers, logger: logger)
        let announcement = TenantAnnouncement(
            tenant: tenant, containerAddress: plan.containerAddress, development: certificate?.development,
            rootURL: rootServer?.url)
        tenant.announce { announcement.json }
        return StandaloneTenant(
            tenant: tenant, rootServer: rootServer, workers: workers,
            renewal: Task { await certificate?.renew(logger) }, announcement: announcement)
    }

    func stop() async {
        renewal.cancel()
        await rootServer?.stop()
        await tenant.stop()
        await workers.shutdown()
    }
}
