import Foundation
import Testing

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

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

    @Test func `a new account survives a restart, and cannot be made twice`() async throws {
        let path = try TestTenant.temporaryPath()
        defer { TestTenant.remove(path) }
        let configuration = DemoTenantConfiguration(
            clients: [], publicFolder: TestTenant.publicFolder, stateFile: path)
        let first = try Platform(configuration, logger: .init(label: "t"))
        // It writes its keys to the file, which is removed after that; the second one then makes none.
        _ = first.state.keys
        guard
            case .success(let newcomer) = first.people.newcomer(
                username: " Casey@X.example ", displayName: " Casey K ", isB2C: false),
            let account = first.people.signUp(newcomer)
        else {
            Issue.record("refused")
            return
        }
        #expect(account.username == "casey@x.example" && account.displayName == "Casey K" && account.kind == .external)
        await first.state.isWritten()
        let second = try Platform(configuration, logger: .init(label: "t"))
        #expect(second.people.account(username: "casey@x.example") == account)
        #expect(second.people.account(hint: account.loginHint) == account)
        #expect(second.people.signUp(newcomer) == nil)
        for name in ["casey@x.example", "adele@contoso.example"] {
            guard case .failure = second.people.newcomer(username: name, displayName: "Other", isB2C: true) else {
                Issue.record("\(name) was made twice")
                return
            }
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
