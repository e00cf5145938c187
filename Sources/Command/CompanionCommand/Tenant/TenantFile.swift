import CompanionCore
import Foundation
import TenantDirectory
import Yams

/// The configuration file of `companion tenant`, as it is written.
struct TenantFile: Equatable {
    /// An application to register.
    struct Application: Equatable {
        /// The name that people see.
        var name: String
        /// The client ID; nil makes one from the first bundle ID or redirect URI.
        var clientID: String?
        /// Bundle IDs or redirect URIs of an app.
        var native: [String] = []
        /// Redirect URIs of a web application.
        var web: [String] = []
        /// Redirect URIs of a single-page application.
        var spa: [String] = []
        /// The file with the secret.
        var secretFile: String?
        /// The secret of an application that is registered at run time, where nothing names files.
        var secret: String?
        /// Whether a secret can come later.
        var isAtRunTime = false
        /// The beginning of the day from which the secret is refused.
        var secretExpires: Date?
        /// The file with the certificate, PEM.
        var certificateFile: String?
        /// The domains of the tenants that know it; empty for all.
        var tenants: [String] = []
        /// The scopes of its API by the API's identifier.
        var exposes: [String: [String]] = [:]
        /// The authentication context that its API demands, by the API's identifier.
        var requiredContexts: [String: String] = [:]
        var accessTokenVersion = DemoClient.AccessTokenVersion.v1
        var appRoles: [DemoClient.AppRole] = []
        /// The app roles that are granted to the application itself, by the resource's identifier.
        var granted: [String: [String]] = [:]
        /// The delegated permissions that it lists, by an identifier of their API; nil if nothing is said of them.
        var permissions: [String: [String]]?
        var idTokens = false
        var assignmentRequired = false
        var groupClaims = DemoClient.GroupMembershipClaims.none
        var optionalClaims: DemoClient.OptionalClaims?
        var nativeAuthentication = NativeAuthentication()
        /// Where it was declared, for messages.
        var source = ""
    }

    /// The way in which an application proves itself.
    enum Credentials {
        /// By files, whose paths start from a folder.
        case files(URL)
        /// By a secret of at least so many characters.
        case atRunTime(leastSecret: Int)

        static let keysOfFiles = ["secret_file", "secret_expires", "certificate_file"]

        var keys: [String] {
            switch self {
            case .files: Self.keysOfFiles
            case .atRunTime: ["secret", "secret_expires"]
            }
        }
    }

    /// A person who can sign in.
    struct User: Equatable {
        var username: String
        var password: String
        var displayName: String?
        var groups: [String] = []
        var manyGroups = 0
        /// The values of app roles by the application's name.
        var roles: [String: [String]] = [:]
        var guestOf: [String] = []
        var secondFactor = false
        var native = NativePerson()
    }

    private(set) var applications: [Application] = []
    private(set) var users: [User] = []
    private(set) var groups: [DemoGroup] = []
    /// The policies of authentication contexts; nil keeps the tenant's.
    private(set) var contexts: [String: ContextPolicy]?
    /// Whether applications may sign people in by their passwords alone.
    private(set) var allowsPasswords = false
    /// The token that `/control` asks for.
    private(set) var controlToken: String?

    /// The file of a tenant that is not configured.
    init() {}

    /// The least number of characters of a token, and of an application's secret, where other machines are served.
    static let leastTokenLength = 16
    /// The same of a person's password.
    static let leastPasswordLength = 8

    /// Reads a file.
    ///
    /// - Parameter isForOthers: Whether other machines are served.
    init(path: String, isForOthers: Bool) throws(ConfigurationMistakes) {
        guard let data = FileManager.default.contents(atPath: path), let text = String(bytes: data, encoding: .utf8)
        else {
            var mistakes = ConfigurationMistakes()
            mistakes.add(path, "cannot be read as text; check the path and its permissions")
            throw mistakes
        }
        try self.init(text, path: path, isForOthers: isForOthers)
    }

    /// - Parameter path: The file's path, from whose folder the paths in it start.
    init(_ text: String, path: String, isForOthers: Bool = false) throws(ConfigurationMistakes) {
        var yaml = YAMLReading()
        if let root = yaml.root(text, of: path) {
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            let fields = yaml.fields(
                root, at: "", ["applications", "users", "groups", "contexts", "password_grant", "control_token"],
                sections: ["applications", "users", "groups"])
            applications = yaml.items(fields["applications"], at: "applications").compactMap { node, path in
                Application(node, at: path, &yaml, credentials: .files(folder))
            }
            users = yaml.items(fields["users"], at: "users").compactMap { node, path in
                User(node, at: path, &yaml, isForOthers: isForOthers)
            }
            groups = yaml.items(fields["groups"], at: "groups").compactMap { node, path in
                DemoGroup(node, at: path, &yaml)
            }
            contexts = yaml.contexts(fields["contexts"], at: "contexts")
            allowsPasswords = yaml.flag(fields["password_grant"], at: "password_grant")
            controlToken = yaml.text(
                fields["control_token"], at: "control_token", least: isForOthers ? Self.leastTokenLength : 1)
        }
        guard yaml.mistakes.all.isEmpty else { throw yaml.mistakes }
    }
}

