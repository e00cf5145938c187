"""MSALNativeAuth at `companion tenant`: every flow, every error that a validator tells apart, and each validator when the tenant breaks it."""

import json
import urllib.parse
from contextlib import contextmanager

from suite.registry import registry

from .msal_native_auth import GENERAL, KNOWN, PASSWORD_SUBERRORS, Failed, NativeApplication, property_of
from .native import Change, document
from .tenant import BUNDLE, WEB_URI, running

tests, test = registry("native authentication")

SAMPLE = "7f1c5d0e-2b96-4a83-9e47-d05b8c3f6a12"
COLLECTING = "11111111-2222-4333-8444-555555555501"
CODES = "11111111-2222-4333-8444-555555555502"
DISABLED = "11111111-2222-4333-8444-555555555503"
PERSON, PASSWORD, NEW = "customer@fabrikam.example", "demo", "Vinter-2027"
OWN = "Sommar-2026"


def person(name, **more):
    return {"username": f"{name}@fabrikam.example", "password": OWN} | more


@contextmanager
def environment(binary, root, folder):
    with running(binary, root / "Public", folder, settings={
        "applications": [
            {"name": "Tasks", "native": [BUNDLE]}, {"name": "Web", "web": [WEB_URI], "secret_file": "secret"},
            {"name": "Collecting", "client_id": COLLECTING, "native_authentication": True, "user_flow": {"attributes": [
                {"name": "displayName", "regex": "^[A-Z]"}, {"name": "age", "type": "integer"}, {"name": "city", "required": False}]}},
            {"name": "Codes", "client_id": CODES, "native_authentication": True, "user_flow": {"method": "code"}},
            {"name": "Disabled", "client_id": DISABLED, "native_authentication": True, "public_client_flows": False},
        ],
        "users": [
            {"username": "coder@fabrikam.example", "sign_in": "code"}, person("mailed", second_factor="email"),
            person("texted", second_factor="sms", mobile_phone="+46 70 555 0199"), person("fresh", second_factor="unregistered"),
            person("blocked", second_factor="sms", mobile_phone="+46 70 555 0198", blocked_contact=True),
            person("unlisted", second_factor="unregistered", blocked_contact=True), person("forgetful"), person("resetter"),
            person("enrolling", second_factor="unregistered"),
        ]}) as tenant:
        yield tenant


def application(tenant, client_id=SAMPLE, session=None, authority=None, **more):
    return NativeApplication(session or tenant.session(), authority or tenant.said["external_authority"], client_id, **more)


def code(tenant, to, wait=5):
    """The newest code, which a test would wait for."""
    answer = tenant.session().get(f"{tenant.origin}/outbox?{urllib.parse.urlencode({'to': to, 'wait': wait})}").json()
    return answer["messages"][0]["code"]


def results(tenant):
    """The lines at /clients for the newest answer: a method, an error's property or MSAL's next request, and the state."""
    clients = tenant.session().get(f"{tenant.origin}/clients").json()["clients"]
    newest = max((each for client in clients for each in client["requests"]), key=lambda each: each["position"])
    return [(each["property"] if each["is_error"] else each["next"] or each["methods"][0], each["state"]) for each in newest["native"]["msal"]]


def expect(state, name, error=None, at=None):
    """at: the tenant, whose page has to say the same."""
    assert (state.name, state.error) == (name, error), state
    if at:
        said = results(at)
        assert said[-1 if state.first else 0] == state.shown, (said, state)


counter = iter(range(1, 1000))


def newcomer():
    return f"newcomer{next(counter)}@customer.example"


