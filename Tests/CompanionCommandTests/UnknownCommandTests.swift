import Testing

@testable import CompanionCommand

@Suite struct UnknownCommandTests {
    private static let all =
        "serve, demo, tenant, check, sessions, keys, backup, migrate, health, tokens, kiosk-policy, settings"

    @Test(
        arguments: [
            ("srve", "serve"), ("chek", "check"), ("chekc", "check"), ("session", "sessions"), ("Tenant", "tenant"),
            ("setings", "settings"),
            ("kioskpolicy", "kiosk-policy"), ("nosuch", nil), ("x", nil), ("", nil),
        ] as [(String, String?)])
    func `a misspelt command names the nearest one, and all`(word: String, meant: String?) {
        let sentence = meant.map { " Did you mean `companion \($0)`?" } ?? ""
        #expect(
            UnknownCommand([word, "--port", "80"], below: CompanionCommand.self)?.description
                == "Error: `companion` has no command \(word).\(sentence) Its commands: \(Self.all). See `companion --help`."
        )
    }

    @Test(
        arguments: [
            ("tenant", "tust", "trust", "trust"), ("sessions", "revok", "revoke", "list, revoke, purge"),
            ("keys", "rotates", "rotate", "list, rotate, retire"), ("tokens", "mew", "new", "new"),
            ("sessions", "forget", nil, "list, revoke, purge"),
        ] as [(String, String, String?, String)])
    func `a misspelt subcommand names the nearest one of its command`(
        command: String, word: String, meant: String?, all: String
    ) {
        let sentence = meant.map { " Did you mean `companion \(command) \($0)`?" } ?? ""
        #expect(
            UnknownCommand([command, word], below: CompanionCommand.self)?.description
                == "Error: `companion \(command)` has no command \(word).\(sentence) Its commands: \(all). "
                + "See `companion \(command) --help`.")
    }

    @Test(arguments: [
        ["--config", "c.yaml", "chek"], ["--config=c.yaml", "chek"], ["help", "chek"],
        ["--host", "::1", "--port", "80", "chek", "--json"],
    ])
    func `a misspelt command is found behind options, and where help is asked for`(words: [String]) {
        #expect(
            UnknownCommand(words, below: CompanionCommand.self)?.description
                == "Error: `companion` has no command chek. Did you mean `companion check`? Its commands: \(Self.all). "
                + "See `companion --help`.")
    }

    @Test func `help for a misspelt subcommand names the nearest one`() {
        #expect(
            UnknownCommand(["help", "tenant", "tust"], below: CompanionCommand.self)?.description
                == "Error: `companion tenant` has no command tust. Did you mean `companion tenant trust`? "
                + "Its commands: trust. See `companion tenant --help`.")
    }

    @Test(arguments: ["--licences", "--licence", "--license", "--Licenses", "licenses", "licences"])
    func `the option for the licences is found in another spelling`(word: String) {
        #expect(
            UnknownCommand([word], below: CompanionCommand.self)?.description
                == "Error: `companion` has no \(word). Did you mean `companion --licenses`?")
    }

    @Test(arguments: [["--config", "c.yaml", "check"], ["--port=80", "check", "--json"]])
    func `a command behind options is told its place`(words: [String]) {
        #expect(
            UnknownCommand(words, below: CompanionCommand.self)?.description
                == "Error: A command stands before its options: `companion check`. See `companion check --help`.")
    }

    @Test(arguments: [
        [], ["serve"], ["tenant", "trust"], ["tenant", "--native", "com.contoso.tasks"], ["--licenses"],
        ["help"], ["help", "check"], ["help", "tenant", "trust"], ["keys", "list"], ["serve", "nosuch"],
        ["--config", "c.yaml"], ["--config", "chek"], ["--config", "c.yaml", "--port", "80"], ["--help"], ["--version"],
    ])
    func `words that lead to a command are left to it`(words: [String]) {
        #expect(UnknownCommand(words, below: CompanionCommand.self)?.description == nil)
    }
}
