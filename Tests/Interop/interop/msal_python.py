"""Microsoft's msal for Python at `companion tenant`: a web application with a secret, and a program without one."""

import base64
import json
import re
from contextlib import contextmanager

import msal
from suite.registry import registry

from .tenant import ADELE, ROLES, SECRET, WEB_URI, approve, browsing, query, running, sign_in

tests, test = registry("msal")


class Context:
    def __init__(self, tenant):
        self.tenant = tenant
        self.situation, self.session = tenant.situation, tenant.session

    def application(self, authority="/common", secret=SECRET, **more):
        return msal.ConfidentialClientApplication(
            self.tenant.web_id, client_credential=secret, authority=self.tenant.origin + authority, instance_discovery=False,
            http_client=self.session(), **more)

    def sign_in(self, application, scopes, username=ADELE, consent="accept", redirect_uri=WEB_URI, **more):
        """The code flow; returns msal's result."""
        flow = application.initiate_auth_code_flow(scopes, redirect_uri=redirect_uri, **more)
        back = sign_in(self.session(), flow["auth_uri"], redirect_uri, username, consent)
        return application.acquire_token_by_auth_code_flow(flow, query(back))

    def program(self, authority="/common", client_id=None):
        """A program without a secret."""
        return msal.PublicClientApplication(
            client_id or self.tenant.native_id, authority=self.tenant.origin + authority, instance_discovery=False, http_client=self.session())

    @staticmethod
    def claims(token):
        return json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))

    def graph(self, token):
        return self.session().get(self.tenant.said["graph"], headers={"Authorization": "Bearer " + token})


@contextmanager
def environment(binary, root, folder):
    with running(binary, root / "Public", folder) as tenant:
        yield Context(tenant)


@test("code flow with PKCE, then silent from its cache, then a refresh")
def journey(context):
    context.tenant.reset()
    application = context.application()
    result = context.sign_in(application, ["User.Read"])
    assert "access_token" in result, result
    assert result["id_token_claims"]["preferred_username"] == ADELE, result["id_token_claims"]
    account, = application.get_accounts()
    assert account["username"] == ADELE and account["home_account_id"].count(".") == 1, account
    silent = application.acquire_token_silent(["User.Read"], account)
    assert silent["token_source"] == "cache" and silent["access_token"] == result["access_token"], silent["token_source"]
    refreshed = application.acquire_token_silent(["User.Read"], account, force_refresh=True)
    assert refreshed["token_source"] == "identity_provider" and refreshed["access_token"] != result["access_token"]
    me = context.graph(refreshed["access_token"])
    assert me.json()["userPrincipalName"] == ADELE, me.text
    application.remove_account(account)
    assert application.get_accounts() == [] and application.acquire_token_silent(["User.Read"], account) is None


@test("a claims challenge of Graph is met with claims_challenge")
def claims_challenge(context):
    context.tenant.reset()
    application = context.application(client_capabilities=["cp1"])
    token = context.sign_in(application, ["User.Read"])["access_token"]
    context.tenant.control(claims_challenge=True)
    refused = context.graph(token)
    assert refused.status_code == 401, refused.status_code
    claims = base64.b64decode(re.search(r'claims="([^"]+)"', refused.headers["WWW-Authenticate"])[1]).decode()
    account, = application.get_accounts()
    renewed = application.acquire_token_silent(["User.Read"], account, claims_challenge=claims)
    assert context.graph(renewed["access_token"]).status_code == 200, renewed


@test("a second factor is asked by its error, with the claims for the next sign-in")
def second_factor(context):
    context.tenant.reset()
    application = context.application()
    assert "access_token" in context.sign_in(application, ["User.Read"])
    context.tenant.control(require_mfa=ADELE)
    account, = application.get_accounts()
    error = application.acquire_token_silent_with_error(["User.Read"], account, force_refresh=True)
    assert error["error"] == "invalid_grant" and error["suberror"] == "basic_action" and 50076 in error["error_codes"], error
    result = context.sign_in(application, ["User.Read"], claims_challenge=error["claims"])
    assert "access_token" in result, result