@test("a person signs in by a password, in the first call or later, and by a code, which is sent again on request")
def signing_in(tenant):
    app = application(tenant)
    expect(app.sign_in(PERSON, PASSWORD), "signed in", at=tenant)
    assert app.requests == ["oauth2/v2.0/initiate", "oauth2/v2.0/challenge", "oauth2/v2.0/token"], app.requests
    expect(app.sign_in(PERSON, "wrong"), "error", "invalidCredentials", at=tenant)
    state = app.sign_in(PERSON)
    expect(state, "SignInPasswordRequiredState", at=tenant)
    expect(app.submit_password(state, "wrong"), "SignInPasswordRequiredState", "invalidPassword", at=tenant)
    signed_in = app.submit_password(state, PASSWORD)
    expect(signed_in, "signed in", at=tenant)
    assert signed_in.values["claims"]["preferred_username"] == PERSON and signed_in.values["identifier"].count(".") == 1, signed_in
    silent = tenant.session().post(f"{tenant.said['external_authority']}/oauth2/v2.0/token", data={
        "grant_type": "refresh_token", "client_id": SAMPLE, "refresh_token": signed_in.values["refresh_token"], "scope": app.scopes, "client_info": "1"})
    assert silent.status_code == 200, silent.text
    state = app.sign_in("coder@fabrikam.example", "a password that nobody asks for")
    expect(state, "SignInCodeRequiredState", at=tenant)
    old = code(tenant, "coder@fabrikam.example")
    resent = app.resend(state)
    expect(app.submit_code(resent, old), "SignInCodeRequiredState", "invalidCode", at=tenant)
    expect(app.submit_code(resent, code(tenant, "coder@fabrikam.example")), "signed in", at=tenant)
    # An authority that ends with a slash.
    expect(application(tenant, authority=tenant.said["external_authority"] + "/").sign_in(PERSON, PASSWORD), "signed in", at=tenant)


@test("a second factor is shown by mail and by text message, registered at first, or confirmed before")
def second_factors(tenant):
    for name, target in (("mailed", "mailed@fabrikam.example"), ("texted", "+46 70 555 0199")):
        app = application(tenant)
        state = app.sign_in(f"{name}@fabrikam.example", OWN)
        expect(state, "AwaitingMFAState", at=tenant)
        state = app.request_challenge(state, state.values["methods"][0])
        expect(state, "MFARequiredState", at=tenant)
        expect(app.submit_challenge(state, "00000000"), "MFARequiredState", "invalidChallenge", at=tenant)
        expect(app.submit_challenge(state, code(tenant, target)), "signed in", at=tenant)
    state = app.sign_in("blocked@fabrikam.example", OWN)
    expect(app.request_challenge(state, state.values["methods"][0]), "MFARequiredState", "authMethodBlocked", at=tenant)
    state = app.sign_in("unlisted@fabrikam.example", OWN)
    expect(app.challenge_method(state, state.values["methods"][0], "a@b.example"), "RegisterStrongAuthState", "verificationContactBlocked", at=tenant)
    fresh = "fresh@fabrikam.example"
    state = app.sign_in(fresh, OWN)
    expect(state, "RegisterStrongAuthState", at=tenant)
    email, sms = state.values["methods"]
    expect(app.challenge_method(state, sms, "no number"), "RegisterStrongAuthState", "invalidInput", at=tenant)
    sent = app.challenge_method(state, sms, "+46 70 555 0197")
    expect(sent, "RegisterStrongAuthVerificationRequiredState", at=tenant)
    expect(app.submit_registration(sent, "00000000"), "RegisterStrongAuthVerificationRequiredState", "invalidChallenge", at=tenant)
    # Another method instead, with the newest token, and it is the confirmed address.
    expect(app.challenge_method(sent, email, fresh), "signed in", at=tenant)
    expect(app.sign_in(fresh, OWN), "AwaitingMFAState", at=tenant)
    for without in ("mailed", "fresh"):
        app = application(tenant, capabilities=())
        expect(app.sign_in(f"{without}@fabrikam.example", OWN), "error", "browserRequired", at=tenant)


