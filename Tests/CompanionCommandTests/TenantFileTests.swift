import CompanionCore
import Foundation
import Testing

@testable import CompanionCommand

@Suite struct TenantFileTests {
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
                tenants: [contoso.example]
                exposes: { "api://tasks": [Tasks.Read, Tasks.Write] }
                app_roles: [Tasks.Admin]
              - name: Other
                certificate_file: /etc/other.pem
            users:
              - { username: ada@contoso.example, password: "1234", groups: [Staff],
                  roles: { Tasks: [Tasks.Admin] }, guest_of: [tailspin.example], second_factor: true }
              - username: bob@fabrikam.example
                password: demo
                display_name: Bob Smith
            control_token: let-me
            """, path: "/srv/tenant.yaml")
        let (tasks, other) = (file.applications[0], file.applications[1])
        #expect(file.applications.count == 2)
        #expect(tasks.name == "Tasks")
        #expect(tasks.clientID == "5d1f0a52-3c5e-4a8e-9d5c-0c0a3f1e7b10")
        #expect(tasks.native == ["com.contoso.tasks", "http://localhost"])
        #expect(tasks.web == ["https://tasks.example/callback"])
        #expect(tasks.spa == ["https://tasks.example/"])
        #expect(tasks.secretFile == "/srv/tasks.secret")
        #expect(tasks.tenants == ["contoso.example"])
        #expect(tasks.exposes == ["api://tasks": ["Tasks.Read", "Tasks.Write"]])
        #expect(tasks.appRoles == ["Tasks.Admin"])
        #expect(
            other == TenantFile.Application(name: "Other", certificateFile: "/etc/other.pem", source: "applications[1]")
        )
        #expect(
            file.users == [
                TenantFile.User(
                    username: "ada@contoso.example", password: "1234", groups: ["Staff"],
                    roles: ["Tasks": ["Tasks.Admin"]], guestOf: ["tailspin.example"], secondFactor: true),
                TenantFile.User(username: "bob@fabrikam.example", password: "demo", displayName: "Bob Smith"),
            ])
        #expect(file.controlToken == "let-me")
    }

    @Test(arguments: ["", "# nothing", "applications:\nusers:", "{}", "applications: []"])
    func `an empty file registers nothing`(text: String) throws {
        #expect(try TenantFile(text, path: "/t.yaml") == TenantFile())
    }

    @Test func `a name in a file may be a number`() throws {
        let file = try TenantFile("users: [{ username: a@contoso.example, password: 007 }]", path: "/t.yaml")
        #expect(file.users.first?.password == "007")
    }

    @Test(arguments: [
        ("a: 1", ["line 1: a is not known; the keys here are applications, users, control_token"]),
        (
            "applications:\n  - name: A\n    nativ: [x]\n    app_role: y",
            [
                "line 3: applications[0].nativ is not known; the keys here are name, client_id, native, web, spa, "
                    + "secret_file, certificate_file, tenants, exposes, app_roles",
                "line 4: applications[0].app_role is not known; the keys here are name, client_id, native, web, spa, "
                    + "secret_file, certificate_file, tenants, exposes, app_roles",
            ]
        ),
        ("applications:\n  - native: [x]", ["line 2: applications[0] needs a name"]),
        ("applications:\n  - name:\n    native: [x]", ["line 2: applications[0] needs a name"]),
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
        ("users:\n  - { username: a, password: '' }", ["line 2: users[0].password must be one text"]),
        (
            "users:\n  - { username: a, password: b, second_factor: perhaps }",
            ["line 2: users[0].second_factor must be true or false"]
        ),
        (
            "users:\n  - { username: a, password: b, roles: { A: { b: c } } }",
            ["line 2: users[0].roles.A must be one text"]
        ),
        ("control_token: [a]", ["line 1: control_token must be one text"]),
        ("- a", ["line 1 must be a mapping of keys to values"]),
    ])
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
            try TenantFile(path: "/nonexistent/t.yaml")
        } throws: {
            "\($0)".contains("/nonexistent/t.yaml cannot be read")
        }
    }

    @Test func `the README's example is read`() throws {
        let readme = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../README.md")
        let blocks = try String(contentsOf: readme, encoding: .utf8).components(separatedBy: "```yml\n").dropFirst()
        #expect(blocks.count == 1)
        let example = try #require(blocks.first?.components(separatedBy: "```").first)
        let file = try TenantFile(example, path: "/t.yaml")
        #expect(file.applications.count == 1 && file.users.count == 1 && file.controlToken != nil)
    }
}
