import CompanionCore
import Languages
import OpenIDConnect

/// Finds providers whose responses could be confused (a mix-up, RFC 9700 §4.4). That takes two providers with the
/// same redirect URI, at least one of which does not identify itself in its responses (RFC 9207).
struct MixUpFindings {
    struct Client {
        let application: Application
        let metadata: ProviderMetadata
    }

    let clients: [Client]
    let publicURL: PublicURL

    var all: [CheckFinding] {
        let sharing = clients.filter { $0.application.registration.redirectURI == publicURL.redirectURI }
        let origins = Set(sharing.map(\.metadata.tokenEndpoint.origin))
        guard origins.count > 1 else { return [] }
        return sharing.filter { !$0.metadata.requiresIssuerInCallback }.map { client in
            let id = client.application.id
            return CheckFinding.mistake(
                "redirect_uri",
                "The redirect URI is shared with another provider's applications, and this provider does not name itself "
                    + "in its answers.",
                why: "One of these providers could receive another's code, together with what is needed to redeem it.",
                remedy: "Set apps.\(id).redirect_uri to own, and register \(publicURL.redirectURI(ofApplication: id))."
            ).of(client.application)
        }
    }
}
