"""Examples of native authentication: a fresh person signs up, and each error comes on demand. An app with MSALNativeAuth sends these
requests itself; beside a test of its screens, `newcomer`, `code` and `fail` are enough."""

import uuid

import pytest
import requests

CLIENT_ID = "7f1c5d0e-2b96-4a83-9e47-d05b8c3f6a12"  # the application Native authentication, or one of your file
CUSTOMER = "customer@fabrikam.example"
PASSWORD = "Vinter-2027"


def newcomer():
    """The address of a person whom nobody knows yet, so that nothing has to be cleaned up."""
    return f"{uuid.uuid4()}@customer.example"


def message(tenant, address, after=0):
    """The newest message to an address after an earlier one, as soon as it is there. From another machine the outbox needs the control
    token: headers={"Authorization": "Bearer …"}."""
    answer = requests.get(f"{tenant.base_url}/outbox", params={"to": address, "after": after, "wait": 30}, timeout=40)
    return answer.json()["messages"][0]


def code(tenant, address):
    return message(tenant, address)["code"]


def seen(tenant):
    """MSAL's view of the newest answer: the delegate's methods that it calls, and the error's properties that are true."""
    clients = requests.get(f"{tenant.base_url}/clients", timeout=30).json()["clients"]
    newest = max((request for client in clients for request in client["requests"]), key=lambda request: request["position"])
    return {name for each in newest["native"]["msal"] for name in [each["property"], *each["methods"]]}


class App:
    """An app, which sends each request with the newest continuation token."""

    def __init__(self, tenant):
        self.tenant, self.token = tenant, None

    def send(self, path, **fields):
        fields = {"client_id": CLIENT_ID, "continuation_token": self.token} | fields
        answer = requests.post(f"{self.tenant.base_url}/fabrikam.example/{path}", data=fields, timeout=30).json()
        self.token = answer.get("continuation_token", self.token)
        return answer

    def ask(self, path, **fields):
        """Begins a flow, or asks for the next challenge."""
        return self.send(path, challenge_type="oob password redirect", capabilities="mfa_required registration_required", **fields)

    def tokens(self, grant_type, **fields):
        return self.send("oauth2/v2.0/token", grant_type=grant_type, scope="openid profile offline_access", client_info="true", **fields)

    def start_sign_up(self, address):
        """Begins a sign-up, up to the request for the code."""
        self.ask("signup/v1.0/start", username=address)
        self.ask("signup/v1.0/challenge")

    def sign_up(self, address):
        """Signs a person up, and in."""
        self.start_sign_up(address)
        self.send("signup/v1.0/continue", grant_type="oob", oob=code(self.tenant, address))
        self.ask("signup/v1.0/challenge")
        self.send("signup/v1.0/continue", grant_type="password", password=PASSWORD)
        return self.tokens("continuation_token")

    def sign_in(self, address, password):
        self.token = None
        self.ask("oauth2/v2.0/initiate", username=address)
        self.ask("oauth2/v2.0/challenge")
        return self.tokens("password", username=address, password=password)


@pytest.fixture
def app(tenant):
    return App(tenant)


def test_a_fresh_person_signs_up_and_in(app):
    address = newcomer()
    assert app.sign_up(address)["access_token"]
    assert app.sign_in(address, PASSWORD)["access_token"]


def test_a_password_is_reset(app, tenant):
    address = newcomer()
    app.sign_up(address)
    app.token = None
    app.ask("resetpassword/v1.0/start", username=address)
    app.ask("resetpassword/v1.0/challenge")
    app.send("resetpassword/v1.0/continue", grant_type="oob", oob=code(tenant, address))
    submitted = app.send("resetpassword/v1.0/submit", new_password="Sommar-2027")
    assert submitted["poll_interval"] == 2, submitted
    assert app.sign_in(address, PASSWORD)["error_codes"] == [50126]
    assert app.sign_in(address, "Sommar-2027")["access_token"]


