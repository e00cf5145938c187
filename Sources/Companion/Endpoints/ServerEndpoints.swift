import HTTPServer
import HTTPWire
import SessionStore

/// What this server is: its applications, the device that it runs on, its languages.
struct ServerEndpoints: Sendable {
    let configuration: CompanionConfiguration
    let languages: Languages
    let cookie: SessionCookie

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
    func chooseLanguage(_ call: Call) throws(Problem) -> Response {
        let body: LanguageBody = try call.body()
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