@test("a person signs up with a code and a password, with attributes, and with a code alone, and is signed in")
def signing_up(tenant):
    app, name = application(tenant), newcomer()
    state = app.sign_up(name)
    expect(state, "SignUpCodeRequiredState", at=tenant)
    expect(app.continue_sign_up(state, grant_type="oob", oob="00000000"), "SignUpCodeRequiredState", "invalidCode", at=tenant)
    state = app.continue_sign_up(state, grant_type="oob", oob=code(tenant, name))
    expect(state, "SignUpPasswordRequiredState", at=tenant)
    for password in ("Short-1", "Aa1-" * 65, "Vinter-2027-å", f"My-{name.split('@')[0]}-X", "onlylowercase"):
        expect(app.continue_sign_up(state, grant_type="password", password=password), "SignUpPasswordRequiredState", "invalidPassword", at=tenant)
    state = app.continue_sign_up(state, grant_type="password", password=NEW)
    expect(state, "SignInAfterSignUpState", at=tenant)
    expect(app.sign_in_after(state), "signed in", at=tenant)
    expect(app.sign_up(name), "error", "userAlreadyExists", at=tenant)
    expect(app.sign_up(newcomer(), password="Short-1"), "error", "invalidPassword", at=tenant)

    app, name = application(tenant, COLLECTING), newcomer()
    expect(app.sign_up(name, NEW, json.dumps({"displayName": "casey"})), "error", "attributesInvalid", at=tenant)
    state = app.sign_up(name, NEW, json.dumps({"displayName": "Casey"}))
    state = app.continue_sign_up(state, grant_type="oob", oob=code(tenant, name))
    expect(state, "SignUpAttributesRequiredState", at=tenant)
    assert [each["name"] for each in state.values["attributes"]] == ["age"], state
    expect(app.continue_sign_up(state, grant_type="attributes", attributes='{"age": "old"}'), "SignUpAttributesRequiredState", "attributesInvalid", at=tenant)
    state = app.continue_sign_up(state, grant_type="attributes", attributes='{"age": "44"}')
    expect(state, "SignInAfterSignUpState", at=tenant)
    assert app.sign_in_after(state).values["claims"]["name"] == "Casey"

    app, name = application(tenant, CODES, challenge_types=("oob",)), newcomer()
    state = app.continue_sign_up(app.sign_up(name), grant_type="oob", oob=code(tenant, name))
    expect(app.sign_in_after(state), "signed in", at=tenant)
    expect(app.sign_in(name), "SignInCodeRequiredState", at=tenant)
    expect(application(tenant, challenge_types=("oob",)).sign_up(newcomer()), "error", "browserRequired", at=tenant)


@test("a password is reset by a code, which ends the earlier one, and the app is signed in")
def resetting(tenant):
    app, name = application(tenant), "forgetful@fabrikam.example"
    state = app.reset(name)
    expect(state, "ResetPasswordCodeRequiredState", at=tenant)
    expect(app.submit_reset_code(state, "00000000"), "ResetPasswordCodeRequiredState", "invalidCode", at=tenant)
    state = app.submit_reset_code(state, code(tenant, name))
    expect(state, "ResetPasswordRequiredState", at=tenant)
    for password in ("Short-1", OWN):
        expect(app.submit_new_password(state, password), "ResetPasswordRequiredState", "invalidPassword", at=tenant)
    state = app.submit_new_password(state, NEW)
    expect(state, "SignInAfterResetPasswordState", at=tenant)
    assert app.requests[-2:] == ["resetpassword/v1.0/poll_completion"] * 2, app.requests
    expect(app.sign_in_after(state), "signed in", at=tenant)
    expect(app.sign_in(name, OWN), "error", "invalidCredentials", at=tenant)
    expect(app.sign_in(name, NEW), "signed in", at=tenant)
    expect(app.reset("coder@fabrikam.example"), "error", "userDoesNotHavePassword", at=tenant)


@test("each way to refuse a beginning is the error that MSAL tells apart")
def refused(tenant):
    app = application(tenant)
    expect(app.sign_in("nobody@fabrikam.example"), "error", "userNotFound", at=tenant)
    expect(app.reset("nobody@fabrikam.example"), "error", "userNotFound", at=tenant)
    expect(app.sign_up("no address"), "error", "invalidUsername", at=tenant)
    for client_id in (DISABLED, tenant.native_id, "11111111-2222-4333-8444-5555555555ff"):
        expect(application(tenant, client_id).sign_in(PERSON), "error", GENERAL, at=tenant)
    body = tenant.session().post(f"{tenant.said['external_authority']}/oauth2/v2.0/initiate", data={
        "client_id": DISABLED, "username": PERSON, "challenge_type": "redirect"})
    assert (body.status_code, body.json()["suberror"]) == (401, "nativeauthapi_disabled"), body.text


