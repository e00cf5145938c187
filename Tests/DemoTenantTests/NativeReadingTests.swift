import Foundation
import HTTPWire
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantServer
@testable import TenantSignIn

/// The expected words are from the sources of MSAL 2.14.0.
@Suite("MSAL's results of native authentication at /clients")
struct NativeReadingTests {
    private typealias Endpoint = Controls.NativeEndpoint

    /// Returns the results for an answer: methods, the property or `general`, the state, the next request.
    private static func results(
        _ path: String, _ grant: String, _ points: [String], _ status: Int, _ body: String
    ) throws -> String {
        let readings = NativeRow.readings(
            try #require(Endpoint(rawValue: path)), grant: grant.isEmpty ? nil : grant, at: Set(points),
            NativeAnswer(status: status, body: Array(body.utf8)))
        return readings.map { reading in
            [
                reading.givesPassword ? "password:" : nil,
                reading.methods.isEmpty ? nil : reading.methods.joined(separator: "/"),
                reading.property ?? (reading.isError ? "general" : nil), reading.state,
                reading.next.map { "next \($0)" },
            ].compactMap(\.self).joined(separator: " ")
        }.joined(separator: ", ")
    }

    private static let code = """
        {"continuation_token":"t","challenge_type":"oob","challenge_target_label":"c***","challenge_target":"c@d.example",\
        "challenge_channel":"email","code_length":8}
        """
    private static let byPassword = #"{"continuation_token":"t","challenge_type":"password"}"#
    private static let token = #"{"continuation_token":"t"}"#
    private static let methods = #"{"continuation_token":"t","methods":[{"id":"1"}]}"#
    private static let tokens = #"{"access_token":"a","client_info":"c"}"#

    @Test(
        arguments: [
            ("oauth2/v2.0/initiate", "", [], token, "next oauth2/v2.0/challenge"),
            ("oauth2/v2.0/challenge", "", ["begun"], code, "onSignInCodeRequired SignInCodeRequiredState"),
            (
                "oauth2/v2.0/challenge", "", ["begun"], byPassword,
                "onSignInPasswordRequired SignInPasswordRequiredState, password: next oauth2/v2.0/token"
            ),
            ("oauth2/v2.0/challenge", "", ["code"], code, "onSignInResendCodeCodeRequired SignInCodeRequiredState"),
            (
                "oauth2/v2.0/challenge", "", ["secondFactor"], code,
                "onMFARequestChallengeVerificationRequired MFARequiredState"
            ),
            ("oauth2/v2.0/introspect", "", ["secondFactor"], methods, "onSignInAwaitingMFA AwaitingMFAState"),
            ("oauth2/v2.0/token", "password", ["password"], tokens, "onSignInCompleted"),
            ("oauth2/v2.0/token", "oob", ["code"], tokens, "onSignInCompleted"),
            ("oauth2/v2.0/token", "mfa_oob", ["secondFactorCode"], tokens, "onSignInCompleted"),
            ("oauth2/v2.0/token", "continuation_token", ["done"], tokens, "onSignInCompleted"),
            ("oauth2/v2.0/token", "refresh_token", [], tokens, "onAccessTokenRetrieveCompleted"),
            ("signup/v1.0/start", "", [], token, "next signup/v1.0/challenge"),
            ("signup/v1.0/challenge", "", ["begun"], code, "onSignUpCodeRequired SignUpCodeRequiredState"),
            ("signup/v1.0/challenge", "", ["code"], code, "onSignUpResendCodeCodeRequired SignUpCodeRequiredState"),
            (
                "signup/v1.0/challenge", "", ["credential"], byPassword,
                "onSignUpPasswordRequired SignUpPasswordRequiredState"
            ),
            ("signup/v1.0/continue", "oob", [], token, "onSignUpCompleted SignInAfterSignUpState"),
            ("signup/v1.0/continue", "password", [], "{}", "onSignUpCompleted SignInAfterSignUpState"),
            ("signup/v1.0/continue", "attributes", [], token, "onSignUpCompleted SignInAfterSignUpState"),
            ("resetpassword/v1.0/start", "", [], token, "next resetpassword/v1.0/challenge"),
            (
                "resetpassword/v1.0/challenge", "", ["begun"], code,
                "onResetPasswordCodeRequired ResetPasswordCodeRequiredState"
            ),
            (
                "resetpassword/v1.0/challenge", "", ["code"], code,
                "onResetPasswordResendCodeRequired ResetPasswordCodeRequiredState"
            ),
            ("resetpassword/v1.0/challenge", "", [], byPassword, "onResetPasswordStartError general"),
            ("resetpassword/v1.0/continue", "oob", [], token, "onPasswordRequired ResetPasswordRequiredState"),
            (
                "resetpassword/v1.0/submit", "", [], #"{"continuation_token":"t","poll_interval":2}"#,
                "next resetpassword/v1.0/poll_completion"
            ),
            (
                "resetpassword/v1.0/poll_completion", "", [], #"{"status":"in_progress"}"#,
                "next resetpassword/v1.0/poll_completion"
            ),
            (
                "resetpassword/v1.0/poll_completion", "", [], #"{"status":"not_started"}"#,
                "next resetpassword/v1.0/poll_completion"
            ),
            (
                "resetpassword/v1.0/poll_completion", "", [], #"{"status":"succeeded"}"#,
                "onResetPasswordCompleted SignInAfterResetPasswordState"
            ),
            (
                "resetpassword/v1.0/poll_completion", "", [], #"{"status":"failed"}"#,
                "onResetPasswordRequiredError general"
            ),
            (
                "register/v1.0/introspect", "", [], methods,
                "onSignInStrongAuthMethodRegistration RegisterStrongAuthState"
            ),
            (
                "register/v1.0/challenge", "", [], code,
                "onRegisterStrongAuthVerificationRequired RegisterStrongAuthVerificationRequiredState"
            ),
            (
                "register/v1.0/challenge", "", [], #"{"continuation_token":"t","challenge_type":"preverified"}"#,
                "next register/v1.0/continue"
            ),
            ("register/v1.0/continue", "oob", [], token, "next oauth2/v2.0/token"),
            ("register/v1.0/continue", "continuation_token", [], token, "next oauth2/v2.0/token"),
        ] as [(String, String, [String], String, String)])
    func `each of the requests leads to its state`(
        path: String, grant: String, points: [String], body: String, expected: String
    ) throws {
        #expect(try Self.results(path, grant, points, 200, body) == expected)
    }