extension TenantFile.Application {
    /// Returns all keys.
    ///
    /// - Parameter credentials: Those by which it proves itself.
    static func keys(_ credentials: [String]) -> [String] {
        ["name", "client_id", "native", "web", "spa"] + credentials + [
            "tenants", "exposes", "access_token_version",
            "id_tokens", "app_roles", "granted", "permissions", "assignment_required", "group_claims",
            "optional_claims",
        ] + TenantFile.NativeAuthentication.keys
    }

    init?(_ node: Node, at path: String, _ yaml: inout YAMLReading, credentials: TenantFile.Credentials) {
        let fields = yaml.fields(node, at: path, Self.keys(credentials.keys))
        guard case .mapping = node else { return nil }
        clientID = yaml.text(fields["client_id"], at: "\(path).client_id")
        native = yaml.texts(fields["native"], at: "\(path).native")
        web = yaml.texts(fields["web"], at: "\(path).web")
        spa = yaml.texts(fields["spa"], at: "\(path).spa")
        switch credentials {
        case .files(let folder):
            func file(_ key: String) -> String? {
                yaml.text(fields[key], at: "\(path).\(key)").map { URL(fileURLWithPath: $0, relativeTo: folder).path }
            }
            secretFile = file("secret_file")
            certificateFile = file("certificate_file")
        case .atRunTime(let least):
            secret = yaml.text(fields["secret"], at: "\(path).secret", least: least)
            isAtRunTime = true
        }
        secretExpires = yaml.day(fields["secret_expires"], at: "\(path).secret_expires")
        tenants = yaml.texts(fields["tenants"], at: "\(path).tenants")
        (exposes, requiredContexts) = yaml.apis(fields["exposes"], at: "\(path).exposes")
        accessTokenVersion =
            yaml.choice(fields["access_token_version"], at: "\(path).access_token_version", ["1": .v1, "2": .v2]) ?? .v1
        appRoles = yaml.items(list: fields["app_roles"], at: "\(path).app_roles").compactMap { node, path in
            DemoClient.AppRole(node, at: path, &yaml)
        }
        granted = yaml.lists(fields["granted"], at: "\(path).granted")
        permissions = yaml.permissions(fields["permissions"], at: "\(path).permissions")
        idTokens = yaml.flag(fields["id_tokens"], at: "\(path).id_tokens")
        assignmentRequired = yaml.flag(fields["assignment_required"], at: "\(path).assignment_required")
        groupClaims =
            yaml.choice(fields["group_claims"], at: "\(path).group_claims", DemoClient.GroupMembershipClaims.words)
            ?? .none
        optionalClaims = DemoClient.OptionalClaims(
            fields["optional_claims"], at: "\(path).optional_claims", &yaml)
        nativeAuthentication = TenantFile.NativeAuthentication(fields, at: path, &yaml)
        source = path
        guard let name = yaml.text(fields["name"], at: "\(path).name") else {
            if fields["name"] == nil { yaml.add("needs a name", at: path, node) }
            return nil
        }
        self.name = name
    }
}

extension TenantFile.User {
    static let keys =
        ["username", "password", "display_name", "groups", "many_groups", "roles", "guest_of", "second_factor"]
        + TenantFile.NativePerson.keys

    init?(_ node: Node, at path: String, _ yaml: inout YAMLReading, isForOthers: Bool) {
        let fields = yaml.fields(node, at: path, Self.keys)
        guard case .mapping = node else { return nil }
        let username = yaml.text(fields["username"], at: "\(path).username")
        let password = yaml.text(
            fields["password"], at: "\(path).password", least: isForOthers ? TenantFile.leastPasswordLength : 1)
        displayName = yaml.text(fields["display_name"], at: "\(path).display_name")
        groups = yaml.texts(fields["groups"], at: "\(path).groups")
        manyGroups =
            yaml.number(fields["many_groups"], at: "\(path).many_groups", within: 0...DemoUser.mostManyGroups) ?? 0
        roles = yaml.lists(fields["roles"], at: "\(path).roles")
        guestOf = yaml.texts(fields["guest_of"], at: "\(path).guest_of")
        secondFactor = fields["second_factor"]?.bool ?? false
        native = TenantFile.NativePerson(fields, at: path, &yaml)
        for key in ["username", "password"] where fields[key] == nil {
            if key == "password", native.method == .code { continue }
            yaml.add("needs a \(key)", at: path, node)
        }
        guard let username, password != nil || native.method == .code else { return nil }
        (self.username, self.password) = (username, password ?? "")
    }
}