# endpoint, error, suberror, code: the error that the app sees
ROWS = [
    ("oauth2/v2.0/initiate", "user_not_found", None, 50034, "userNotFound"),
    ("oauth2/v2.0/challenge", "access_denied", "provider_blocked_by_rep", None, "authMethodBlocked"),
    ("oauth2/v2.0/token", "invalid_grant", "invalid_oob_value", None, "invalidCode"),
    ("oauth2/v2.0/token", "invalid_grant", None, 50034, "userNotFound"),
    ("oauth2/v2.0/token", "invalid_grant", None, 50126, "invalidPassword"),
    ("oauth2/v2.0/token", "invalid_grant", None, 50053, GENERAL),
    ("oauth2/v2.0/token", "invalid_grant", None, None, GENERAL),
    ("oauth2/v2.0/token", "invalid_grant", "mfa_required", None, GENERAL),
    ("oauth2/v2.0/token", "invalid_grant", "registration_required", None, GENERAL),
    ("oauth2/v2.0/token", "invalid_request", None, 50142, GENERAL),
    ("oauth2/v2.0/token", "user_not_found", None, None, "userNotFound"),
    ("oauth2/v2.0/token", "expired_refresh_token", None, None, "refreshTokenExpired"),
    ("oauth2/v2.0/token", "invalid_scope", None, None, "invalidScope"),
    ("signup/v1.0/start", "user_already_exists", None, None, "userAlreadyExists"),
    ("signup/v1.0/start", "invalid_request", None, 90100, "invalidUsername"),
    ("signup/v1.0/start", "invalid_request", None, 90023, GENERAL),
    ("signup/v1.0/start", "invalid_grant", "attribute_validation_failed", None, "attributesInvalid"),
    ("signup/v1.0/continue", "invalid_grant", "invalid_oob_value", None, "invalidCode"),
    ("signup/v1.0/continue", "invalid_grant", "attribute_validation_failed", None, "attributesInvalid"),
    ("signup/v1.0/continue", "credential_required", None, None, GENERAL),
    ("signup/v1.0/continue", "attributes_required", None, None, GENERAL),
    ("resetpassword/v1.0/start", "user_not_found", None, None, "userNotFound"),
    ("resetpassword/v1.0/start", "invalid_request", None, 500222, "userDoesNotHavePassword"),
    ("resetpassword/v1.0/continue", "invalid_grant", "invalid_oob_value", None, "invalidCode"),
    ("register/v1.0/challenge", "access_denied", "provider_blocked_by_rep", None, "verificationContactBlocked"),
    ("register/v1.0/challenge", "invalid_request", None, 901001, "invalidInput"),
    ("register/v1.0/continue", "invalid_grant", "invalid_oob_value", None, "invalidChallenge"),
    *((path, "invalid_grant", suberror, None, "invalidPassword") for suberror in PASSWORD_SUBERRORS for path in (
        "signup/v1.0/start", "signup/v1.0/continue", "resetpassword/v1.0/submit", "resetpassword/v1.0/poll_completion")),
]
NAMED = {row[:2] for row in ROWS}


@test("every error of every endpoint comes on demand, for one person and once, and is what MSAL makes of it")
def on_demand(tenant):
    plain = [(path, error, None, None, GENERAL) for path, words in KNOWN.items() for error in words.split() if (path, error) not in NAMED]
    app = application(tenant)
    for path, error, suberror, number, kind in ROWS + plain:
        # The call in which the error has a property of its own.
        grant = {"attributesInvalid": "attributes", "invalidPassword": "password", "userNotFound": "password"}.get(kind, "oob")
        chosen = "1" if kind == "authMethodBlocked" else None
        failure = {"endpoint": path, "error": error, "suberror": suberror, "code": number}
        # The token endpoint knows native authentication by the continuation token, which says who asks.
        when, token = ({"client": SAMPLE}, "-") if path == "oauth2/v2.0/token" else ({"client": SAMPLE, "user": PERSON}, None)
        tenant.control(rules=[{"when": when, "times": 1, "native_failure": failure}])
        for expected in (kind, None):
            try:
                app.post(path, username=PERSON, challenge_type=app.challenge_types, grant_type=grant, oob="1", id=chosen, password="-", continuation_token=token)
                found = None
            except Failed as failed:
                is_on_demand = "/control" in failed.body["error_description"] or failed.kind == "invalidUsername"
                found = failed.kind if is_on_demand else None
            assert found == expected, (failure, found, expected)
            if found:
                named = {"attributesInvalid": "onSignUpAttributesInvalid", "refreshTokenExpired": None, "invalidScope": None}.get(kind, property_of(kind))
                if path == "oauth2/v2.0/token" and kind == "invalidPassword":
                    named = "isInvalidCredentials"
                assert results(tenant)[-1][0] == named, (failure, results(tenant), named)
    for path in KNOWN:
        tenant.control(native_failure={"endpoint": path, "error": "redirect"})
        body = app.post(path, username=PERSON, challenge_type=app.challenge_types, grant_type="oob")
        assert body == {"challenge_type": "redirect"}, (path, body)
        assert results(tenant)[0][0] == "isBrowserRequired", (path, results(tenant))
    name = newcomer()
    state = app.continue_sign_up(app.sign_up(name, NEW), grant_type="oob", oob=code(tenant, name))
    expect(state, "SignInAfterSignUpState", at=tenant)
    state = app.submit_reset_code(app.reset(name), code(tenant, name))
    tenant.control(native_failure={"endpoint": "resetpassword/v1.0/poll_completion", "error": "failed"})
    expect(app.submit_new_password(state, "Another-2028"), "error", GENERAL, at=tenant)