    @Test(
        arguments: [
            ("oauth2/v2.0/initiate", "", [], "user_not_found", "onSignInStartError isUserNotFound"),
            ("oauth2/v2.0/initiate", "", [], "invalid_request", "onSignInStartError general"),
            ("oauth2/v2.0/challenge", "", ["begun"], "expired_token", "onSignInStartError general"),
            (
                "oauth2/v2.0/challenge", "", ["code"], "expired_token",
                "onSignInResendCodeError general SignInCodeRequiredState"
            ),
            (
                "oauth2/v2.0/challenge", "", ["secondFactor"], "access_denied provider_blocked_by_rep",
                "onMFARequestChallengeError isAuthMethodBlocked MFARequiredState"
            ),
            (
                "oauth2/v2.0/challenge", "", ["secondFactor"], "access_denied",
                "onMFARequestChallengeError general MFARequiredState"
            ),
            (
                "oauth2/v2.0/introspect", "", [], "invalid_request",
                "onSignInStartError/onSignInPasswordRequiredError/onSignInVerifyCodeError general"
            ),
            (
                "oauth2/v2.0/token", "password", [], "invalid_grant 50126",
                "onSignInPasswordRequiredError isInvalidPassword SignInPasswordRequiredState, "
                    + "password: onSignInStartError isInvalidCredentials"
            ),
            (
                "oauth2/v2.0/token", "password", [], "invalid_grant 50034",
                "onSignInPasswordRequiredError general SignInPasswordRequiredState, "
                    + "password: onSignInStartError isUserNotFound"
            ),
            (
                "oauth2/v2.0/token", "password", [], "invalid_grant mfa_required",
                "onSignInPasswordRequiredError general SignInPasswordRequiredState, password: onSignInStartError general"
            ),
            (
                "oauth2/v2.0/token", "oob", [], "invalid_grant invalid_oob_value",
                "onSignInVerifyCodeError isInvalidCode SignInCodeRequiredState"
            ),
            (
                "oauth2/v2.0/token", "oob", [], "invalid_scope",
                "onSignInVerifyCodeError general SignInCodeRequiredState"
            ),
            (
                "oauth2/v2.0/token", "mfa_oob", [], "invalid_grant invalid_oob_value",
                "onMFASubmitChallengeError isInvalidChallenge MFARequiredState"
            ),
            (
                "oauth2/v2.0/token", "continuation_token", ["sign_up"], "expired_token",
                "onSignInAfterSignUpError general"
            ),
            (
                "oauth2/v2.0/token", "continuation_token", ["password_reset"], "invalid_request 50142",
                "onSignInAfterResetPasswordError general"
            ),
            (
                "oauth2/v2.0/token", "refresh_token", [], "expired_refresh_token", "onAccessTokenRetrieveError general"
            ),
            ("signup/v1.0/start", "", [], "user_already_exists", "onSignUpStartError isUserAlreadyExists"),
            ("signup/v1.0/start", "", [], "invalid_grant password_banned", "onSignUpStartError isInvalidPassword"),
            (
                "signup/v1.0/start", "", [], "invalid_grant attribute_validation_failed", "onSignUpAttributesInvalid"
            ),
            ("signup/v1.0/start", "", [], "invalid_request 90100", "onSignUpStartError isInvalidUsername"),
            ("signup/v1.0/start", "", [], "invalid_request 90023", "onSignUpStartError general"),
            ("signup/v1.0/challenge", "", [], "expired_token", "onSignUpStartError general"),
            (
                "signup/v1.0/challenge", "", ["code"], "expired_token",
                "onSignUpResendCodeError general SignUpCodeRequiredState"
            ),
            ("signup/v1.0/challenge", "", ["code"], "invalid_grant", "onSignUpResendCodeError general"),
            (
                "signup/v1.0/continue", "oob", [], "invalid_grant invalid_oob_value",
                "onSignUpVerifyCodeError isInvalidCode SignUpCodeRequiredState"
            ),
            (
                "signup/v1.0/continue", "password", [], "invalid_grant password_too_short",
                "onSignUpPasswordRequiredError isInvalidPassword SignUpPasswordRequiredState"
            ),
            (
                "signup/v1.0/continue", "attributes", [], "invalid_grant attribute_validation_failed",
                "onSignUpAttributesInvalid SignUpAttributesRequiredState"
            ),
            ("signup/v1.0/continue", "oob", [], "verification_required", "onSignUpVerifyCodeError general"),
            ("signup/v1.0/continue", "oob", [], "credential_required", "onSignUpVerifyCodeError general"),
            ("signup/v1.0/continue", "password", [], "attributes_required", "onSignUpPasswordRequiredError general"),
            (
                "signup/v1.0/continue", "attributes", [], "user_already_exists",
                "onSignUpAttributesRequiredError general"
            ),
            ("resetpassword/v1.0/start", "", [], "user_not_found", "onResetPasswordStartError isUserNotFound"),
            (
                "resetpassword/v1.0/start", "", [], "invalid_request 500222",
                "onResetPasswordStartError isUserDoesNotHavePassword"
            ),
            ("resetpassword/v1.0/challenge", "", ["code"], "expired_token", "onResetPasswordResendCodeError general"),
            (
                "resetpassword/v1.0/continue", "oob", [], "invalid_grant invalid_oob_value",
                "onResetPasswordVerifyCodeError isInvalidCode ResetPasswordCodeRequiredState"
            ),
            ("resetpassword/v1.0/continue", "oob", [], "expired_token", "onResetPasswordVerifyCodeError general"),
            (
                "resetpassword/v1.0/submit", "", [], "invalid_grant password_recently_used",
                "onResetPasswordRequiredError isInvalidPassword ResetPasswordRequiredState"
            ),
            (
                "resetpassword/v1.0/poll_completion", "", [], "invalid_grant password_too_weak",
                "onResetPasswordRequiredError isInvalidPassword ResetPasswordRequiredState"
            ),
            ("resetpassword/v1.0/poll_completion", "", [], "user_not_found", "onResetPasswordRequiredError general"),
            (
                "register/v1.0/introspect", "", ["sign_up"], "invalid_request", "onSignInAfterSignUpError general"
            ),
            (
                "register/v1.0/challenge", "", [], "access_denied provider_blocked_by_rep",
                "onRegisterStrongAuthChallengeError isVerificationContactBlocked RegisterStrongAuthState"
            ),
            (
                "register/v1.0/challenge", "", [], "invalid_request 901001",
                "onRegisterStrongAuthChallengeError isInvalidInput RegisterStrongAuthState"
            ),
            (
                "register/v1.0/continue", "oob", [], "invalid_grant invalid_oob_value",
                "onRegisterStrongAuthSubmitChallengeError isInvalidChallenge RegisterStrongAuthVerificationRequiredState"
            ),
        ] as [(String, String, [String], String, String)])
    func `each error leads to its property and the state that is left`(
        path: String, grant: String, points: [String], error: String, expected: String
    ) throws {
        let words = error.split(separator: " ").map(String.init)
        let second = words.dropFirst().first ?? ""
        let description = second == "90100" ? "AADSTS90100: username parameter is empty or not valid." : "-"
        let codes = Int(second).map(String.init) ?? ""
        let body = """
            {"error":"\(words[0])","suberror":"\(codes.isEmpty ? second : "")","error_codes":[\(codes)],\
            "error_description":"\(description)","invalid_attributes":[{"name":"age"}]}
            """
        #expect(try Self.results(path, grant, points, 400, body) == expected)
        let undecoded = try Self.results(path, grant, points, 403, body)
        #expect(undecoded.contains("general") && !undecoded.contains(" is"), "MSAL decodes no other status")
    }

