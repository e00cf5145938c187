import HTTPServer
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
            var scopes: [String]
            var prompt: String?
        }

        var apps: [Entry]
        var demo: Bool
        var mode: String
        var token_display: String
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
                        signed_in_as: session?.currentAccount(for: application.id)?.username,
                        scopes: application.registration.scopes, prompt: application.prompt?.rawValue)
                },
                demo: configuration.demoControlURL != nil, mode: configuration.deviceMode.rawValue,
                token_display: configuration.tokenDisplay.rawValue, demo_control_url: configuration.demoControlURL))
    }

    private struct Device: Encodable {
        var mode: String
        var session_idle_seconds: Int
        var session_max_seconds: Int
        var demo: Bool
        var kiosk: Kiosk

        struct Kiosk: Encodable {
            var countdown_after_seconds: Int
            var idle_seconds: Int
        }
    }

    var device: Response {
        .json(
            Device(
                mode: configuration.deviceMode.rawValue,
                session_idle_seconds: Int(configuration.effectiveSessionIdle.components.seconds),
                session_max_seconds: Int(configuration.sessionMaximum.components.seconds),
                demo: configuration.demoControlURL != nil,
                kiosk: Device.Kiosk(
                    countdown_after_seconds: Int(configuration.kioskCountdownAfter.components.seconds),
                    idle_seconds: Int(configuration.kioskIdle.components.seconds))))
    }

    private struct LanguageBody: Decodable {
        var language: String?
    }

    /// Keeps the person's choice of a language, or with null goes back to what the browser asks for.
    func chooseLanguage(_ request: Request) throws(Problem) -> Response {
        let body: LanguageBody = try decode(request.body)
        let language = body.language.flatMap { languages[$0] }
        guard body.language == nil || language != nil else {
            let tags = languages.all.map(\.tag).joined(separator: ", ")
            throw Problem(.badRequest, "“language” must be one of \(tags).")
        }
        return cookie.choosing(
            language, named: languages.cookieName,
            on: Response(status: .noContent, headerFields: [.cacheControl: "no-store"], body: []))
    }
}
