import TenantControl

/// The table follows MSAL for iOS and macOS 2.14.0, commit fae6844ee. Below, V is
/// `MSAL/src/native_auth/network/responses/validator`, C is `MSAL/src/native_auth/controllers`, and D is
/// `MSAL/src/native_auth/public/state_machine/delegate`; the numbers are lines.
extension NativeRow {
    // MARK: Rules

    private static let code = ["continuation_token", "challenge_target_label", "challenge_channel", "code_length"]
    private static let token = ["continuation_token"]
    private static let wrongCode = "invalid_grant invalid_oob_value"
    private static let badPassword = "invalid_grant password"
    private static let badAttributes = "invalid_grant attribute_validation_failed"
    private static let toPublic = Rule("redirect", .failure(nil))

    /// V/token/MSALNativeAuthTokenResponseValidator.swift:94-148
    private static let tokens = [
        Rule("200", ["access_token", "client_info"], .call("onSignInCompleted")),
        Rule("invalid_grant mfa_required", token, .next(.introspect)),
        Rule("invalid_grant registration_required", token, .next(.registerIntrospect)),
    ]
    /// V/sign_up/MSALNativeAuthSignUpResponseValidator.swift:208-224
    private static let signedUp = [
        Rule("200", .call("onSignUpCompleted", state: "SignInAfterSignUpState")),
        Rule(
            "attributes_required", ["continuation_token", "required_attributes"],
            .call("onSignUpAttributesRequired", state: "SignUpAttributesRequiredState")),
    ]

    /// The errors of signup/challenge that MSAL knows, after which an app can send for a code again.
    private static let known =
        ["invalid_request", "unauthorized_client", "unsupported_challenge_type", "expired_token"]
        .map { Rule($0, .failure(nil)) }

    // MARK: The table

    static let table = signIn + signUp + reset + registration

    /// C/sign_in/MSALNativeAuthSignInController.swift and D/SignInDelegates.swift, MFADelegates.swift
    private static let signIn: [NativeRow] =
        [
            // V/sign_in/MSALNativeAuthSignInResponseValidator.swift:207
            NativeRow(
                .initiate, errors: ["onSignInStartError"],
                [Rule("200", token, .next(.challenge)), Rule("user_not_found", .failure("isUserNotFound"))]),
            // C:385-443, V/sign_in:173
            NativeRow(
                .challenge, at: ["secondFactor", "secondFactorCode"], errors: ["onMFARequestChallengeError"],
                keeps: ("MFARequiredState", .afterAll),
                [
                    Rule(
                        "200 oob", code, .call("onMFARequestChallengeVerificationRequired", state: "MFARequiredState")),
                    Rule("access_denied provider_blocked_by_rep", .failure("isAuthMethodBlocked")),
                ]),
            // C:327-380
            NativeRow(
                .challenge, at: ["code"], errors: ["onSignInResendCodeError"],
                keeps: ("SignInCodeRequiredState", .afterAll),
                [Rule("200 oob", code, .call("onSignInResendCodeCodeRequired", state: "SignInCodeRequiredState"))]),
            // C:829-930
            NativeRow(
                .challenge, errors: ["onSignInStartError"],
                [
                    Rule("200 oob", code, .call("onSignInCodeRequired", state: "SignInCodeRequiredState")),
                    Rule(
                        "200 password", token, .call("onSignInPasswordRequired", state: "SignInPasswordRequiredState")),
                ]),
            NativeRow(
                .challenge, at: ["begun"], givesPassword: true, errors: ["onSignInStartError"],
                [
                    Rule("200 oob", code, .call("onSignInCodeRequired", state: "SignInCodeRequiredState")),
                    Rule("200 password", token, .next(.token)),
                ]),
            // C:206-325, 660-685
            NativeRow(
                .token, "password", errors: ["onSignInPasswordRequiredError"],
                keeps: ("SignInPasswordRequiredState", .afterAll),
                tokens + [Rule("invalid_grant 50126", .failure("isInvalidPassword"))]),
            NativeRow(
                .token, "password", givesPassword: true, errors: ["onSignInStartError"],
                tokens + [
                    Rule("invalid_grant 50126", .failure("isInvalidCredentials")),
                    Rule("invalid_grant 50034", .failure("isUserNotFound")),
                    Rule("user_not_found", .failure("isUserNotFound")),
                ]),
            // C:505-658
            NativeRow(
                .token, "oob", errors: ["onSignInVerifyCodeError"], keeps: ("SignInCodeRequiredState", .afterAll),
                tokens + [Rule(wrongCode, .failure("isInvalidCode"))]),
            // C:447-500
            NativeRow(
                .token, "mfa_oob", errors: ["onMFASubmitChallengeError"], keeps: ("MFARequiredState", .afterAll),
                tokens + [Rule(wrongCode, .failure("isInvalidChallenge"))]),
            // C:111-184. After a registration, C/jit/MSALNativeAuthJITController.swift:268-306, 354-373.
            NativeRow(
                .token, "continuation_token", at: ["registered", "sign_in"],
                errors: ["onRegisterStrongAuthSubmitChallengeError", "onRegisterStrongAuthChallengeError"],
                tokens + [toPublic]),
            NativeRow(.token, "continuation_token", at: ["sign_up"], errors: ["onSignInAfterSignUpError"], tokens),
            NativeRow(
                .token, "continuation_token", at: ["password_reset"], errors: ["onSignInAfterResetPasswordError"],
                tokens),
            NativeRow(
                .token, "continuation_token",
                errors: [
                    "onSignInAfterSignUpError", "onSignInAfterResetPasswordError",
                    "onRegisterStrongAuthSubmitChallengeError", "onRegisterStrongAuthChallengeError",
                ], tokens),
            // MSALNativeAuthUserAccountResult+Internal.swift:94-106: an error is always a general one. D/CredentialsDelegates.swift
            NativeRow(
                .token, "refresh_token", errors: ["onAccessTokenRetrieveError"],
                [Rule("200", ["access_token"], .call("onAccessTokenRetrieveCompleted")), toPublic]),
        ] + methods(.introspect, .call("onSignInAwaitingMFA", state: "AwaitingMFAState"))