def without(*names, when=lambda members: True):
    """Takes members away from an answer."""
    def edit(members):
        if when(members):
            for name in names:
                members.pop(name, None)
    return edit


def having(when=lambda members: True, **values):
    """Changes members of an answer."""
    return lambda members: members.update(values if when(members) else {})


def attributes_without(name):
    def edit(members):
        for each in members.get("required_attributes", ()):
            del each[name]
    return edit


def methods_without(name):
    def edit(members):
        for each in members.get("methods", ()):
            del each[name]
    return edit


def is_error(members):
    return "error" in members


def is_success(members):
    return "error" not in members


def is_password(members):
    return members.get("challenge_type") == "password"


def breaking(tenant, path, edit, client_id=SAMPLE):
    """An application whose tenant breaks a rule at one path."""
    session = tenant.session()
    session.mount("https://", Change(path, document(edit)))
    return application(tenant, client_id, session=session)


def signed_up(app, tenant):
    """The state at which a sign-up ends that is asked for a code, a password and attributes."""
    name = newcomer()
    state = app.sign_up(name)
    if state.name == "SignUpCodeRequiredState":
        state = app.continue_sign_up(state, grant_type="oob", oob=code(tenant, name))
    if state.name == "SignUpPasswordRequiredState":
        state = app.continue_sign_up(state, grant_type="password", password=NEW)
    if state.name == "SignUpAttributesRequiredState":
        state = app.continue_sign_up(state, grant_type="attributes", attributes='{"displayName": "Casey", "age": "44"}')
    return app.sign_in_after(state) if state.name == "SignInAfterSignUpState" else state


def password_reset(app, tenant):
    """The state at which a reset ends."""
    name = "resetter@fabrikam.example"
    state = app.reset(name)
    if state.name == "ResetPasswordCodeRequiredState":
        state = app.submit_reset_code(state, code(tenant, name))
    if state.name == "ResetPasswordRequiredState":
        state = app.submit_new_password(state, f"Vinter-{next(counter)}")
    return app.sign_in_after(state) if state.name == "SignInAfterResetPasswordState" else state


def registered(app, tenant, contact="other@customer.example"):
    """The state at which the registration of a second factor ends."""
    state = app.sign_in("enrolling@fabrikam.example", OWN)
    if state.name == "RegisterStrongAuthState":
        state = app.challenge_method(state, state.values["methods"][0], contact)
    if state.name == "RegisterStrongAuthVerificationRequiredState":
        state = app.submit_registration(state, code(tenant, contact))
    return state


@test("a validator of a sign-in refuses each answer in which a member is missing that it needs")
def broken(tenant):
    for path, name in (
        ("oauth2/v2.0/initiate", "continuation_token"), ("oauth2/v2.0/challenge", "challenge_type"), ("oauth2/v2.0/challenge", "continuation_token"),
        ("oauth2/v2.0/challenge", "challenge_target_label"), ("oauth2/v2.0/challenge", "challenge_channel"), ("oauth2/v2.0/challenge", "code_length"),
    ):
        expect(breaking(tenant, path, without(name)).sign_in("coder@fabrikam.example"), "error", GENERAL)
    for path, name in (("oauth2/v2.0/token", "continuation_token"), ("oauth2/v2.0/introspect", "methods"), ("oauth2/v2.0/introspect", "continuation_token")):
        expect(breaking(tenant, path, without(name)).sign_in("mailed@fabrikam.example", OWN), "error", GENERAL)
    for name in ("access_token", "client_info"):
        expect(breaking(tenant, "oauth2/v2.0/token", without(name)).sign_in(PERSON, PASSWORD), "error", GENERAL)


