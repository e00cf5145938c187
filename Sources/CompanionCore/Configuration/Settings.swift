import Foundation
import Logging
import OpenIDConnect
import PostgresStore
import SessionStore

// The table of all settings. Each row declares one key: its name in the file (the environment variable follows from
// it), its type with unit and checks, its default and its help text. The configuration is read from the top of the
// table to its bottom. A new setting takes a row here and a property for its value; the tests then report what the
// README and the example file lack.

extension CompanionConfiguration {
    /// The pages' languages by tag, for the kiosk's welcome texts.
    static let welcomeLanguages = [
        ("en", "English"), ("ja", "Japanese"), ("pt-BR", "Brazilian Portuguese"), ("pt-PT", "Portuguese"),
        ("sv", "Swedish"), ("zh-Hans", "Simplified Chinese"),
    ]

    /// Reads the settings of the whole server.
    package init(reading keys: inout ConfigurationReading) {
        let listen = keys.value(
            "listen", .address(example: "127.0.0.1:8080"), default: .standard,
            "The address and the port that the server listens on.")
        (host, port) = keys.applyingOptions(to: listen)
        publicURL = keys.value(
            "public_url", .publicURL, default: .localhost(port: port),
            "The address that users see, with or without a path: https unless the host is localhost. Redirect URIs follow from it."
        )
        let address = keys.value(
            "database", .database, default: StoreAddress.standard.description,
            "The database of sessions and sealed tokens: a file, or where several machines share one postgresql://user@host:5432/name."
        )
        let databasePassword = keys.value("database_password", .secret, "The password of a PostgreSQL database.")
        let databasePasswordFile = keys.value(
            "database_password_file", .path, "The file of that password, read again for each connection.")
        let preparation: PostgresSettings.Preparation = keys.value(
            "database_prepared", .choice, default: .auto,
            "Whether statements are prepared in PostgreSQL: auto, or off behind PgBouncer before 1.21.")
        let poolSize = keys.value(
            "database_pool", .number("number", from: 1, to: 1000), default: 8,
            "Connections to PostgreSQL for transactions; each worker has one more.")
        let encryptionKeyFile = keys.value(
            "encryption_key_file", .path,
            "The file of the key that seals tokens, made on first start, mode 0600. Without it: companion.key beside the database."
        )
        let encryptionKeyText = keys.value(
            "encryption_key", .encryptionKey,
            "The key itself instead of its file: the base64 of 32 bytes; after a rotation NEW,OLD.")
        publicFolder = keys.value("public", .text, default: "Public", "The folder that holds the pages.")
        deviceMode = keys.value(
            "device_mode", .choice, default: .private,
            "Whether one person or several use the machine. When it is shared, signing out ends the provider's session too."
        )
        let staleness = keys.value(
            "staleness_seconds", .secondsOrNone, default: deviceMode == .shared ? .zero : .seconds(1),
            "How long a machine trusts what it has read of a session from PostgreSQL. Default of a shared machine: 0.")
        database = .file(address)
        if var postgres = try? PostgresSettings(address, password: databasePassword) {
            postgres.preparation = preparation
            postgres.poolSize = poolSize
            postgres.staleness = staleness
            database = .postgres(postgres, passwordFile: databasePasswordFile)
        }
        encryptionKey = EncryptionKey(encryptionKeyText, file: encryptionKeyFile, besides: database.localPath)
        tokenDisplay = keys.value(
            "token_display", .choice, default: .masked,
            "How much of an access token the pages show; never full when the machine is shared.")
        sessionIdle = keys.value(
            "session.idle_minutes", .minutes, default: deviceMode.sessionIdle,
            "How long a session lives without use. Default of a shared machine: 2.")
        sessionMaximum = keys.value(
            "session.max_hours", .hours, default: deviceMode.sessionMaximum,
            "How long a session lives at most. Default of a shared machine: 0.25.")
        kioskCountdownAfter = keys.value(
            "kiosk.countdown_after_seconds", .seconds, default: .seconds(20),
            "How long nobody touches a kiosk until its page counts down and then signs out.")
        kioskIdle = keys.value(
            "kiosk.idle_seconds", .seconds, default: .seconds(60),
            "How long nobody touches a kiosk until the server signs out without its page.")
        kioskHosts = keys.value(
            "kiosk.hosts", .kioskHosts, default: [],
            "Where a kiosk's browser may go besides: the hosts of federated providers. *.contoso.com is all below contoso.com."
        )
        kioskLogo = keys.value(
            "kiosk.logo_file", .kioskLogo,
            "The organiser's picture at the kiosk's top left, at most 256 KB and 2048 pixels to a side. Without it: ours."
        )
        kioskColor = keys.value(
            "kiosk.color", .kioskColor,
            "The organiser's colour, of buttons and background. White has to be read on it: a contrast of at least 4.5."
        )
        var welcome: [String: String] = [:]
        for (tag, name) in CompanionConfiguration.welcomeLanguages {
            welcome[tag] = keys.value(
                "kiosk.welcome.\(tag)", .text, "What the kiosk says to people who walk up, in \(name).")
        }
        kioskWelcome = welcome
        trustedProxies = keys.value(
            "trusted_proxies", .networks, default: [],
            "Your proxies, whose X-Forwarded-Proto (http is sent to https) and X-Forwarded-For (limits) count.")
        limits = Limits(reading: &keys)
        freeBytes = keys.value(
            "limits.free_megabytes", .megabytes, default: SessionStore.Configuration.standardFreeBytes,
            "What people who are not signed in leave free of the disk for those who are; on a small disk a tenth of it."
        )
        logLevel = keys.value(
            "log_level", .oneOf(Logger.Level.allCases.map(\.rawValue)), default: "info",
            "The least severe level that is logged.")
        logFormat = keys.value("log_format", .choice, default: .text, "The shape of log lines.")
        logRequests = keys.value(
            "log_requests", .flag, default: false,
            "Whether each request is logged at level info; else at debug, and at warning where it failed here.")
        auditLogFile = keys.value(
            "audit_log_file", .path,
            "The audit log: JSON lines of what people and operators did. Without it: the ordinary log, message “audit”."
        )
        metricsListener = keys.value(
            "metrics.listen", .address(example: "127.0.0.1:9464"),
            "A listener of its own for Prometheus. Without it: /metrics at listen, for this machine only.")
        drain = .seconds(
            keys.value(
                "drain_seconds", .number("seconds; 0 turns it off", to: 600), default: 0,
                "How long the server goes on serving after a stop signal while /readyz returns 503, so that a balancer takes it out first."
            ))
        demoClientSecret = keys.value(
            "demo.client_secret", .secret,
            "The demo tenant's secret of the demo's application, for trying another client there. Without it: made at each start."
        )
        demoHost = keys.value(
            "demo.host", .text,
            "Where the demo and its tenant listen, as 0.0.0.0 in a container. Without it: on this machine alone. Beyond, anyone who reaches the ports may use them."
        )
        demoControlURL = nil
        applications = []
    }
}