@test("an authentication context that an API demands is not met silently, and is met by the next sign-in")
def authentication_context(context):
    context.tenant.reset()
    application, scopes = context.application(client_capabilities=["cp1"]), ["api://payroll.contoso.example/payslips.read"]

    def payroll(token):
        return context.session().get(context.tenant.origin + "/api/payroll", headers={"Authorization": "Bearer " + token})

    refused = payroll(context.sign_in(application, scopes)["access_token"])
    assert refused.status_code == 401 and 'cc_type="authcontext"' in refused.headers["WWW-Authenticate"], refused.headers
    claims = base64.b64decode(re.search(r'claims="([^"]+)"', refused.headers["WWW-Authenticate"])[1]).decode()
    account, = application.get_accounts()
    error = application.acquire_token_silent_with_error(scopes, account, claims_challenge=claims)
    assert error["error"] == "invalid_grant" and error["suberror"] == "basic_action" and 50076 in error["error_codes"], error
    result = context.sign_in(application, scopes, claims_challenge=error["claims"])
    assert payroll(result["access_token"]).status_code == 200, result


@test("what is refused comes with the platform's codes")
def errors(context):
    context.tenant.reset()
    wrong = context.sign_in(context.application(secret="wrong"), ["User.Read"])
    assert wrong["error"] == "invalid_client" and 7000215 in wrong["error_codes"], wrong
    declined = context.sign_in(context.application(), ["Mail.Read"], consent="cancel")
    assert declined["error"] == "access_denied" and "AADSTS65004" in declined["error_description"], declined
    application = context.application()
    context.sign_in(application, ["User.Read"])
    account, = application.get_accounts()
    more = application.acquire_token_silent_with_error(["Calendars.Read"], account)
    assert more["error"] == "invalid_grant" and more["suberror"] == "consent_required", more
    context.tenant.control(revoke=ADELE)
    revoked = application.acquire_token_silent_with_error(["User.Read"], account, force_refresh=True)
    assert revoked["error"] == "invalid_grant" and 50173 in revoked["error_codes"], revoked


@test("one tenant, an external tenant and a guest of another")
def authorities(context):
    context.tenant.reset()
    for authority, username, scope in (
        ("/contoso.example", ADELE, "User.Read"), ("/tailspin.example", ADELE, "User.Read"),
        ("/fabrikam.example", "customer@fabrikam.example", "api://fabrikam.example/tasks.read"),
    ):
        application = context.application(authority)
        result = context.sign_in(application, [scope], username=username)
        assert "access_token" in result, (authority, result)
        account, = application.get_accounts()
        assert application.acquire_token_silent([scope], account)["token_source"] == "cache", authority


@test("a B2C user flow, whose expires_in is a text")
def user_flow(context):
    context.tenant.reset()
    scope = "https://fabrikamb2c.example/api/demo.read"
    application = context.application("/tfp/fabrikamb2c.example/b2c_1_susi")
    result = context.sign_in(application, [scope], username="b2cuser@fabrikamb2c.example")
    assert "access_token" in result and result["id_token_claims"]["tfp"] == "B2C_1_susi", result
    account, = application.get_accounts()
    assert "-b2c_1_susi." in account["home_account_id"], account
    assert application.acquire_token_silent([scope], account, force_refresh=True)["token_source"] == "identity_provider"


@test("a program without a secret signs in with the system's browser at any port of localhost, and renews silently")
def interactive(context):
    context.tenant.reset()
    application = context.program()
    with browsing(context.session()):
        result = application.acquire_token_interactive(["User.Read"], timeout=30)
    assert "access_token" in result, result
    account, = application.get_accounts()
    renewed = application.acquire_token_silent(["User.Read"], account, force_refresh=True)
    assert context.graph(renewed["access_token"]).status_code == 200, renewed