# V/sign_up/MSALNativeAuthSignUpResponseValidator.swift, by its lines
SIGN_UP = [
    (61, "start", without("continuation_token")),
    (122, "challenge", without("challenge_type")),
    (131, "challenge", without("challenge_target_label")),
    (132, "challenge", without("challenge_channel")),
    (133, "challenge", without("code_length")),
    (134, "challenge", without("continuation_token")),
    (144, "challenge", without("continuation_token", when=is_password)),
    # C/sign_up/MSALNativeAuthSignUpController.swift:417: a code once more, where a password is due.
    (143, "challenge", having(when=is_password, challenge_type="oob", challenge_target_label="c", challenge_channel="email", code_length=8)),
    (200, "continue", without("continuation_token", when=lambda members: members.get("error") == "credential_required")),
    (209, "continue", without("continuation_token", when=lambda members: members.get("error") == "attributes_required")),
    (210, "continue", without("required_attributes")),
    (211, "continue", having(when=lambda members: "required_attributes" in members, required_attributes=[])),
    # E/sign_up/MSALNativeAuthRequiredAttributeInternal.swift:28-30
    *((214, "continue", attributes_without(name)) for name in ("name", "type", "required")),
    (232, "continue", having(when=is_error, error="another")),
]


@test("the validator of a sign-up refuses each answer that breaks one of its rules")
def broken_sign_up(tenant):
    expect(signed_up(application(tenant, COLLECTING), tenant), "signed in", at=tenant)
    for line, step, edit in SIGN_UP:
        state = signed_up(breaking(tenant, f"signup/v1.0/{step}", edit, COLLECTING), tenant)
        assert (state.name, state.error) == ("error", GENERAL), (line, step, state)
    # …:180: a success without a token is one, but C/sign_in/MSALNativeAuthSignInController.swift:125 then sends nothing.
    app = breaking(tenant, "signup/v1.0/continue", without("continuation_token", when=is_success), COLLECTING)
    expect(signed_up(app, tenant), "error", GENERAL)
    assert app.requests[-1] == "signup/v1.0/continue", app.requests


# V/reset_password/MSALNativeAuthResetPasswordResponseValidator.swift, by its lines
RESET = [
    (58, "start", without("continuation_token")),
    (115, "challenge", without("challenge_type")),
    (119, "challenge", without("challenge_target_label")),
    (120, "challenge", without("challenge_channel")),
    (121, "challenge", without("code_length")),
    (122, "challenge", without("continuation_token")),
    (135, "challenge", having(challenge_type="password")),
    (177, "continue", without("continuation_token")),
    (228, "submit", without("continuation_token")),
    (228, "submit", without("poll_interval")),
    (280, "poll_completion", without("status")),
    # …/responses/reset_password/MSALNativeAuthResetPasswordPollCompletionStatus.swift:27
    (280, "poll_completion", having(status="another")),
]


@test("the validator of a reset refuses each answer that breaks one of its rules")
def broken_reset(tenant):
    expect(password_reset(application(tenant), tenant), "signed in", at=tenant)
    for line, step, edit in RESET:
        state = password_reset(breaking(tenant, f"resetpassword/v1.0/{step}", edit), tenant)
        assert (state.name, state.error) == ("error", GENERAL), (line, step, state)
    # …:284: as after a sign-up.
    app = breaking(tenant, "resetpassword/v1.0/poll_completion", without("continuation_token"))
    expect(password_reset(app, tenant), "error", GENERAL)
    assert app.requests[-1] == "resetpassword/v1.0/poll_completion", app.requests


# V/jit/MSALNativeAuthJITResponseValidator.swift, by its lines; the last one registers a second factor at the tenant.
REGISTRATION = [
    (56, "introspect", without("continuation_token"), "error"),
    (57, "introspect", without("methods"), "error"),
    (58, "introspect", having(methods=[]), "error"),
    # …/responses/sign_in/MSALNativeAuthInternalAuthenticationMethod.swift
    *((57, "introspect", methods_without(name), "error") for name in ("id", "challenge_type", "challenge_channel")),
    (135, "challenge", without("continuation_token"), "RegisterStrongAuthState"),
    (136, "challenge", without("challenge_target"), "RegisterStrongAuthState"),
    (137, "challenge", without("code_length"), "RegisterStrongAuthState"),
    (138, "challenge", without("challenge_channel"), "RegisterStrongAuthState"),
    (161, "challenge", having(challenge_type="password"), "RegisterStrongAuthState"),
    (111, "continue", without("continuation_token"), "RegisterStrongAuthVerificationRequiredState"),
]


@test("the validator of a registration refuses each answer that breaks one of its rules")
def broken_registration(tenant):
    app = breaking(tenant, "register/v1.0/challenge", without("continuation_token"))
    # …:151
    expect(registered(app, tenant, "enrolling@fabrikam.example"), "RegisterStrongAuthState", GENERAL)
    # …:199
    app = breaking(tenant, "register/v1.0/continue", without("suberror"))
    state = app.sign_in("enrolling@fabrikam.example", OWN)
    state = app.challenge_method(state, state.values["methods"][0], "other@customer.example")
    expect(app.submit_registration(state, "wrong"), "RegisterStrongAuthVerificationRequiredState", GENERAL)
    for line, step, edit, name in REGISTRATION:
        state = registered(breaking(tenant, f"register/v1.0/{step}", edit), tenant)
        assert (state.name, state.error) == (name, GENERAL), (line, step, state)


