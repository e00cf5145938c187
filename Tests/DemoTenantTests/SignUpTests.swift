import Foundation
import Testing

@testable import DemoTenant

@Suite("Signing up, and the user flows' own answers")
struct SignUpTests {
    @Test(
        arguments: [
            ("", "Casey", "e-mail address"), ("casey", "Casey", "e-mail address"),
            ("@x.example", "Casey", "e-mail address"),
            ("a b@x.example", "Casey", "e-mail address"), ("a@b@c", "Casey", "e-mail address"),
            ("casey@x.example", "", "name of 1 to 64"),
            ("casey@x.example", String(repeating: "x", count: 65), "name of 1 to 64"),
            ("\(String(repeating: "x", count: 64))@x.example", "Casey", "e-mail address"),
        ])
    func `an invalid e-mail address or name is refused in words for the person`(
        _ username: String, _ name: String, _ reason: String
    ) {
        #expect(SignUp.refusal(username: username, displayName: name)?.contains(reason) == true)
    }

    @Test func `a new account survives a restart, and cannot be made twice`() throws {
        let path = TestTenant.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let configuration = DemoTenantConfiguration(
            clients: [], publicFolder: TestTenant.publicFolder, stateFile: path)
        let first = try Platform(configuration, logger: .init(label: "t"))
        // It writes its keys to the file, which is removed after that; the second one then makes none.
        _ = first.state.keys
        guard
            case .success(let account) = first.signUp(
                username: " Casey@X.example ", displayName: " Casey K ", isB2C: false)
        else {
            Issue.record("refused")
            return
        }
        #expect(account.username == "casey@x.example" && account.displayName == "Casey K" && account.kind == .external)
        let second = try Platform(configuration, logger: .init(label: "t"))
        #expect(second.account(username: "casey@x.example") == account)
        #expect(second.account(hint: account.loginHint) == account)
        guard case .failure = second.signUp(username: "casey@x.example", displayName: "Other", isB2C: true) else {
            Issue.record("made twice")
            return
        }
        guard case .failure = second.signUp(username: "adele@contoso.example", displayName: "Other", isB2C: true) else {
            Issue.record("a built-in account was made again")
            return
        }
    }

    @Test func `every error of the facts can be given by its number, and has the platform's prefix`() {
        for number in [
            50058, 16000, 50076, 50079, 65001, 65004, 90094, 70008, 700082, 50173, 70043, 54005, 50011, 500112,
            7_000_218,
            700025, 7_000_215, 7_000_222, 700027, 700016, 50194, 50020, 50105, 53003, 50196, 70011,
        ] {
            #expect(PlatformError.numbered(number)?.prefix == "AADSTS", "\(number)")
        }
        for number in [90118, 90091, 90077] { #expect(PlatformError.numbered(number)?.prefix == "AADB2C", "\(number)") }
        #expect(PlatformError.numbered(1) == nil)
    }
}
