import CompanionCore
import Foundation
import TenantDirectory
import Testing

@testable import CompanionCommand

@Suite struct TenantFileTests {
    private static let topKeys = "applications, users, groups, contexts, password_grant, control_token"
    private static let applicationKeys = [
        "name, client_id, native, web, spa, secret_file, secret_expires, certificate_file, tenants, exposes",
        "access_token_version, id_tokens, app_roles, granted, permissions, assignment_required, group_claims, optional_claims, native_authentication, public_client_flows, user_flow",
    ].joined(separator: ", ")
    private static let withoutValue = "has no value; write one, in quotes if it begins with #, or remove the key"
    private static let userKeys =
        "username, password, display_name, groups, many_groups, roles, guest_of, second_factor, sign_in, mobile_phone, blocked_contact"

    @Test func `the file says who may sign in to what`() throws {
        let file = try TenantFile(
            """
            applications:
              - name: Tasks
                client_id: 5d1f0a52-3c5e-4a8e-9d5c-0c0a3f1e7b10
                native: [com.contoso.tasks, "http://localhost"]
                web: ["https://tasks.example/callback"]
                spa: https://tasks.example/
                secret_file: tasks.secret
                secret_expires: 2027-01-31
                tenants: [contoso.example]
                exposes: { "api://tasks": [Tasks.Read, Tasks.Write] }
                app_roles: [Tasks.Admin]
              - name: Other
                certificate_file: /etc/other.pem
                access_token_version: 2
                id_tokens: true
            users:
              - { username: ada@contoso.example, password: "1234", groups: [Staff],
                  roles: { Tasks: [Tasks.Admin] }, guest_of: [tailspin.example], second_factor: true }
              - username: bob@fabrikam.example
                password: demo
                display_name: Bob Smith
            password_grant: true
            control_token: let-me
            """, path: "/srv/tenant.yaml")
        let (declared, other) = (file.applications[0], file.applications[1])
        let tasks = declared.client
        #expect(file.applications.count == 2)
        #expect(file.allowsPasswords)
        #expect(tasks.accessTokenVersion == .v1 && !tasks.issuesIDTokens)
        #expect(tasks.name == "Tasks")
        #expect(tasks.id == "5d1f0a52-3c5e-4a8e-9d5c-0c0a3f1e7b10")
        #expect(declared.native == ["com.contoso.tasks", "http://localhost"])
        #expect(tasks.nativeRedirectURIs == ["msauth.com.contoso.tasks://auth", "http://localhost"])
        #expect(tasks.webRedirectURIs == ["https://tasks.example/callback"])
        #expect(tasks.spaRedirectURIs == ["https://tasks.example/"])
        #expect(declared.secretFile == "/srv/tasks.secret")
        #expect(declared.secretExpires == Date(timeIntervalSince1970: 1_801_353_600))
        #expect(tasks.tenants == ["contoso.example"])
        #expect(tasks.exposes == ["api://tasks": ["Tasks.Read", "Tasks.Write"]])
        #expect(tasks.appRoles == ["Tasks.Admin"])
        var client = DemoClient(id: DemoClient.id(for: "Other"), name: "Other")
        (client.accessTokenVersion, client.issuesIDTokens) = (.v2, true)
        #expect(
            other
                == TenantFile.Application(
                    client: client, certificateFile: "/etc/other.pem", source: "applications[1]"))
        #expect(
            file.users == [
                DemoUser(
                    username: "ada@contoso.example", password: "1234", groups: ["Staff"],
                    roles: ["Tasks": ["Tasks.Admin"]], guestOf: ["tailspin.example"], needsSecondFactor: true),
                DemoUser(username: "bob@fabrikam.example", password: "demo", displayName: "Bob Smith"),
            ])
        #expect(file.controlToken == "let-me")
    }

    @Test func `the file says which groups and roles there are and which claims come of them`() throws {
        let file = try TenantFile(
            """
            applications:
              - name: Tasks
                native: com.contoso.tasks
                app_roles:
                  - Tasks.Read
                  - { value: Tasks.Run, id: 0C4A7A1E-4D6D-4B7E-9C0E-5C8C2E0B9D11, display_name: Run tasks,
                      allowed: application, enabled: false }
                granted: { "https://graph.microsoft.com": [User.Read.All] }
                assignment_required: true
                group_claims: assigned
                optional_claims: { id_token: acrs, access_token: [idtyp, xms_cc] }
                exposes: { "api://tasks": { scopes: Tasks.Read, requires_context: c1 }, "api://more": [More.Read] }
            users:
              - { username: ada@contoso.example, password: "1234", groups: Staff, many_groups: 201 }
            groups:
              - { name: Staff, id: 0C4A7A1E-4D6D-4B7E-9C0E-5C8C2E0B9D22, member_of: [Everyone],
                  roles: { Tasks: [Tasks.Read] } }
              - { name: News, kind: distribution }
              - { name: Global Reader, kind: role }
              - name: User Administrator
              - { name: Security Reader, kind: security }
            contexts: { c1: second_factor, c2: password, c99: blocked }
            """, path: "/t.yaml")
        let tasks = try #require(file.applications.first).client
        #expect(
            tasks.appRoles == [
                "Tasks.Read",
                DemoClient.AppRole(
                    value: "Tasks.Run", id: "0c4a7a1e-4d6d-4b7e-9c0e-5c8c2e0b9d11", displayName: "Run tasks",
                    isEnabled: false, allowed: [.application]),
            ])
        #expect(tasks.applicationRoles == ["https://graph.microsoft.com": ["User.Read.All"]])
        #expect(tasks.assignmentRequired)
        #expect(tasks.groupMembershipClaims == .applicationGroup)
        #expect(
            tasks.optionalClaims
                == DemoClient.OptionalClaims(idToken: ["acrs"], accessToken: ["idtyp", "xms_cc"]))
        #expect(tasks.exposes == ["api://tasks": ["Tasks.Read"], "api://more": ["More.Read"]])
        #expect(tasks.requiredContexts == ["api://tasks": "c1"])
        #expect(file.contexts == ["c1": .secondFactor, "c2": .password, "c99": .blocked])
        #expect(file.users.first?.manyGroups == 201)
        #expect(
            file.groups == [
                DemoGroup(
                    name: "Staff", id: "0c4a7a1e-4d6d-4b7e-9c0e-5c8c2e0b9d22", memberOf: ["Everyone"],
                    roles: ["Tasks": ["Tasks.Read"]]),
                DemoGroup(name: "News", kind: .distribution),
                DemoGroup(name: "Global Reader", kind: .role(templateID: "f2ef992c-3afb-46b9-b7cf-a126ee74c451")),
                DemoGroup(
                    name: "User Administrator", kind: .role(templateID: "fe930be7-5e62-47db-91af-98c3a49a38b1")),
                DemoGroup(name: "Security Reader", kind: .security),
            ])
    }

    @Test(
        arguments: [
            ("name: A", nil), ("{ name: A, permissions: [] }", [:]),
            ("{ name: A, permissions: {} }", [:]),
            (
                "{ name: A, permissions: { 'https://graph.microsoft.com': [User.Read], 'api://a': A.Read, 'api://b': [] } }",
                ["https://graph.microsoft.com": ["User.Read"], "api://a": ["A.Read"], "api://b": []]
            ),
        ] as [(String, [String: [String]]?)])
    func `a file lists permissions, or that there are none`(_ text: String, _ permissions: [String: [String]]?) throws {
        let file = try TenantFile("applications:\n  - \(text)", path: "/t.yaml")
        #expect(file.applications.first?.client.permissions == permissions)
        #expect(try TenantFile.clients(file.applications).first?.permissions == permissions)
    }

    @Test func `a file declares native authentication`() throws {
        let file = try TenantFile(
            """
            applications:
              - name: Customers
                native_authentication: true
                public_client_flows: false
                user_flow: { method: code, attributes: [displayName,
                  { name: age, type: integer, required: false, regex: "^[0-9]+$" }] }
              - { name: Closed, user_flow: none }
            users:
              - { username: eve@fabrikam.example, sign_in: code }
              - { username: sam@fabrikam.example, password: "1", second_factor: sms, mobile_phone: +46 70 555 0199,
                  blocked_contact: true }
            """, path: "/t.yaml")
        let native = try #require(file.applications.first).client
        #expect(native.hasNativeAuthentication && native.publicClientFlows == false)
        #expect(
            native.signUpFlow
                == DemoClient.SignUpFlow(
                    method: .code,
                    attributes: [
                        DemoClient.Attribute(name: "displayName"),
                        DemoClient.Attribute(name: "age", kind: .integer, isRequired: false, pattern: "^[0-9]+$"),
                    ]))
        #expect(file.applications.last?.client.signUpFlow == nil)
        #expect(file.users.map(\.signInMethod) == [.code, .password] && file.users.first?.password == "")
        #expect(file.users.last?.secondFactor == .sms && file.users.last?.needsSecondFactor == false)
        #expect(file.users.last?.mobilePhone == "+46 70 555 0199")
        #expect(file.users.last?.isContactBlocked == true)
    }

    @Test(arguments: ["", "# nothing", "applications:\nusers:", "{}", "applications: []"])
    func `an empty file registers nothing`(text: String) throws {
        #expect(try TenantFile(text, path: "/t.yaml") == TenantFile())
    }

    @Test func `a name in a file may be a number`() throws {
        let file = try TenantFile("users: [{ username: a@contoso.example, password: 007 }]", path: "/t.yaml")
        #expect(file.users.first?.password == "007")
    }

    private static let mistakes: [(text: String, mistakes: [String])] = [
        ("a: 1", ["line 1: a is not known; the keys here are \(topKeys)"]),
        (
            "applications:\n  - name: A\n    nativ: [x]\n    app_role: y",
            [
                "line 3: applications[0].nativ is not known; did you mean native? the keys here are \(applicationKeys)",
                "line 4: applications[0].app_role is not known; did you mean app_roles? the keys here are \(applicationKeys)",
            ]
        ),
        ("applications:\n  - native: [x]", ["line 2: applications[0] needs a name"]),
        (
            "applications:\n  - name:\n    native: [x]",
            ["line 2: applications[0].name \(withoutValue)", "line 2: applications[0] needs a name"]
        ),
        (
            "cotnrol_token: x",
            ["line 1: cotnrol_token is not known; did you mean control_token? the keys here are \(topKeys)"]
        ),
        ("control_token: #x", ["line 1: control_token \(withoutValue)"]),
        ("control_token: ~", ["line 1: control_token \(withoutValue)"]),
        ("password_grant:\ncontexts:", ["line 1: password_grant \(withoutValue)", "line 2: contexts \(withoutValue)"]),
        ("contexts:\n  c1: #blocked", ["line 2: contexts.c1 \(withoutValue)"]),
        (
            "applications:\n  - name: A\n    assignment_required: #true\n    tenants:\n      # contoso.example",
            [
                "line 3: applications[0].assignment_required \(withoutValue)",
                "line 4: applications[0].tenants \(withoutValue)",
            ]
        ),
        (
            "applications:\n  - name: A\n    tenants:\n      - #contoso.example",
            ["line 4: applications[0].tenants[0] must be one text"]
        ),
        (
            "users:\n  - { username: a, password: b, second_factor: }",
            ["line 2: users[0].second_factor \(withoutValue)"]
        ),
        ("applications:\n  - Tasks", ["line 2: applications[0] must be a mapping of keys to values"]),
        ("applications:\n  Tasks: {}", ["line 2: applications must be a list"]),
        ("applications:\n  - name: [A]", ["line 2: applications[0].name must be one text"]),
        ("applications:\n  - name: A\n    web: [[x]]", ["line 3: applications[0].web[0] must be one text"]),
        ("applications:\n  - name: A\n    web: { x: y }", ["line 3: applications[0].web must be one text"]),
        (
            "applications:\n  - name: A\n    exposes: [x]",
            ["line 3: applications[0].exposes must be a mapping of keys to values"]
        ),
        ("applications:\n  - name: A\n    ? [x]\n    : y", ["line 3: applications[0] has a key that is not text"]),
        (
            "users:\n  - { username: a }\n  - { password: b }",
            ["line 2: users[0] needs a password", "line 3: users[1] needs a username"]
        ),
        (
            "applications:\n  - { name: A, secret_expires: 2027-02-30 }",
            ["line 2: applications[0].secret_expires must be a date such as 2027-01-31"]
        ),
        (
            "applications:\n  - { name: A, secret_expires: 2027-01-31T00:00:00Z }",
            ["line 2: applications[0].secret_expires must be a date such as 2027-01-31"]
        ),
        ("users:\n  - { username: a, password: '' }", ["line 2: users[0].password must be one text"]),
        (
            "applications:\n  - { name: A, user_flow: { method: pigeon } }",
            ["line 2: applications[0].user_flow.method must be one of password, code"]
        ),
        (
            "applications:\n  - { name: A, user_flow: { attributes: [{ name: b, regex: '(' }] } }",
            ["line 2: applications[0].user_flow.attributes[0].regex is no regular expression"]
        ),
        (
            "applications:\n  - { name: A, user_flow: { attributes: [{ type: date }] } }",
            [
                "line 2: applications[0].user_flow.attributes[0] needs a name"
            ]
        ),
        ("users:\n  - { username: a, sign_in: password }", ["line 2: users[0] needs a password"]),
        (
            "users:\n  - { username: a, password: b, second_factor: perhaps }",
            ["line 2: users[0].second_factor must be one of true, false, email, sms, unregistered"]
        ),
        (
            "users:\n  - { username: a, password: b, roles: { A: { b: c } } }",
            ["line 2: users[0].roles.A must be one text"]
        ),
        (
            "users:\n  - { username: a, password: b, many_groups: 12001 }",
            ["line 2: users[0].many_groups must be a whole number within 0 and 12000"]
        ),
        (
            "users:\n  - { username: a, password: b, many_groups: many }",
            ["line 2: users[0].many_groups must be a whole number within 0 and 12000"]
        ),
        (
            "groups:\n  - { id: x }",
            [
                "line 2: groups[0].id must be a GUID such as \(DemoClient.id(for: "x"))",
                "line 2: groups[0] needs a name",
            ]
        ),
        (
            "groups:\n  - { name: a, kind: secret }",
            ["line 2: groups[0].kind must be one of security, distribution, role"]
        ),
        (
            "groups:\n  - { name: King, kind: role }",
            [
                "line 2: groups[0].name is no directory role; the roles are "
                    + DemoGroup.roleTemplates.keys.sorted().joined(separator: ", ")
            ]
        ),
        ("groups:\n  - Staff", ["line 2: groups[0] must be a mapping of keys to values"]),
        (
            "applications:\n  - name: A\n    app_roles: [Read all]",
            ["line 3: applications[0].app_roles[0] must have no spaces"]
        ),
        (
            "applications:\n  - name: A\n    app_roles: [{ display_name: x, allowed: [users], enabled: perhaps }]",
            [
                "line 3: applications[0].app_roles[0].allowed[0] must be one of user, application",
                "line 3: applications[0].app_roles[0].enabled must be true or false",
                "line 3: applications[0].app_roles[0] needs a value",
            ]
        ),
        (
            "applications:\n  - name: A\n    group_claims: some",
            ["line 3: applications[0].group_claims must be one of none, security, roles, assigned, all"]
        ),
        (
            "applications:\n  - name: A\n    optional_claims: { id_token: [xms_cc] }",
            [
                "line 3: applications[0].optional_claims.id_token[0] is not known; the claims here are "
                    + DemoClient.OptionalClaims.knownInIDToken.joined(separator: ", ")
            ]
        ),
        (
            "applications:\n  - name: A\n    optional_claims: { access_token: [idtpy] }",
            [
                "line 3: applications[0].optional_claims.access_token[0] is not known; did you mean idtyp? the claims here are "
                    + DemoClient.OptionalClaims.knownInAccessToken.joined(separator: ", ")
            ]
        ),
        (
            "applications:\n  - name: A\n    granted: [x]",
            ["line 3: applications[0].granted must be a mapping of keys to values"]
        ),
        (
            "applications:\n  - name: A\n    permissions: [User.Read]",
            ["line 3: applications[0].permissions must be a mapping of keys to values"]
        ),
        (
            "applications:\n  - name: A\n    exposes: { 'api://a': { scopes: x, requires_context: c100, more: y } }",
            [
                "line 3: applications[0].exposes.api://a.more is not known; the keys here are scopes, requires_context",
                "line 3: applications[0].exposes.api://a.requires_context must be one of c1 to c99",
            ]
        ),
        ("contexts: { c0: blocked }", ["line 1: contexts.c0 is not one of c1 to c99"]),
        (
            "contexts: { c1: sms }",
            ["line 1: contexts.c1 must be one of second_factor, password, blocked"]
        ),
        ("contexts: [c1]", ["line 1: contexts must be a mapping of keys to values"]),
        ("control_token: [a]", ["line 1: control_token must be one text"]),
        ("- a", ["line 1 must be a mapping of keys to values"]),
    ]

    @Test(arguments: mistakes)
    func `each mistake is reported with its line`(text: String, mistakes: [String]) {
        #expect {
            try TenantFile(text, path: "/t.yaml")
        } throws: { error in
            (error as? ConfigurationMistakes)?.all.map { "\($0.key) \($0.reason)" } == mistakes
        }
    }

    @Test(arguments: ["a: [", "a: 1\na: 2", "\u{0}"])
    func `what is no YAML is reported with the file's path`(text: String) {
        #expect {
            try TenantFile(text, path: "/t.yaml")
        } throws: { error in
            (error as? ConfigurationMistakes)?.all.map(\.key) == ["/t.yaml"]
        }
    }

    @Test func `a missing file is reported`() {
        #expect {
            try TenantFile(path: "/nonexistent/t.yaml", isForOthers: false)
        } throws: {
            "\($0)".contains("/nonexistent/t.yaml cannot be read")
        }
    }

    @Test func `the help and the guide name each key of applications and people`() throws {
        let help = TenantCommand.configuration.discussion
        #expect(help.contains("applications (\(Self.applicationKeys)), users (\(Self.userKeys)),"))
        let guide = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../deploy/guides/tenant.md")
        let text = try String(contentsOf: guide, encoding: .utf8)
        for key in "\(Self.applicationKeys), \(Self.userKeys)".components(separatedBy: ", ") {
            #expect(text.contains("\(key):") || text.contains("`\(key)`"), "\(key)")
        }
    }

    @Test func `the guide's example is read`() throws {
        let guide = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../deploy/guides/tenant.md")
        let blocks = try String(contentsOf: guide, encoding: .utf8).components(separatedBy: "```yml\n").dropFirst()
        #expect(blocks.count == 1)
        let example = try #require(blocks.first?.components(separatedBy: "```").first)
        let file = try TenantFile(example, path: "/t.yaml")
        #expect(file.applications.count == 2 && file.users.count == 3 && file.controlToken != nil)
    }
}