def test_a_second_factor_is_demanded(app, tenant):
    tenant.control(require_mfa=CUSTOMER)
    assert app.sign_in(CUSTOMER, "demo")["suberror"] == "mfa_required"
    method = app.send("oauth2/v2.0/introspect")["methods"][0]
    app.ask("oauth2/v2.0/challenge", id=method["id"])
    assert app.tokens("mfa_oob", oob=code(tenant, CUSTOMER))["access_token"]


def test_after_a_resend_only_the_newer_code_counts(app, tenant):
    address = newcomer()
    app.start_sign_up(address)
    old = message(tenant, address)
    app.ask("signup/v1.0/challenge")
    new = message(tenant, address, after=old["id"])
    assert app.send("signup/v1.0/continue", grant_type="oob", oob=old["code"])["suberror"] == "invalid_oob_value"
    assert app.send("signup/v1.0/continue", grant_type="oob", oob=new["code"])["error"] == "credential_required"


def test_a_rule_meets_one_newcomer_alone(app, tenant):
    address = newcomer()
    tenant.fail(user=address, times=1, native_failure={"endpoint": "signup/v1.0/start", "error": "user_already_exists"})
    assert app.ask("signup/v1.0/start", username=newcomer())["continuation_token"]
    app.token = None
    assert app.ask("signup/v1.0/start", username=address)["error"] == "user_already_exists"
    assert app.ask("signup/v1.0/start", username=address)["continuation_token"]


def test_the_silent_request_fails_once_on_demand(app, tenant):
    refresh_token = app.sign_in(CUSTOMER, "demo")["refresh_token"]
    app.token = None
    tenant.fail(user=CUSTOMER, times=1, native_failure={"endpoint": "oauth2/v2.0/token", "error": "expired_refresh_token"})
    assert app.tokens("refresh_token", refresh_token=refresh_token)["error"] == "expired_refresh_token"
    assert "onAccessTokenRetrieveError" in seen(tenant)
    assert app.tokens("refresh_token", refresh_token=refresh_token)["access_token"]


def error(name, path, error, suberror=None, number=None, **fields):
    """A row: what the app sees, and the failure that brings it. The fields are those of the call in which MSAL tells the error."""
    failure = {"endpoint": path, "error": error, "suberror": suberror, "code": number}
    words = (name, path, error, suberror, fields.get("grant_type"), fields.get("id"))
    return pytest.param(name, path, failure, fields, id=" ".join(filter(None, words)))