    /// The methods for a second factor are asked for within each sign-in. V/sign_in:93, V/jit:48
    private static func methods(_ endpoint: Controls.NativeEndpoint, _ result: Result) -> [NativeRow] {
        let rules = [Rule("200", ["continuation_token", "methods"], result)]
        return [
            NativeRow(endpoint, at: ["sign_up"], errors: ["onSignInAfterSignUpError"], rules),
            NativeRow(endpoint, at: ["password_reset"], errors: ["onSignInAfterResetPasswordError"], rules),
            NativeRow(
                endpoint, errors: ["onSignInStartError", "onSignInPasswordRequiredError", "onSignInVerifyCodeError"],
                rules),
        ]
    }

    /// C/sign_up/MSALNativeAuthSignUpController.swift, V/sign_up/MSALNativeAuthSignUpResponseValidator.swift, D/SignUpDelegates.swift
    private static let signUp: [NativeRow] = [
        // C:160-220, V:69-104
        NativeRow(
            .signUpStart, errors: ["onSignUpStartError"],
            [
                Rule("200", token, .next(.signUpChallenge)),
                Rule("user_already_exists", .failure("isUserAlreadyExists")),
                Rule(badPassword, .failure("isInvalidPassword")),
                Rule(badAttributes, ["invalid_attributes"], .call("onSignUpAttributesInvalid")),
                Rule("invalid_request 90100 username", .failure("isInvalidUsername")),
            ]),
        // C:380-437
        NativeRow(
            .signUpChallenge, at: ["credential", "password"], errors: ["onSignUpVerifyCodeError"],
            [Rule("200 password", token, .call("onSignUpPasswordRequired", state: "SignUpPasswordRequiredState"))]),
        // C:311-378
        NativeRow(
            .signUpChallenge, at: ["code"], errors: ["onSignUpResendCodeError"],
            keeps: ("SignUpCodeRequiredState", .afterListed),
            [Rule("200 oob", code, .call("onSignUpResendCodeCodeRequired", state: "SignUpCodeRequiredState"))]
                + known),
        // C:249-309
        NativeRow(
            .signUpChallenge, errors: ["onSignUpStartError"],
            [Rule("200 oob", code, .call("onSignUpCodeRequired", state: "SignUpCodeRequiredState"))]),
        // C:461-541, V:186-272. A refused password is a wrong code, too.
        NativeRow(
            .signUpContinue, "oob", errors: ["onSignUpVerifyCodeError"],
            keeps: ("SignUpCodeRequiredState", .afterListed),
            signedUp + [
                Rule("credential_required", token, .next(.signUpChallenge)), Rule(wrongCode, .failure("isInvalidCode")),
                Rule(badPassword, .failure("isInvalidCode")),
            ]),
        // C:546-620. A wrong code is a general error, after which the state is kept.
        NativeRow(
            .signUpContinue, "password", errors: ["onSignUpPasswordRequiredError"],
            keeps: ("SignUpPasswordRequiredState", .afterListed),
            signedUp + [Rule(badPassword, .failure("isInvalidPassword")), Rule(wrongCode, .failure(nil))]),
        // C:624-705
        NativeRow(
            .signUpContinue, "attributes", errors: ["onSignUpAttributesRequiredError"],
            signedUp + [
                Rule(
                    badAttributes, ["invalid_attributes"],
                    .call("onSignUpAttributesInvalid", state: "SignUpAttributesRequiredState"))
            ]),
    ]