extension Limits {
    /// Reads the limits, which apply to one address (IPv6: one /64, with ten times as much for a /48), one session
    /// with a signed-in account, or one browser with an earlier sign-in.
    fileprivate init(reading keys: inout ConfigurationReading) {
        signInsPerMinute = keys.value(
            "limits.sign_ins_per_minute", .limit, default: 3000,
            "Sign-ins begun a minute from one address (IPv6: one /64; a /48 ten times as many), administrators' consents included. A session with an account, and a browser in which somebody has signed in before, count by themselves."
        )
        signInBurst = keys.value(
            "limits.sign_in_burst", .number("number", from: 1),
            "How many of them may begin at once, as a class does. Without it: half of sign_ins_per_minute.")
        callbacksPerMinute = keys.value(
            "limits.callbacks_per_minute", .limit, default: 3000,
            "Providers' answers taken a minute, counted in the same way; from one session or browser at most 240."
        )
        forcedRefreshesPerMinute = keys.value(
            "limits.forced_refreshes_per_minute", .limit, default: 60,
            "Good tokens that one session replaces a minute; for one account and application always at most 6.")
        operatorRequestsPerMinute = keys.value(
            "limits.operator_requests_per_minute", .limit, default: 120,
            "Requests of one session a minute to what only a portal's operators may do.")
        connections = keys.value(
            "limits.connections", .limit, default: 512,
            """
            Connections of one address open at a time. One more ends one that waits for its client. A front in \
            trusted_proxies has no limit.
            """)
        exempt = keys.value("limits.exempt", .networks, default: [], "Addresses and networks that are not counted.")
    }
}

/// The settings of one application, under `apps.{id}`.
struct ApplicationSettings {
    let page: Application.Page?
    let title: String
    let kind: Application.Kind
    let clientID: String?
    let clientSecret, clientSecretFile: String?
    let certificateFile, privateKeyFile, federatedTokenFile: String?
    let clientAuthentication: ClientAuthentication.SecretMethod?
    let clientSecretExpires: Date?
    let authority: String?
    let policies: [Application.UserFlow: String]
    let allowedTenants, allowedUsers: [String]
    let redirectURI: RedirectURI
    let scopes: [String]
    let api: Endpoint?
    let prompt: Prompt?
    let extraQueryParameters: [String]