    @Test(arguments: [
        ("mfa_required", "continuation_token", "next oauth2/v2.0/introspect"),
        ("registration_required", "continuation_token", "next register/v1.0/introspect"),
        ("mfa_required", "other", "onSignInVerifyCodeError general SignInCodeRequiredState"),
    ])
    func `MSAL follows a demand only with a continuation token`(suberror: String, member: String, expected: String)
        throws
    {
        let body = #"{"error":"invalid_grant","suberror":"\#(suberror)","\#(member)":"t"}"#
        #expect(try Self.results("oauth2/v2.0/token", "oob", [], 400, body) == expected)
    }

    @Test(arguments: [
        ("oauth2/v2.0/initiate", "", "onSignInStartError isBrowserRequired"),
        ("oauth2/v2.0/token", "oob", "onSignInVerifyCodeError isBrowserRequired SignInCodeRequiredState"),
        ("signup/v1.0/start", "", "onSignUpStartError isBrowserRequired"),
        ("resetpassword/v1.0/submit", "", "onResetPasswordRequiredError isBrowserRequired"),
        ("register/v1.0/challenge", "", "onRegisterStrongAuthChallengeError isBrowserRequired"),
    ])
    func `the way to the browser is an error of its own`(path: String, grant: String, expected: String) throws {
        #expect(try Self.results(path, grant, [], 200, #"{"challenge_type":"redirect"}"#) == expected)
    }

