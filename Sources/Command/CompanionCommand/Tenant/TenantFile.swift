import CompanionCore
import Foundation
import TenantDirectory
import Yams

/// The configuration file of `companion tenant`, as it is written.
struct TenantFile: Equatable {
    /// An application to register.
    struct Application: Equatable {
        /// The registration, but for the secret and the certificate that files have.
        var client: DemoClient
        /// Bundle IDs or redirect URIs of an app, as they are written.
        var native: [String] = []
        /// The file with the secret.
        var secretFile: String?
        /// Whether a secret can come later.
        var isAtRunTime = false
        /// The beginning of the day from which the secret is refused.
        var secretExpires: Date?
        /// The file with the certificate, PEM.
        var certificateFile: String?
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

    private(set) var applications: [Application] = []
    private(set) var users: [DemoUser] = []
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
                DemoUser(node, at: path, &yaml, isForOthers: isForOthers)
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
            "optional_claims", "native_authentication", "public_client_flows", "user_flow",
        ]
    }

    init?(_ node: Node, at path: String, _ yaml: inout YAMLReading, credentials: TenantFile.Credentials) {
        let fields = yaml.fields(node, at: path, Self.keys(credentials.keys))
        guard case .mapping = node else { return nil }
        let id = yaml.text(fields["client_id"], at: "\(path).client_id")
        let native = yaml.texts(fields["native"], at: "\(path).native")
        let web = yaml.texts(fields["web"], at: "\(path).web")
        let spa = yaml.texts(fields["spa"], at: "\(path).spa")
        self.init(name: "", web: web, spa: spa, native: native, source: path)
        switch credentials {
        case .files(let folder):
            func file(_ key: String) -> String? {
                yaml.text(fields[key], at: "\(path).\(key)").map { URL(fileURLWithPath: $0, relativeTo: folder).path }
            }
            secretFile = file("secret_file")
            certificateFile = file("certificate_file")
        case .atRunTime(let least):
            client.secret = yaml.text(fields["secret"], at: "\(path).secret", least: least)
            isAtRunTime = true
        }
        secretExpires = yaml.day(fields["secret_expires"], at: "\(path).secret_expires")
        let tenants = yaml.texts(fields["tenants"], at: "\(path).tenants")
        client.tenants = tenants.isEmpty ? nil : Set(tenants.map { $0.lowercased() })
        (client.exposes, client.requiredContexts) = yaml.apis(fields["exposes"], at: "\(path).exposes")
        client.accessTokenVersion =
            yaml.choice(fields["access_token_version"], at: "\(path).access_token_version", ["1": .v1, "2": .v2]) ?? .v1
        client.appRoles = yaml.items(list: fields["app_roles"], at: "\(path).app_roles").compactMap { node, path in
            DemoClient.AppRole(node, at: path, &yaml)
        }
        client.applicationRoles = yaml.lists(fields["granted"], at: "\(path).granted")
        client.permissions = yaml.permissions(fields["permissions"], at: "\(path).permissions")
        client.issuesIDTokens = yaml.flag(fields["id_tokens"], at: "\(path).id_tokens")
        client.assignmentRequired = yaml.flag(fields["assignment_required"], at: "\(path).assignment_required")
        client.groupMembershipClaims =
            yaml.choice(fields["group_claims"], at: "\(path).group_claims", DemoClient.GroupMembershipClaims.words)
            ?? .none
        client.optionalClaims = DemoClient.OptionalClaims(
            fields["optional_claims"], at: "\(path).optional_claims", &yaml)
        client.hasNativeAuthentication = yaml.flag(
            fields["native_authentication"], at: "\(path).native_authentication")
        client.publicClientFlows = fields["public_client_flows"].map {
            yaml.flag($0, at: "\(path).public_client_flows")
        }
        if let node = fields["user_flow"] {
            client.signUpFlow =
                node.scalar?.string == "none" ? nil : DemoClient.SignUpFlow(node, at: "\(path).user_flow", &yaml)
        }
        guard let name = yaml.text(fields["name"], at: "\(path).name") else {
            if fields["name"] == nil { yaml.add("needs a name", at: path, node) }
            return nil
        }
        client.name = name
        client.id = id?.lowercased() ?? DemoClient.id(for: (native + web + spa).first ?? name)
    }
}

extension DemoUser {
    static let keys = [
        "username", "password", "display_name", "groups", "many_groups", "roles", "guest_of", "second_factor",
        "sign_in", "mobile_phone", "blocked_contact",
    ]

    init?(_ node: Node, at path: String, _ yaml: inout YAMLReading, isForOthers: Bool) {
        let fields = yaml.fields(node, at: path, Self.keys)
        guard case .mapping = node else { return nil }
        let username = yaml.text(fields["username"], at: "\(path).username")
        let password = yaml.text(
            fields["password"], at: "\(path).password", least: isForOthers ? TenantFile.leastPasswordLength : 1)
        self.init(username: username ?? "", password: password ?? "")
        displayName = yaml.text(fields["display_name"], at: "\(path).display_name")
        groups = yaml.texts(fields["groups"], at: "\(path).groups")
        manyGroups =
            yaml.number(fields["many_groups"], at: "\(path).many_groups", within: 0...DemoUser.mostManyGroups) ?? 0
        roles = yaml.lists(fields["roles"], at: "\(path).roles")
        guestOf = yaml.texts(fields["guest_of"], at: "\(path).guest_of")
        signInMethod = yaml.choice(fields["sign_in"], at: "\(path).sign_in", SignInMethod.words) ?? .password
        mobilePhone = yaml.text(fields["mobile_phone"], at: "\(path).mobile_phone")
        isContactBlocked = yaml.flag(fields["blocked_contact"], at: "\(path).blocked_contact")
        if let node = fields["second_factor"] {
            needsSecondFactor = node.bool ?? false
            if node.bool == nil {
                secondFactor = yaml.choice(node, at: "\(path).second_factor", SecondFactorMethod.words) ?? nil
            }
        }
        for key in ["username", "password"] where fields[key] == nil {
            if key == "password", signInMethod == .code { continue }
            yaml.add("needs a \(key)", at: path, node)
        }
        guard username != nil, password != nil || signInMethod == .code else { return nil }
    }
}