@test("an application signs in as itself with its secret, for Graph, where it has its roles, but no /me; the token is kept")
def client_credentials(context):
    context.tenant.reset()
    application, scopes = context.application("/contoso.example"), ["https://graph.microsoft.com/.default"]
    result = application.acquire_token_for_client(scopes)
    assert "access_token" in result and "refresh_token" not in result and "id_token" not in result, result
    claims = context.claims(result["access_token"])
    assert sorted(claims["roles"]) == ROLES and claims["sub"] == claims["oid"] and "scp" not in claims, claims
    assert application.acquire_token_for_client(scopes)["token_source"] == "cache" and application.get_accounts() == []
    for authority, secret, scope, number in (
        ("/contoso.example", "wrong", scopes[0], 7000215), ("/contoso.example", SECRET, "User.Read", 1002012),
        ("/contoso.example", SECRET, "api://nothing/.default", 500011), ("/common", SECRET, scopes[0], 9001023),
    ):
        error = context.application(authority, secret).acquire_token_for_client([scope])
        assert error["error_codes"] == [number], error
    refused = context.graph(result["access_token"])
    assert refused.status_code == 400 and "delegated" in refused.json()["error"]["message"], refused.text


def once(flow):
    """The condition with which msal polls one time alone."""
    return True


@test("a program signs in by a device code: it waits, gets its tokens once, and renews them silently; in each kind of tenant that has it")
def device_code(context):
    context.tenant.reset()
    for authority, username, scope in (
        ("/common", ADELE, "User.Read"), ("/contoso.example", "megan@contoso.example", "User.Read"), ("/consumers", "alex@outlook.example", "User.Read"),
        ("/fabrikam.example", "customer@fabrikam.example", "api://fabrikam.example/tasks.read"),
    ):
        application = context.program(authority)
        flow = application.initiate_device_flow([scope])
        assert flow["user_code"] in flow["message"] and flow["verification_uri"] in flow["message"], flow
        waiting = application.acquire_token_by_device_flow(flow, exit_condition=once)
        assert waiting["error"] == "authorization_pending" and waiting["error_codes"] == [70016], waiting
        end = approve(context.session(), flow["verification_uri"], flow["user_code"], username)
        assert "You can close this page." in end, end
        result = application.acquire_token_by_device_flow(flow, exit_condition=once)
        assert result["id_token_claims"]["preferred_username"] == username, result
        account, = application.get_accounts()
        renewed = application.acquire_token_silent([scope], account, force_refresh=True)
        assert renewed["token_source"] == "identity_provider", renewed
        again = application.acquire_token_by_device_flow(flow, exit_condition=once)
        assert again["error"] == "invalid_grant" and again["error_codes"] == [54005], again


@test("a device code that is declined or made up, or of an application that has a secret, is refused by its error")
def device_code_refused(context):
    context.tenant.reset()
    application = context.program()
    flow = application.initiate_device_flow(["User.Read"])
    end = approve(context.session(), flow["verification_uri"], flow["user_code"], confirm="cancel")
    assert "You are not signed in" in end, end
    for code, error in ((flow["device_code"], "authorization_declined"), ("made-up", "bad_verification_code")):
        refused = application.acquire_token_by_device_flow(flow | {"device_code": code}, exit_condition=once)
        assert refused["error"] == error, refused
    application = context.program(client_id=context.tenant.web_id)
    flow = application.initiate_device_flow(["User.Read"])
    approve(context.session(), flow["verification_uri"], flow["user_code"])
    refused = application.acquire_token_by_device_flow(flow, exit_condition=once)
    assert refused["error"] == "invalid_client" and refused["error_codes"] == [7000218], refused
    context.tenant.control(token_error={"status": 400, "body": {"error": "slow_down"}, "times": 1})
    assert "error" in application.initiate_device_flow(["User.Read"])
