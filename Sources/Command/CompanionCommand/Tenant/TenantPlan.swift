import CompanionCore
import DevelopmentCA
import Foundation
import TenantDirectory
import TenantServer
import WebFormats

/// The options and the file of `companion tenant`, checked.
struct TenantPlan {
    let listen: ListenAddress
    let certificate: CertificateSource
    /// The tenant, but for its certificate.
    let tenant: DemoTenantConfiguration
    /// Whether the tenant is meant for other machines too. Then it has no account with a known password.
    let isForOthers: Bool
    /// The address beyond loopback that the environment sets, while the tenant is not meant for other machines: the one of
    /// a container, for the machine on which that runs.
    let containerAddress: String?

    /// - Throws: ``ConfigurationMistakes`` with all mistakes.
    init(
        _ command: TenantCommand, settings: CompanionConfiguration, environment: [String: String]
    ) throws(ConfigurationMistakes) {
        var mistakes = ConfigurationMistakes()
        var listen = TenantCommand.standard
        if let text = command.listen {
            if let address = ListenAddress(text) {
                listen = address
            } else {
                mistakes.add("--listen", "must be an address and a port, such as \(TenantCommand.standard)")
            }
        }
        var publicURL: PublicURL?
        if let text = command.publicUrl {
            do throws(PublicURL.Mistake) {
                let url = try PublicURL(text)
                publicURL = url
                if !url.prefix.isEmpty { mistakes.add("--public-url", "must have no path") }
            } catch {
                mistakes.add("--public-url", error.reason)
            }
        }
        let isPublic = publicURL.map { !Loopback.contains($0.host) } ?? false
        let isOpen = !Loopback.contains(listen.host)
        isForOthers = isPublic || isOpen
        let host = listen.host == "::1" ? listen.host : "localhost"
        // A container's address is set with the image; its published ports decide who can reach it.
        if !isOpen, let host = settings.demoHost { listen.host = host }
        containerAddress = isForOthers || Loopback.contains(listen.host) ? nil : listen.host
        if command.plain {
            certificate = .none
        } else if let file = command.certificate, let privateKey = command.privateKey {
            certificate = .files(TLSFiles(certificate: file, privateKey: privateKey))
        } else {
            certificate = .development(DevelopmentCA(settings, environment))
            if isPublic {
                mistakes.add(
                    "--public-url",
                    "needs --certificate, because the one made here is for localhost alone; behind a proxy that speaks https use --plain"
                )
            }
        }
        let file: TenantFile
        do {
            file =
                try command.config.map { [isForOthers] path throws(ConfigurationMistakes) in
                    try TenantFile(path: path, isForOthers: isForOthers)
                }
                ?? TenantFile()
        } catch {
            mistakes.add(error)
            file = TenantFile()
        }
        var clients: [DemoClient] = []
        do {
            let applications = file.applications + command.applications
            clients = try TenantFile.clients(applications)
            for (application, client) in zip(applications, clients) where isForOthers {
                let least = TenantFile.leastTokenLength
                if let secret = client.secret, secret.count < least {
                    mistakes.add("\(application.source): the secret", YAMLReading.tooShort(least))
                }
            }
        } catch {
            mistakes.add(error)
        }
        let controlToken = file.controlToken ?? settings.demoControlToken
        if isForOthers, file.controlToken == nil, let token = controlToken, token.count < TenantFile.leastTokenLength {
            mistakes.add("COMPANION_DEMO_CONTROL_TOKEN", YAMLReading.tooShort(TenantFile.leastTokenLength))
        }
        if isForOthers, command.config == nil || mistakes.all.isEmpty, file.users.isEmpty || controlToken == nil {
            mistakes.add(
                isOpen ? "--listen" : "--public-url",
                "lets other machines in, so users and a control_token are needed in the file for --config")
        }
        var tenant = DemoTenantConfiguration(
            host: host, port: listen.port, clients: clients, publicFolder: settings.publicFolder,
            stateFile: command.state)
        tenant.listenHost = listen.host
        tenant.publicURL = publicURL?.address
        tenant.users = file.users
        tenant.groups = file.groups
        if let contexts = file.contexts { tenant.contexts = contexts }
        tenant.allowsPasswords = file.allowsPasswords
        tenant.hasDemoAccounts = !isForOthers
        tenant.controlToken = controlToken
        tenant.reader = .ofFile(isForOthers: isForOthers)
        (self.listen, self.tenant) = (listen, tenant)
        guard mistakes.all.isEmpty else { throw mistakes }
    }
}

extension TenantCommand {
    /// The applications of the options, one for each.
    fileprivate var applications: [TenantFile.Application] {
        native.map(TenantFile.Application.init(native:))
            + web.map {
                var application = TenantFile.Application(name: $0, web: [$0], source: "--web \($0)")
                application.secretFile = secretFile
                return application
            }
            + spa.map { TenantFile.Application(name: $0, spa: [$0], source: "--spa \($0)") }
    }
}