    @Test func `a sign-up and a new code for it are listed with what MSAL makes of them, and without their values`()
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let app = NativeApp(tenant)
            _ = try await app.startSignUp()
            _ = try await app.challenge("signup/v1.0/challenge")
            let sent = try await app.code(to: NativeApp.newcomer)
            _ = try await app.send("signup/v1.0/continue", ["grant_type": "oob", "oob": "wrong"])
            _ = try await app.send("signup/v1.0/continue", ["grant_type": "oob", "oob": sent])
            _ = try await app.challenge("signup/v1.0/challenge")
            _ = try await app.send(
                "signup/v1.0/continue", ["grant_type": "password", "password": NativeApp.password])
            _ = try await app.tokens("continuation_token")
            let list = try await app.browser.get("/clients")
            let requests = (list.json?["clients"]?.array?.first?["requests"]?.array ?? []).reversed()
            #expect(requests.map { $0["step"] } == Array(repeating: "native_authentication", count: 8))
            let results = requests.map { request -> String? in
                let result = request["native"]?["msal"]?.array?.first
                return result?["methods"]?.array?.first?.string ?? result?["next"]?.string
            }
            #expect(
                results == [
                    "signup/v1.0/challenge", "onSignUpCodeRequired", "onSignUpResendCodeCodeRequired",
                    "onSignUpVerifyCodeError", "signup/v1.0/challenge", "onSignUpPasswordRequired", "onSignUpCompleted",
                    "onSignInCompleted",
                ], "\(list.text)")
            let page = try #require(try await app.browser.get("/control", headers: [("Accept", "text/html")]).requests)
            for text in [
                "MSAL calls <code>onSignUpVerifyCodeError</code>. <code>isInvalidCode</code> is true. "
                    + "The app now has <code>SignUpCodeRequiredState</code>.",
                "MSAL itself sends <code>signup/v1.0/challenge</code> next.",
                "MSAL calls <code>onSignInCompleted</code>.",
            ] {
                #expect(page.contains(text))
            }
            for secret in [sent, NativeApp.newcomer, NativeApp.password] {
                #expect(!page.contains(secret) && !list.text.contains(secret))
            }
        }
    }
}
