package import HTTPServer
package import TenantControl
import TenantDirectory
import WebFormats

/// Graph, and the APIs beside it that the holders of access tokens call.
package final class Graph: PlatformHandler {
    package let platform: Platform
    /// The delegated permissions in Graph's form.
    let graphScopes: [JSONValue]
    /// Returns the subject of a request of a batch.
    let subject: @Sendable (Request) -> RuledRequest.Subject
    let photos: Photos

    package init(_ platform: Platform, photos: Photos, subject: @escaping @Sendable (Request) -> RuledRequest.Subject) {
        self.platform = platform
        graphScopes = platform.registrations.reference.delegated.map {
            .permissionScope($0.name, id: $0.id, title: $0.title.text, adminOnly: $0.adminOnly)
        }
        self.photos = photos
        self.subject = subject
    }
}