# The line, the path, the edit of its error, and the call whose error is then a general one
ERRORS = [
    # V/sign_up
    (79, "signup/v1.0/start", without("invalid_attributes"), lambda app: app.sign_up(newcomer(), NEW, '{"displayName": "casey"}')),
    (79, "signup/v1.0/start", having(invalid_attributes=[]), lambda app: app.sign_up(newcomer(), NEW, '{"displayName": "casey"}')),
    (97, "signup/v1.0/start", having(error="another"), lambda app: app.sign_up(PERSON)),
    (100, "signup/v1.0/start", having(suberror="another"), lambda app: app.sign_up(newcomer(), "Short-1")),
    (275, "signup/v1.0/start", having(error_codes=[]), lambda app: app.sign_up("no address")),
    (280, "signup/v1.0/start", having(error_codes=[1, 90100]), lambda app: app.sign_up("no address")),
    (280, "signup/v1.0/start", having(error_description="AADSTS90100: another"), lambda app: app.sign_up("no address")),
    (241, "signup/v1.0/continue", without("suberror"), lambda app: app.continue_sign_up(app.sign_up(newcomer()), grant_type="oob", oob="wrong")),
    # V/sign_in, V/token
    (207, "oauth2/v2.0/initiate", having(error="another"), lambda app: app.sign_in("nobody@fabrikam.example")),
    (94, "oauth2/v2.0/token", having(error="another"), lambda app: app.sign_in(PERSON, "wrong")),
    (94, "oauth2/v2.0/token", having(error_codes=[1, 50126]), lambda app: app.sign_in(PERSON, "wrong")),
    (94, "oauth2/v2.0/token", without("suberror"), lambda app: app.sign_in("mailed@fabrikam.example", OWN)),
    # V/reset_password
    (81, "resetpassword/v1.0/start", having(error_codes=[1, 500222]), lambda app: app.reset("coder@fabrikam.example")),
    (92, "resetpassword/v1.0/start", having(error="another"), lambda app: app.reset("nobody@fabrikam.example")),
    (195, "resetpassword/v1.0/continue", without("suberror"), lambda app: app.submit_reset_code(app.reset("resetter@fabrikam.example"), "wrong")),
]


def first_method(app, call, name):
    """The state after a call with the first second factor of a person."""
    state = app.sign_in(f"{name}@fabrikam.example", OWN)
    return call(state, state.values["methods"][0])


# The same of errors after which the app keeps a state.
KEPT = [
    # V/token, V/sign_in, V/jit
    (94, "oauth2/v2.0/token", having(suberror="another", error_codes=[]), lambda app: app.submit_code(app.sign_in("coder@fabrikam.example"), "wrong"),
     "SignInCodeRequiredState"),
    (173, "oauth2/v2.0/challenge", without("suberror"), lambda app: first_method(app, app.request_challenge, "blocked"), "MFARequiredState"),
    (170, "register/v1.0/challenge", without("suberror"), lambda app: first_method(
        app, lambda *chosen: app.challenge_method(*chosen, "a@b.example"), "unlisted"), "RegisterStrongAuthState"),
    (170, "register/v1.0/challenge", having(error_codes=[901002]), lambda app: first_method(
        app, lambda *chosen: app.challenge_method(*chosen, "no address"), "unlisted"), "RegisterStrongAuthState"),
]


