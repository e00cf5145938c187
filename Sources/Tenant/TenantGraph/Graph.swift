package import HTTPServer
package import TenantControl
import TenantDirectory
import WebFormats

/// Graph, and the APIs beside it that the holders of access tokens call.
package final class Graph: Sendable {
    let directory: Directory
    let registrations: Registrations
    let scopes: Scopes
    /// Nil if nothing is registered at run time.
    let registry: RunTimeRegistry?
    let state: TenantState
    let people: People
    let grants: Grants
    let controls: Controls
    let clock: TenantClock
    let addresses: Addresses
    /// The delegated permissions in Graph's form.
    let graphScopes: [JSONValue]
    /// Returns the subject of a request of a batch.
    let subject: @Sendable (Request) -> RuledRequest.Subject
    let photos: Photos

    package init(_ platform: Platform, photos: Photos, subject: @escaping @Sendable (Request) -> RuledRequest.Subject) {
        directory = platform.directory
        registrations = platform.registrations
        scopes = platform.scopes
        registry = platform.registry
        state = platform.state
        people = platform.people
        grants = platform.grants
        controls = platform.controls
        clock = platform.clock
        addresses = platform.addresses
        graphScopes = registrations.reference.delegated.map {
            .permissionScope($0.name, id: $0.id, title: $0.title.text, adminOnly: $0.adminOnly)
        }
        self.photos = photos
        self.subject = subject
    }
}
