import CompanionCore
import Foundation
import HTTPClient
import Languages
import OpenIDConnect
import SessionStore

/// Tries what concerns one application at the authority of its sign-in: its configuration, credential, registration and
/// API. The probes depend on each other, because an answer may have several reasons.
struct ApplicationCheck: Sendable {
    let application: Application
    let configuration: CompanionConfiguration
    let english: Language?
    /// The authority's metadata; nil if it cannot be used, which another finding reports.
    let metadata: ProviderMetadata?
    let client: HTTPClient
    let directory: ProviderDirectory
    let now: @Sendable () -> Date

    private var registration: CheckReport.Registration {
        CheckReport.Registration(application, at: configuration.publicURL)
    }

    var findings: [CheckFinding] {
        get async {
            async let api = APIProbe(client: client).finding(for: application)
            let configured = ApplicationFindings(application: application, publicURL: configuration.publicURL).all
            let found = await probed + [await api].compactMap(\.self) + configured + (await mixUps)
            return found.map { $0.of(application) }
        }
    }

    private var probed: [CheckFinding] {
        get async {
            let credential = CredentialFindings(application: application, file: configuration.file, now: now()).all
            let probe = RegistrationProbe(client: client)
            guard let metadata else {
                let page = probe.result(for: application)
                return credential.adding(.undecided(nil, nil), page, for: application, in: english) + page.findings
            }
            var answer = await CredentialProbe(client: client, directory: directory, now: now).answer(for: application)
            let pushed = await pushed(after: answer, at: metadata)
            let page = await probe.result(
                for: application, registration, at: metadata, provesClient: answer.provesClient, pushed: pushed)
            var found = page.findings
            if let pushed {
                found.append(
                    pushed.finding(
                        isRequired: metadata.requiresPushedAuthorization, provesClient: answer.provesClient))
            }
            var known = credential
            if let compared = await compared() {
                let own = compared.findings.filter { $0.subject == "credential" }
                // The registration knows better when a secret ends, and a token was issued to read it.
                if !own.isEmpty { known = own }
                if compared.isRead, case .undecided = answer { answer = .accepted }
                found = compared.completing(found)
            }
            return known.adding(answer, page, for: application, in: english) + found
        }
    }

    private func pushed(
        after answer: CredentialProbe.Answer, at metadata: ProviderMetadata
    ) async -> PushedProbe.Result? {
        var own = try? ClientCredentials(now: now, randomBytes: SessionStore.secureRandomBytes).client(of: application)
        if case .acceptedOtherwise(let other, _) = answer { own = other }
        guard let own else { return nil }
        guard application.pushedAuthorization == .auto else {
            return metadata.requiresPushedAuthorization ? .off : nil
        }
        return await PushedProbe(client: client, now: now).result(for: application, own, at: metadata)
    }

    /// Compares the configuration with the registration; nil if the application may not have tokens of its own.
    private func compared() async -> Comparison? {
        guard application.isAppOnlyAllowed else { return nil }
        let probe = DirectoryProbe(client: client, directory: directory, now: now)
        do throws(DirectoryProbe.Obstacle) {
            let (registered, graphScopes) = try await probe.registration(of: application)
            let comparison = RegistrationFindings(
                application: application, registered: registered, wanted: registration,
                credential: probe.credential(of: application), graphScopes: graphScopes, now: now())
            var findings = comparison.all
            if let granted = await probe.grantedScopes(of: application) {
                findings.append(
                    granted.isEmpty
                        ? .good("consent", "No administrator has consented for everyone, so each person is asked.")
                        : .good(
                            "consent",
                            "An administrator has consented for everyone: \(granted.sorted().joined(separator: ", ")).")
                )
            }
            return Comparison(findings: findings, isRead: true, knowsScopes: comparison.knowsScopes)
        } catch {
            let finding: CheckFinding =
                switch error {
                case .forbidden:
                    .unknown(
                        "registration",
                        "The application may not read its own registration. It needs the application permission Application.Read.All, with an administrator's consent."
                    )
                case .unavailable(let reason):
                    .unknown("registration", "The app registration cannot be read now: \(reason)")
                }
            return Comparison(findings: [finding], isRead: false, knowsScopes: false)
        }
    }

    /// Finds mix-ups with other applications that have the same redirect URI, by the metadata of one at each host.
    private var mixUps: [CheckFinding] {
        get async {
            guard let metadata else { return [] }
            var known = [MixUpFindings.Client(application: application, metadata: metadata)]
            var hosts: Set = [application.authority.origin]
            for other in configuration.applications
            where other.registration.redirectURI == application.registration.redirectURI
                && hosts.insert(other.authority.origin).inserted
            {
                // That application's own findings report a provider that does not respond.
                guard let metadata = try? await directory.metadata(for: other.authority) else { continue }
                known.append(MixUpFindings.Client(application: other, metadata: metadata))
            }
            return MixUpFindings(clients: known, publicURL: configuration.publicURL).all.filter {
                $0.application == application.id
            }
        }
    }
}

/// The comparison of an application with its registration.
private struct Comparison {
    let findings: [CheckFinding]
    /// Whether the registration could be read.
    let isRead: Bool
    /// Whether it shows if the scopes are among its permissions.
    let knowsScopes: Bool

    /// Returns findings from outside with these: the registration decides what those leave open, and is more precise about
    /// a redirect URI.
    func completing(_ outside: [CheckFinding]) -> [CheckFinding] {
        let hasAddress = findings.contains { $0.subject == "redirect_uri" }
        let rest = outside.filter { finding in
            switch finding.subject {
            case "redirect_uri": !hasAddress && !(isRead && finding.severity == .unknown)
            case "scopes": !(knowsScopes && finding.severity == .unknown)
            default: true
            }
        }
        return rest + findings.filter { $0.subject != "credential" }
    }
}