    /// C/reset_password/MSALNativeAuthResetPasswordController.swift, V/reset_password/MSALNativeAuthResetPasswordResponseValidator.swift,
    /// D/ResetPasswordDelegates.swift
    private static let reset: [NativeRow] = [
        // V:69-97
        NativeRow(
            .resetStart, errors: ["onResetPasswordStartError"],
            [
                Rule("200", token, .next(.resetChallenge)), Rule("user_not_found", .failure("isUserNotFound")),
                Rule("invalid_request 500222", .failure("isUserDoesNotHavePassword")),
            ]),
        // C:265-315
        NativeRow(
            .resetChallenge, at: ["code"], errors: ["onResetPasswordResendCodeError"],
            [Rule("200 oob", code, .call("onResetPasswordResendCodeRequired", state: "ResetPasswordCodeRequiredState"))]
        ),
        // C:207-260
        NativeRow(
            .resetChallenge, errors: ["onResetPasswordStartError"],
            [Rule("200 oob", code, .call("onResetPasswordCodeRequired", state: "ResetPasswordCodeRequiredState"))]),
        // C:338-410, V:183
        NativeRow(
            .resetContinue, errors: ["onResetPasswordVerifyCodeError"],
            keeps: ("ResetPasswordCodeRequiredState", .afterListed),
            [
                Rule("200", token, .call("onPasswordRequired", state: "ResetPasswordRequiredState")),
                Rule(wrongCode, .failure("isInvalidCode")),
            ]),
        // C:432-500, V:234
        NativeRow(
            .resetSubmit, errors: ["onResetPasswordRequiredError"], keeps: ("ResetPasswordRequiredState", .afterListed),
            [
                Rule("200", ["continuation_token", "poll_interval"], .next(.resetPoll)),
                Rule(badPassword, .failure("isInvalidPassword")),
            ]),
        // C:557-670, V:287. After the last poll in progress, it is a general error.
        NativeRow(
            .resetPoll, errors: ["onResetPasswordRequiredError"], keeps: ("ResetPasswordRequiredState", .afterListed),
            [
                Rule("200 succeeded", .call("onResetPasswordCompleted", state: "SignInAfterResetPasswordState")),
                Rule("200 in_progress", .next(.resetPoll)), Rule("200 not_started", .next(.resetPoll)),
                Rule(badPassword, .failure("isInvalidPassword")),
            ]),
    ]

    /// C/jit/MSALNativeAuthJITController.swift, V/jit/MSALNativeAuthJITResponseValidator.swift, D/JITDelegates.swift
    private static let registration: [NativeRow] =
        [
            // C:312-375, V:170-198
            NativeRow(
                .registerChallenge, errors: ["onRegisterStrongAuthChallengeError"],
                keeps: ("RegisterStrongAuthState", .afterAllButRedirect),
                [
                    Rule(
                        "200 oob", ["continuation_token", "challenge_target", "challenge_channel", "code_length"],
                        .call(
                            "onRegisterStrongAuthVerificationRequired",
                            state: "RegisterStrongAuthVerificationRequiredState")),
                    Rule("200 preverified", token, .next(.registerContinue)),
                    Rule("access_denied provider_blocked_by_rep", .failure("isVerificationContactBlocked")),
                    Rule("invalid_request with 901001", .failure("isInvalidInput")),
                ]),
            // C:243-266, V:199
            NativeRow(
                .registerContinue, "oob", errors: ["onRegisterStrongAuthSubmitChallengeError"],
                keeps: ("RegisterStrongAuthVerificationRequiredState", .afterAllButRedirect),
                [Rule("200", token, .next(.token)), Rule(wrongCode, .failure("isInvalidChallenge"))]),
            // C:354-373
            NativeRow(
                .registerContinue, "continuation_token", errors: ["onRegisterStrongAuthChallengeError"],
                [Rule("200", token, .next(.token)), toPublic]),
        ]
        + methods(.registerIntrospect, .call("onSignInStrongAuthMethodRegistration", state: "RegisterStrongAuthState"))
}