    /// The redirect URI: one for all applications, or one for this application alone.
    enum RedirectURI: String, CaseIterable { case shared, own }

    init(_ id: String, reading keys: inout ConfigurationReading) {
        let app = "apps.\(id)"
        let pages = Application.Page.allCases.map(\.rawValue).joined(separator: ", ")
        page = keys.value(
            "\(app).page", .choice, default: Application.Page(rawValue: id),
            missing: "say which page to show: \(pages)",
            "The page that it shows. Without it: the one that has the application's name.")
        title = keys.value(
            "\(app).title", .text, default: page?.title ?? id,
            "What the home page calls it. Without it: the page's title.")
        kind = keys.value(
            "\(app).kind", .choice, default: .workforce,
            "The platform: Microsoft Entra ID, its external tenants, Azure AD B2C, or any OpenID provider.")
        clientID = keys.value(
            "\(app).client_id", .text, default: nil,
            missing: "copy “Application (client) ID” from the app registration",
            "The registration's Application (client) ID.")
        clientSecret = keys.value(
            "\(app).client_secret", .secret,
            "The client secret's value. Without any secret the application is a public client, on localhost only.")
        clientSecretFile = keys.value(
            "\(app).client_secret_file", .path, "The file of the client secret's value, read again when it changes.")
        certificateFile = keys.value(
            "\(app).certificate_file", .path, "Instead of a secret: a certificate (PEM), read again when it changes.")
        privateKeyFile = keys.value("\(app).private_key_file", .path, "The certificate's private key (PEM).")
        federatedTokenFile = keys.value(
            "\(app).federated_token_file", .path,
            "Instead of a secret: the token of another identity system, read again when it changes.")
        clientAuthentication = keys.value(
            "\(app).client_authentication", .choice,
            "Where the secret goes. Without it: as the provider's metadata says.")
        clientSecretExpires = keys.value(
            "\(app).client_secret_expires", .day,
            "When the secret ends: companion check and the portal's health warn before it.")
        authority = keys.value(
            "\(app).authority", .text, default: kind == .workforce ? "https://login.microsoftonline.com/common" : nil,
            missing: "write it as \(kind.authorityExample)",
            "Where people sign in: \(Application.Kind.allCases.map(\.authorityExample).joined(separator: "; ")).")
        var policies: [Application.UserFlow: String] = [:]
        for flow in Application.UserFlow.allCases {
            policies[flow] = keys.value(
                "\(app).policies.\(flow.rawValue)", .text, "Azure AD B2C's user flow for \(flow.purpose).")
        }
        self.policies = policies
        allowedTenants = keys.value(
            "\(app).allowed_tenants", .tenants, default: [],
            "Who may sign in beside the authority's own tenant; with common or organizations: the only ones.")
        allowedUsers = keys.value(
            "\(app).allowed_users", .texts("object ids, tenant id/object id, or usernames"), default: [],
            "Who of these tenants may sign in. Without it: everybody.")
        redirectURI = keys.value(
            "\(app).redirect_uri", .choice, default: .shared,
            "Where providers send people back to: an address of all applications, or its own, /auth/\(id)/callback, which companion check asks for where providers could be mixed up."
        )
        scopes = keys.value(
            "\(app).scopes", .texts("scopes"), default: kind.scopes(clientID: clientID ?? ""),
            "What a sign-in asks for besides openid, profile and offline_access. Default of the kind b2c: the client id; of external and oidc: nothing."
        )
        api = keys.value(
            "\(app).api", .outboundURL,
            default: kind == .workforce ? MicrosoftGraph.me(authority: authority) : nil,
            missing: kind == .oidc ? nil : "a tenant of the kind \(kind.rawValue) has an API of its own",
            "What the page calls with the access token. Without it, of kind oidc: the UserInfo endpoint.")
        prompt = keys.value(
            "\(app).prompt", .prompt, default: kind == .oidc ? nil : .selectAccount,
            "What the provider asks for at a sign-in that names nothing else. Default of the kind oidc: if_necessary.")
        extraQueryParameters = keys.value(
            "\(app).extra_query_parameters", .extraQueryParameters, default: [],
            "Parameters that a sign-in may hand on to the provider, as ui_locales.")
    }
}
