import CompanionCheck
import CompanionCore
import CompanionPages
import CompanionSignIn
import HTTPServer
import HTTPWire
import Languages
import SessionStore
import WebFormats

/// Describes this server: its applications, the device that it runs on, its languages.
struct ServerEndpoints: Sendable {
    private let configuration: CompanionConfiguration
    private let languages: Languages
    private let cookie: SessionCookie
    private let access: PortalAccess
    private let registrations: RegistrationHealth
    /// The applications as a browser without a session sees them, by language.
    private let applicationsOfNobody: [PreparedResponse]
    /// The device mode and its settings.
    let device: PreparedResponse
    /// The response of `/healthz`: the process runs.
    static let alive: JSONValue = ["status": "ok"]
    let isAlive = PreparedResponse.json(alive)

    init(
        configuration: CompanionConfiguration, languages: Languages, cookie: SessionCookie, access: PortalAccess,
        registrations: RegistrationHealth
    ) {
        self.configuration = configuration
        self.languages = languages
        self.cookie = cookie
        self.access = access
        self.registrations = registrations
        applicationsOfNobody = languages.all.map {
            .json(ServerEndpoints.applications(configuration, nil, in: $0))
        }
        device = .json(ServerEndpoints.device(configuration))
    }

    /// Returns the applications if the session is in memory and has no role at a portal. The response is not cached with
    /// the session, because it is long and is requested only once per visit of the home page.
    func prepared(_ call: Call) -> PreparedResponse? {
        let language = languages.language(of: call.request.head)
        switch call.session {
        case .found(let session):
            guard access.role(of: session) == nil else { return nil }
            return .json(ServerEndpoints.applications(configuration, session, in: language))
        case .absent:
            guard configuration.demoFailures?(language.tag).isEmpty == false else {
                return applicationsOfNobody[language.index]
            }
            return .json(ServerEndpoints.applications(configuration, nil, in: language))
        case .unknown, nil: return nil
        }
    }

    /// Returns the applications, with the health of each for those who operate a portal.
    func applications(_ call: Call, _ session: Session?) async -> Response {
        let language = languages.language(of: call.request.head)
        guard let session, let role = access.role(of: session) else {
            return .json(ServerEndpoints.applications(configuration, session, in: language))
        }
        let known = await registrations.known(of: configuration.applications)
        return .json(ServerEndpoints.applications(configuration, session, (role, known), in: language))
    }

    private static func applications(
        _ configuration: CompanionConfiguration, _ session: Session?,
        _ operation: (role: PortalRole, known: RegistrationHealth.Known)? = nil, in language: Language
    ) -> JSONValue {
        let own = Set(
            configuration.applications.filter { session?.currentAccount(for: $0.id) != nil && $0.page == .portal }
                .map(\.id))
        var answer: [String: JSONValue] = [
            "apps": .array(
                configuration.applications.map { application in
                    let known = operation?.known.entries[application.id] ?? [:]
                    return entry(application, session, known, isAtPortal: !own.isEmpty, in: language)
                }),
            "demo": .bool(configuration.demoControlURL != nil), "mode": .string(configuration.deviceMode.rawValue),
            "token_display": .string(configuration.tokenDisplay.rawValue),
        ]
        if configuration.deviceMode == .private {
            // The list says which other systems there are: it is for those who may call them.
            answer["apis"] = .array(
                configuration.apis.filter { !own.isDisjoint(with: $0.applications) }.map(Self.entry))
        }
        if let operation {
            answer["role"] = .string(operation.role.rawValue)
            answer["checked_at"] = .orNull(operation.known.checkedAt.map(Timeline.text))
        }
        answer["demo_control_url"] = .text(configuration.demoControlURL)
        answer["demo_failures"] = configuration.demoFailures.map { .array($0(language.tag)) }
        return .object(answer)
    }

    private static func entry(
        _ application: Application, _ session: Session?, _ known: [String: JSONValue], isAtPortal: Bool,
        in language: Language
    ) -> JSONValue {
        var entry: [String: JSONValue] = [
            "id": .string(application.id), "title": .string(application.title(in: language)),
            "page": .string(application.page.rawValue), "kind": .string(application.kind.rawValue),
            "authority": .string(application.authority.description),
            "scopes": .list(application.registration.scopes),
        ]
        if application.kind == .b2c {
            // The user flows that the page may start.
            entry["policies"] = .list(
                Application.UserFlow.allCases.filter { application.authority(of: $0) != nil }.map(\.rawValue))
        }
        if isAtPortal, application.appOnlyAuthority != nil { entry["app_only"] = true }
        entry["signed_in_as"] = session?.currentAccount(for: application.id).map { .string($0.identity.username) }
        entry["prompt"] = application.prompt.map { .string($0.rawValue) }
        return .object(entry.merging(known) { $1 })
    }

    /// Returns an API that the portal may call.
    private static func entry(_ api: AllowedAPI) -> JSONValue {
        [
            "name": .string(api.name), "base": .string(api.base.description),
            "applications": .list(api.applications),
            "paths": .array(
                api.paths.map { ["path": .string($0.description), "scopes": .list(api.scopes[$0] ?? [])] }),
        ]
    }

    private static func device(_ configuration: CompanionConfiguration) -> JSONValue {
        func seconds(_ duration: Duration) -> JSONValue { .integer(Int(duration.components.seconds)) }
        return [
            "mode": .string(configuration.deviceMode.rawValue),
            "session_idle_seconds": seconds(configuration.effectiveSessionIdle),
            "session_max_seconds": seconds(configuration.sessionMaximum),
            "demo": .bool(configuration.demoControlURL != nil),
            "kiosk": [
                "countdown_after_seconds": seconds(configuration.kioskCountdownAfter),
                "idle_seconds": seconds(configuration.kioskIdle),
            ],
        ]
    }

    private struct LanguageBody: Decodable {
        var language: String?
    }

    /// Stores the person's choice of a language. With null, the browser's preference applies again.
    func chooseLanguage(_ call: Call) throws(Problem) -> Response {
        let body: LanguageBody = try call.body()
        let language = body.language.flatMap { languages[$0] }
        guard body.language == nil || language != nil else {
            let tags = languages.all.map(\.tag).joined(separator: ", ")
            throw Problem(.badRequest, "“language” must be one of \(tags).")
        }
        return cookie.choosing(
            language, named: languages.cookieName,
            on: .noStore(.noContent))
    }
}
