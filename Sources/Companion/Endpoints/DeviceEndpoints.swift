import HTTPWire
import SessionStore

/// The applications, the machine, and this session's own story.
extension Endpoints {
    private struct Events: Encodable {
        var events: [TimelineEvent]
    }

    func events(_ exchange: Exchange) async throws -> Response {
        let application = try application(exchange)
        let session = try await session(exchange)
        return .json(Events(events: session.map { timeline.events(session: $0.key.value, app: application.id) } ?? []))
    }

    private struct Applications: Encodable {
        struct Entry: Encodable {
            var id: String
            var title: String
            var page: String
            var kind: String
            var authority: String
            /// The user flows that the page may start.
            var policies: [String]?
            var signed_in_as: String?
        }

        var apps: [Entry]
        var demo: Bool
        var mode: String
        var demo_control_url: String?
    }

    func applications(_ session: Session?) -> Response {
        .json(
            Applications(
                apps: configuration.applications.map { application in
                    Applications.Entry(
                        id: application.id, title: application.title, page: application.page.rawValue,
                        kind: application.kind.rawValue, authority: application.authority.description,
                        policies: application.kind == .b2c
                            ? Application.UserFlow.allCases.filter { application.authority(of: $0) != nil }
                                .map(\.rawValue) : nil,
                        signed_in_as: session?.currentAccount(for: application.id)?.username)
                },
                demo: configuration.demoControlURL != nil, mode: configuration.deviceMode.rawValue,
                demo_control_url: configuration.demoControlURL))
    }

    private struct Device: Encodable {
        var mode: String
        var session_idle_seconds: Int
        var demo: Bool
    }

    var device: Response {
        .json(
            Device(
                mode: configuration.deviceMode.rawValue,
                session_idle_seconds: Int(configuration.sessionIdle.components.seconds),
                demo: configuration.demoControlURL != nil))
    }

    /// What `/healthz` and `/readyz` say.
    struct Health: Encodable {
        var status: String
    }
}