@test("an error without the words and numbers by which the validators tell it is a general one")
def broken_errors(tenant):
    for line, path, edit, call, name in KEPT:
        state = call(breaking(tenant, path, edit))
        assert (state.name, state.error) == (name, GENERAL), (line, path, state)
    for line, path, edit, call in ERRORS:
        state = call(breaking(tenant, path, edit, COLLECTING))
        assert (state.name, state.error) == ("error", GENERAL), (line, path, state)
    # V/sign_up:255, V/reset_password:246
    name = newcomer()
    app = breaking(tenant, "signup/v1.0/continue", without("invalid_attributes"), COLLECTING)
    state = app.continue_sign_up(app.sign_up(name, NEW), grant_type="oob", oob=code(tenant, name))
    expect(app.continue_sign_up(state, grant_type="attributes", attributes='{"age": "old"}'), "error", GENERAL)
    app, name = breaking(tenant, "resetpassword/v1.0/submit", without("suberror")), "resetter@fabrikam.example"
    state = app.submit_reset_code(app.reset(name), code(tenant, name))
    expect(app.submit_new_password(state, "Short-1"), "error", GENERAL)
    # MSIDAADRequestErrorHandler: with another status nothing is decoded.
    session = tenant.session()
    session.mount("https://", Change("/start", lambda answer: setattr(answer, "status_code", 403)))
    app = application(tenant, session=session)
    for state in (app.sign_up(PERSON), app.reset("nobody@fabrikam.example")):
        expect(state, "error", GENERAL)


# The path whose first answers have this status, how many of them, the state after it, and how often MSAL tried again.
STATUSES = [
    ("oauth2/v2.0/initiate", 503, 1, "SignInPasswordRequiredState", 1),
    ("oauth2/v2.0/initiate", 503, 2, "error", 1),
    ("oauth2/v2.0/initiate", 429, 1, "error", 0),
    ("oauth2/v2.0/initiate", 403, 1, "error", 0),
    # The tenant has taken the step, whose token MSAL sends again.
    ("oauth2/v2.0/challenge", 504, 1, "error", 1),
]
# The settings at /control, the state after the password, and how often MSAL tried again.
AT_TOKEN = [
    ({"token_error": {"status": 503, "times": 1}}, "signed in", 1),
    ({"token_error": {"status": 503, "times": 2}}, "SignInPasswordRequiredState", 1),
    ({"token_error": {"status": 429, "times": 1}}, "SignInPasswordRequiredState", 0),
    ({"close_connection": "token"}, "signed in", 1),
    ({"rules": [{"close_connection": "token", "times": 2}]}, "SignInPasswordRequiredState", 1),
    # The password was right, and its token is spent.
    ({"lost_token_answer": True}, "SignInPasswordRequiredState", 1),
]


@test("a 5xx and a lost connection are tried once more, with the same token, and no other status is")
def tried_again(tenant):
    for path, status, times, name, retries in STATUSES:
        session, left = tenant.session(), [status] * times
        session.mount("https://", Change(path, lambda answer, left=left: setattr(answer, "status_code", left.pop() if left else answer.status_code)))
        app = application(tenant, session=session)
        expect(app.sign_in(PERSON), name, GENERAL if name == "error" else None)
        assert app.http.retries == retries, (path, status, app.http.retries)
    for settings, name, retries in AT_TOKEN:
        app = application(tenant)
        state = app.sign_in(PERSON)
        tenant.control(**settings)
        expect(app.submit_password(state, PASSWORD), name, GENERAL if name != "signed in" else None)
        assert app.http.retries == retries, (settings, app.http.retries)
        tenant.control(reset=True)


@test("tokens that are replayed, swapped or guessed, and a sixth guess of a code, get nothing")
def attacked(tenant):
    app, other = application(tenant), application(tenant, CODES)
    first = app.sign_in(PERSON)
    expect(app.submit_password(first, PASSWORD), "signed in", at=tenant)
    expect(app.submit_password(first, PASSWORD), "SignInPasswordRequiredState", GENERAL, at=tenant)
    swapped = app.sign_in(PERSON)
    other.username, other.scopes = PERSON, "openid"
    expect(other.submit_password(swapped, PASSWORD), "SignInPasswordRequiredState", GENERAL, at=tenant)
    expect(app.continue_sign_up(swapped, grant_type="oob", oob="1"), "error", GENERAL, at=tenant)
    app.username = "mailed@fabrikam.example"
    expect(app.submit_password(swapped, OWN), "SignInPasswordRequiredState", GENERAL, at=tenant)
    app.username = PERSON
    expect(app.submit_password(swapped, PASSWORD), "signed in", at=tenant)
    state = app.sign_in("coder@fabrikam.example")
    right = code(tenant, "coder@fabrikam.example")
    wrong = "00000000" if right != "00000000" else "00000001"
    for _ in range(5):
        expect(app.submit_code(state, wrong), "SignInCodeRequiredState", "invalidCode", at=tenant)
    expect(app.submit_code(state, right), "SignInCodeRequiredState", GENERAL, at=tenant)
    text = tenant.log.read_text(errors="replace")
    assert right not in text and wrong not in text, "a code is in the log"
