import Foundation
import Logging
import OpenIDConnect
import PostgresStore
import SessionStore

// The table of all settings. Each row declares one key: its name in the file (the environment variable follows from
// it), its type with unit and checks, its default and its help text. The configuration is read from the top of the
// table to its bottom. A new setting takes a row here and a property for its value; the documents
// are made from the table.

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
        let certificateFile = keys.value(
            "tls.certificate_file", .path,
            "The certificate (PEM, with those that issued it) with which the server speaks https itself, read again when it changes. Default: plain http, for a proxy."
        )
        let privateKeyFile = keys.value(
            "tls.private_key_file", .path, "The certificate's private key (PEM, without a password).")
        redirectListener = keys.value(
            "tls.redirect_listen", .address(example: "0.0.0.0:80"),
            "A separate listener that redirects plain http to public_url.")
        tls = keys.both(certificateFile, privateKeyFile, redirectListener)
        publicURL = keys.value(
            "public_url", .publicURL, default: .localhost(port: port, isSecure: tls != nil),
            "The address that users see, with or without a path: https unless the host is localhost. Redirect URIs follow from it."
        )
        let address = keys.value(
            "database", .database, default: StoreAddress.standard.description,
            "The database of sessions and encrypted tokens: a file, or for several servers postgresql://user@host:5432/name."
        )
        let databasePassword = keys.value("database_password", .secret, "The password of a PostgreSQL database.")
        let databasePasswordFile = keys.value(
            "database_password_file", .path, "The file with that password, read again for each connection.")
        let preparation: PostgresSettings.Preparation = keys.value(
            "database_prepared", .choice, default: .auto,
            "Whether statements are prepared in PostgreSQL: auto, or off behind PgBouncer before 1.21.")
        let poolSize = keys.value(
            "database_pool", .number("number", from: 1, to: 1000), default: 8,
            "Connections to PostgreSQL for transactions; each worker has one more.")
        let encryptionKeyFile = keys.value(
            "encryption_key_file", .path,
            "The file with the key that encrypts tokens, created at the first start with mode 0600. Default: companion.key beside the database."
        )
        let encryptionKeyText = keys.value(
            "encryption_key", .encryptionKey,
            "The key itself instead of a file: the base64 of 32 bytes; after a rotation NEW,OLD.")
        publicFolder = keys.value("public", .pages, default: "Public", "The folder with the pages.")
        deviceMode = keys.value(
            "device_mode", .choice, default: .private,
            "Whether one person uses the device or several. With shared, signing out also ends the provider's session, if it can."
        )
        let staleness = keys.value(
            "staleness_seconds", .secondsOrNone, default: deviceMode == .shared ? .zero : .seconds(1),
            "How long a server may use a session that it has read from PostgreSQL. Default with device_mode shared: 0.")
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
            "How much of an access token the pages show; full is not allowed with device_mode shared.")
        sessionIdle = keys.value(
            "session.idle_minutes", .minutes, default: deviceMode.sessionIdle,
            "How long an unused session lasts. Default with device_mode shared: 2.")
        sessionMaximum = keys.value(
            "session.max_hours", .hours, default: deviceMode.sessionMaximum,
            "How long a session lasts at most. Default with device_mode shared: 0.25.")
        kioskCountdownAfter = keys.value(
            "kiosk.countdown_after_seconds", .seconds, default: .seconds(20),
            "Time without input after which a kiosk's page starts a countdown and then signs out.")
        kioskIdle = keys.value(
            "kiosk.idle_seconds", .seconds, default: .seconds(60),
            "Time without input after which the server signs out, even if the kiosk's page does not.")
        kioskHosts = keys.value(
            "kiosk.hosts", .kioskHosts, default: [],
            "Additional hosts that a kiosk's browser may visit, such as those of federated providers. *.contoso.com includes all subdomains."
        )
        kioskTiles = keys.value(
            "kiosk.tiles", .texts("application names"), default: [],
            "The applications among which a kiosk's visitors choose, each as a tile. Default: the kiosk's own alone.")
        kioskLogo = keys.value(
            "kiosk.logo_file", .kioskLogo,
            "The organiser's logo at the top left of the kiosk, at most 256 KB and 2048 pixels wide and high. Default: the product's logo."
        )
        kioskColor = keys.value(
            "kiosk.color", .kioskColor,
            "The organiser's colour for buttons and background. White text must be readable on it, with a contrast of at least 4.5."
        )
        var welcome: [String: String] = [:]
        for (tag, name) in CompanionConfiguration.welcomeLanguages {
            welcome[tag] = keys.value(
                "kiosk.welcome.\(tag)", .text, "The kiosk's welcome text in \(name).")
        }
        kioskWelcome = welcome
        trustedProxies = keys.value(
            "trusted_proxies", .networks, default: [],
            "Your proxies, whose X-Forwarded-Proto (http is redirected to https) and X-Forwarded-For (for limits) are trusted."
        )
        authorityFile = keys.value(
            "provider_ca_file", .certificateAuthorities,
            "Certificate authorities (PEM) to trust beside the system's for requests to providers and APIs, for example a company's own."
        )
        limits = Limits(reading: &keys)
        freeBytes = keys.value(
            "limits.free_megabytes", .megabytes, default: SessionStore.Configuration.standardFreeBytes,
            "Disk space reserved for people who are signed in; on a small disk a tenth of it."
        )
        logLevel = keys.value(
            "log_level", .oneOf(Logger.Level.allCases.map(\.rawValue)), default: "info",
            "The lowest level that is logged.")
        logFormat = keys.value("log_format", .choice, default: .text, "The format of log lines.")
        logRequests = keys.value(
            "log_requests", .flag, default: false,
            "Whether each request is logged at level info. Otherwise the level is debug, or warning for a fault of the server."
        )
        auditLogFile = keys.value(
            "audit_log_file", .path,
            "The audit log, with a JSON line for each action of people and operators. Default: the ordinary log, message “audit”."
        )
        metricsListener = keys.value(
            "metrics.listen", .address(example: "127.0.0.1:9464"),
            "A separate listener for Prometheus. Default: /metrics at listen, for this machine only.")
        drain = .seconds(
            keys.value(
                "drain_seconds", .number("seconds; 0 turns it off", to: 600), default: 0,
                "How long the server keeps serving after a stop signal while /readyz returns 503, so that a load balancer removes it first."
            ))
        demoClientSecret = keys.value(
            "demo.client_secret", .secret,
            "The client secret of the demo's application, for trying another client at the demo tenant. Default: a new one at each start."
        )
        demoControlToken = keys.value(
            "demo.control_token", .secret,
            "The token that the demo tenant's pages for failures and requests ask for, as a password or a Bearer token. Default: none, and only this machine may use them."
        )
        demoHost = keys.value(
            "demo.host", .text,
            "The address that the demo and its tenant listen on, for example 0.0.0.0 in a container. Default: this machine only. With another address, others can open the companion's pages, but only this machine and the one on which its container runs can sign in."
        )
        developmentCA = keys.value(
            "development_ca", .one("folder", form: .path) { $0 },
            "The folder of the certificates with which `companion tenant` and `companion demo --https` serve this machine. Default: companion/development-ca in $XDG_DATA_HOME or ~/.local/share, or development-ca beside the database if there is no home."
        )
        apis = keys.allowedAPIs()
        apiTokens = keys.apiTokens()
        demoControlURL = nil
        applications = []
    }
}