OOB = {"grant_type": "oob", "oob": "-"}
PASSWORDS = {"grant_type": "password", "password": "-"}
# Each endpoint, with the call of the delegate that has its errors.
ENDPOINTS = [
    ("onSignInStartError", "oauth2/v2.0/initiate", {}), ("onSignInStartError", "oauth2/v2.0/challenge", {}),
    ("onMFARequestChallengeError", "oauth2/v2.0/challenge", {"id": "1"}), ("onSignInStartError", "oauth2/v2.0/introspect", {}),
    ("onSignInPasswordRequiredError", "oauth2/v2.0/token", PASSWORDS), ("onSignInVerifyCodeError", "oauth2/v2.0/token", OOB),
    ("onMFASubmitChallengeError", "oauth2/v2.0/token", OOB | {"grant_type": "mfa_oob"}),
    ("onSignInAfterSignUpError", "oauth2/v2.0/token", {"grant_type": "continuation_token"}),
    ("onSignUpStartError", "signup/v1.0/start", {}), ("onSignUpStartError", "signup/v1.0/challenge", {}),
    ("onSignUpVerifyCodeError", "signup/v1.0/continue", OOB), ("onSignUpPasswordRequiredError", "signup/v1.0/continue", PASSWORDS),
    ("onSignUpAttributesRequiredError", "signup/v1.0/continue", {"grant_type": "attributes"}),
    ("onResetPasswordStartError", "resetpassword/v1.0/start", {}), ("onResetPasswordStartError", "resetpassword/v1.0/challenge", {}),
    ("onResetPasswordVerifyCodeError", "resetpassword/v1.0/continue", OOB), ("onResetPasswordRequiredError", "resetpassword/v1.0/submit", {}),
    ("onResetPasswordRequiredError", "resetpassword/v1.0/poll_completion", {}),
    ("onSignInStartError", "register/v1.0/introspect", {}), ("onRegisterStrongAuthChallengeError", "register/v1.0/challenge", {}),
    ("onRegisterStrongAuthSubmitChallengeError", "register/v1.0/continue", OOB),
]
SUBERRORS = ("password_too_short", "password_too_long", "password_is_invalid", "password_banned", "password_recently_used", "password_too_weak")
ERRORS = [
    error("isUserNotFound", "oauth2/v2.0/initiate", "user_not_found", number=50034),
    error("isUserNotFound", "oauth2/v2.0/token", "invalid_grant", number=50034, **PASSWORDS),
    error("isUserNotFound", "oauth2/v2.0/token", "user_not_found", **PASSWORDS),
    error("isInvalidCredentials", "oauth2/v2.0/token", "invalid_grant", number=50126, **PASSWORDS),
    error("isInvalidPassword", "oauth2/v2.0/token", "invalid_grant", number=50126, **PASSWORDS),
    error("isInvalidCode", "oauth2/v2.0/token", "invalid_grant", "invalid_oob_value", **OOB),
    error("isInvalidChallenge", "oauth2/v2.0/token", "invalid_grant", "invalid_oob_value", grant_type="mfa_oob", oob="-"),
    error("isAuthMethodBlocked", "oauth2/v2.0/challenge", "access_denied", "provider_blocked_by_rep", id="1"),
    error("isUserAlreadyExists", "signup/v1.0/start", "user_already_exists", number=1003037),
    error("isInvalidUsername", "signup/v1.0/start", "invalid_request", number=90100),
    error("onSignUpAttributesInvalid", "signup/v1.0/start", "invalid_grant", "attribute_validation_failed"),
    error("isInvalidCode", "signup/v1.0/continue", "invalid_grant", "invalid_oob_value", **OOB),
    error("onSignUpAttributesInvalid", "signup/v1.0/continue", "invalid_grant", "attribute_validation_failed", grant_type="attributes"),
    error("isUserNotFound", "resetpassword/v1.0/start", "user_not_found", number=50034),
    error("isUserDoesNotHavePassword", "resetpassword/v1.0/start", "invalid_request", number=500222),
    error("isInvalidCode", "resetpassword/v1.0/continue", "invalid_grant", "invalid_oob_value", **OOB),
    error("onResetPasswordRequiredError", "resetpassword/v1.0/poll_completion", "failed"),
    error("isVerificationContactBlocked", "register/v1.0/challenge", "access_denied", "provider_blocked_by_rep"),
    error("isInvalidInput", "register/v1.0/challenge", "invalid_request", number=901001),
    error("isInvalidChallenge", "register/v1.0/continue", "invalid_grant", "invalid_oob_value", **OOB),
    *(error("isInvalidPassword", path, "invalid_grant", suberror, **PASSWORDS)
      for path in ("signup/v1.0/start", "signup/v1.0/continue", "resetpassword/v1.0/submit", "resetpassword/v1.0/poll_completion")
      for suberror in SUBERRORS),
    # A general error of each call, and the way to the browser.
    *(error(name, path, "expired_token", number=552003, **fields) for name, path, fields in ENDPOINTS),
    *(error("isBrowserRequired", path, "redirect", **fields) for _, path, fields in ENDPOINTS),
]


@pytest.mark.parametrize(("name", "path", "failure", "fields"), ERRORS)
def test_each_error_comes_once_on_demand(app, tenant, name, path, failure, fields):
    # The token that stands for one of a flow says nobody's name, so the rule is for the application alone.
    tenant.fail(client=CLIENT_ID, times=1, native_failure=failure)
    # The token endpoint knows native authentication by the continuation token.
    app.token = "-" if path == "oauth2/v2.0/token" else None
    answer = app.ask(path, username=CUSTOMER, **fields)
    assert (answer.get("error") or answer.get("challenge_type") or answer["status"]) == failure["error"], answer
    assert name in seen(tenant)
    assert tenant.control()["rules"] == [], "the rule has ended"