extension ConfigurationReading {
    /// Returns the files of the server's certificate; a part alone is a mistake.
    fileprivate mutating func both(
        _ certificate: String?, _ privateKey: String?, _ redirectListener: ListenAddress?
    ) -> TLSFiles? {
        if let certificate, let privateKey { return TLSFiles(certificate: certificate, privateKey: privateKey) }
        if certificate != nil { mistakes.add("tls.private_key_file", "is missing beside the certificate") }
        if privateKey != nil { mistakes.add("tls.certificate_file", "is missing beside the private key") }
        if redirectListener != nil, certificate == nil, privateKey == nil {
            mistakes.add("tls.redirect_listen", "redirects to https, which needs tls.certificate_file")
        }
        return nil
    }
}

extension Limits {
    /// Reads the limits, which apply to one address (IPv6: one /64, with ten times as much for a /48), one session
    /// with a signed-in account, or one browser with an earlier sign-in.
    fileprivate init(reading keys: inout ConfigurationReading) {
        signInsPerMinute = keys.value(
            "limits.sign_ins_per_minute", .limit, default: 3000,
            "Sign-ins that may start per minute and address (IPv6: /64; a /48 ten times as many), including administrators' consents. A session with a signed-in account and a browser with an earlier sign-in have limits of their own."
        )
        signInBurst = keys.value(
            "limits.sign_in_burst", .number("number", from: 1),
            "Sign-ins that may start at once, for example in a class. Default: half of sign_ins_per_minute.")
        callbacksPerMinute = keys.value(
            "limits.callbacks_per_minute", .limit, default: 3000,
            "Provider responses per minute, counted in the same way; at most 240 for one session or browser."
        )
        forcedRefreshesPerMinute = keys.value(
            "limits.forced_refreshes_per_minute", .limit, default: 60,
            "Forced refreshes per session and minute; always at most 6 for one account and application.")
        operatorRequestsPerMinute = keys.value(
            "limits.operator_requests_per_minute", .limit, default: 120,
            "Requests per session and minute to operations for a portal's operators only.")
        programRequestsPerMinute = keys.value(
            "limits.program_requests_per_minute", .limit, default: 60,
            "Requests per minute with each token of api_tokens. Those with a wrong token are counted for their address."
        )
        connections = keys.value(
            "limits.connections", .limit, default: 512,
            """
            Open connections per address. A further one closes a connection that waits for its client. Proxies in \
            trusted_proxies have no limit.
            """)
        exempt = keys.value("limits.exempt", .networks, default: [], "Addresses and networks without limits.")
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
    let allowedTenants: [String]
    let allowed, operators, readers: AccountTexts
    let redirectURI: RedirectURI
    let scopes: [String]
    let scopesAreComplete: Bool
    let api: Endpoint?
    let prompt: Prompt?
    let pushedAuthorization: Application.PushedAuthorization
    let extraQueryParameters: [String]
    let appOnly: Bool

    /// The texts of a list of accounts.
    struct AccountTexts {
        let users, groups, roles: [String]
    }

    /// The redirect URI: one for all applications, or one for this application alone.
    enum RedirectURI: String, CaseIterable { case shared, own }

    init(_ id: String, reading keys: inout ConfigurationReading) {
        let app = "apps.\(id)"
        let pages = Application.Page.allCases.map(\.rawValue).joined(separator: ", ")
        page = keys.value(
            "\(app).page", .choice, default: Application.Page(rawValue: id),
            missing: "say which page to show: \(pages)",
            "The page to show. Default: the page with the application's name.")
        title = keys.value(
            "\(app).title", .text, default: page?.title ?? id,
            "The title on the home page. Default: the page's title.")
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
            "\(app).client_secret_file", .path, "The file with the client secret's value, read again when it changes.")
        certificateFile = keys.value(
            "\(app).certificate_file", .path, "Instead of a secret: a certificate (PEM), read again when it changes.")
        privateKeyFile = keys.value("\(app).private_key_file", .path, "The certificate's private key (PEM).")
        federatedTokenFile = keys.value(
            "\(app).federated_token_file", .path,
            "Instead of a secret: the token of another identity system, read again when it changes.")
        clientAuthentication = keys.value(
            "\(app).client_authentication", .choice,
            "How the secret is sent: in the form, or in a header field. Default: in the form to Microsoft; elsewhere as the provider's metadata requires, and if it has both, first in the field."
        )
        clientSecretExpires = keys.value(
            "\(app).client_secret_expires", .day,
            "When the secret expires; companion check and the portal's health page warn before that.")
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
            "Tenants that may sign in, in addition to the authority's own; with common or organizations, only these.")
        allowed = AccountTexts(
            users: keys.value(
                "\(app).allowed_users", .texts("object IDs, tenant ID/object ID, or usernames"), default: [],
                "The users of these tenants who may sign in. Default: all, unless groups or app roles are listed."),
            groups: keys.value(
                "\(app).allowed_groups", .texts("object IDs"), default: [],
                "Groups whose members may sign in, also indirect ones. The ID token must have the groups claim."),
            roles: keys.value(
                "\(app).allowed_roles", .texts("values of app roles"), default: [],
                "App roles of the registration whose holders may sign in."))
        operators = AccountTexts(
            users: keys.value(
                "\(app).operators.users", .texts("as allowed_users"), default: [],
                "The users who may operate this portal. Default for operators: all in the allowed lists and tenants."),
            groups: keys.value(
                "\(app).operators.groups", .texts("object IDs"), default: [],
                "Groups whose members may operate this portal."),
            roles: keys.value(
                "\(app).operators.roles", .texts("values of app roles"), default: [],
                "App roles whose holders may operate this portal."))
        readers = AccountTexts(
            users: keys.value(
                "\(app).readers.users", .texts("as allowed_users"), default: [],
                "The users who may see what this portal's operators see, and change nothing. Needs operators."),
            groups: keys.value(
                "\(app).readers.groups", .texts("object IDs"), default: [],
                "Groups whose members may see it."),
            roles: keys.value(
                "\(app).readers.roles", .texts("values of app roles"), default: [],
                "App roles whose holders may see it."))
        redirectURI = keys.value(
            "\(app).redirect_uri", .choice, default: .shared,
            "The redirect URI: one for all applications, or /auth/\(id)/callback for this one, which companion check recommends if providers could be mixed up."
        )
        scopes = keys.value(
            "\(app).scopes", .texts("scopes"), default: kind.scopes(clientID: clientID ?? ""),
            "The scopes of a sign-in in addition to openid, profile and offline_access; with kind oidc, in addition to openid alone. Default for kind b2c: the client ID; for external: none; for oidc: profile, and offline_access if the provider lists it."
        )
        scopesAreComplete = kind == .oidc && keys.isWritten("\(app).scopes")
        api = keys.value(
            "\(app).api", .outboundURL,
            default: kind == .workforce ? MicrosoftGraph.me(authority: authority) : nil,
            missing: kind == .oidc ? nil : "a tenant of the kind \(kind.rawValue) has an API of its own",
            "The API that the page calls with the access token. Default for kind oidc: the UserInfo endpoint.")
        prompt = keys.value(
            "\(app).prompt", .prompt, default: kind == .oidc ? nil : .selectAccount,
            "The prompt of a sign-in that requests no other. Default for kind oidc: if_necessary.")
        pushedAuthorization = keys.value(
            "\(app).pushed_authorization", .choice, default: .auto,
            "Whether authorization requests are sent to a provider of kind oidc in advance (RFC 9126): auto, if it offers that, or off."
        )
        appOnly = keys.value(
            "\(app).app_only", .flag, default: false,
            "Whether the application may have tokens of its own: for reading its registration (it needs the application permission Application.Read.All) and for the portal's operators."
        )
        extraQueryParameters = keys.value(
            "\(app).extra_query_parameters", .extraQueryParameters, default: [],
            "Parameters that a sign-in may pass on to the provider, such as ui_locales.")
    }
}
