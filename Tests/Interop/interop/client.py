"""Microsoft's msal for Python as a client of the demo tenant, which stands behind TLS: msal wants https."""

import html
import json
import os
import re
import subprocess
import time
import urllib.parse
from contextlib import contextmanager

import msal
import requests
from suite.registry import registry
from suite.server import Server, free_pair_of_ports

tests, test = registry("msal")

CLIENT_ID = "5d1f0a52-3c5e-4a8e-9d5c-0c0a3f1e7b10"
ADELE = "adele@contoso.example"
NGINX = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; worker_processes 1;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{
    listen 127.0.0.1:{port} ssl; ssl_certificate {folder}/leaf.pem; ssl_certificate_key {folder}/leaf.key;
    location / {{
      proxy_pass {tenant}; proxy_set_header Host $http_host; proxy_set_header Accept-Encoding "";
      # The tenant knows itself by its own address; to the client it is the one in front.
      sub_filter_types application/json; sub_filter_once off; sub_filter '{tenant}' 'https://localhost:{port}';
    }}
  }}
}}
"""


class Context:
    def __init__(self, server, origin, authority_file):
        self.server, self.origin, self.certificates = server, origin, authority_file
        self.redirect_uri = server.origin + "/auth/callback"
        self.secret = server.demo_secret

    def situation(self):
        return self.server.log_tail(10)

    def session(self):
        session = requests.Session()
        session.verify, session.trust_env = str(self.certificates), False
        return session

    def application(self, authority="/common", secret=None, **more):
        return msal.ConfidentialClientApplication(
            CLIENT_ID, client_credential=secret or self.secret, authority=self.origin + authority, instance_discovery=False,
            http_client=self.session(), **more)

    def sign_in(self, application, scopes, username=ADELE, consent="accept", **more):
        """The code flow, through the tenant's plain forms; answers msal's result."""
        flow = application.initiate_auth_code_flow(scopes, redirect_uri=self.redirect_uri, **more)
        browser = self.session()
        page = browser.get(flow["auth_uri"], allow_redirects=False)
        for _ in range(10):
            if page.is_redirect:
                location = page.headers["Location"]
                if location.startswith(self.redirect_uri):
                    answer = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(location).query))
                    return application.acquire_token_by_auth_code_flow(flow, answer)
                page = browser.get(urllib.parse.urljoin(page.url, location), allow_redirects=False)
                continue
            form = re.search(r'<form method="post" action="([^"]*)"(.*?)</form>', page.text, re.S)
            assert form, f"{page.status_code}: {re.sub('<[^>]+>', ' ', page.text)[:400]}"
            fields = {name: html.unescape(value) for name, value in re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form[2])}
            for name, value in (("password", "demo"), ("consent", consent), ("second_factor", "approve"), ("username", username)):
                if f'name="{name}"' in page.text:
                    fields[name] = value
                    break
            page = browser.post(urllib.parse.urljoin(page.url, form[1]), data=fields, allow_redirects=False)
        raise AssertionError("the sign-in goes round in circles")


@contextmanager
def environment(binary, root, folder):
    secret = "the-secret-of-the-demo"
    server = Server(binary, root / "Public", folder, {"COMPANION_DEMO_CLIENT_SECRET": secret})
    server.demo_secret = secret
    port = free_pair_of_ports()
    openssl = lambda *arguments: subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=Test authority", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", "leaf.key", "-out", "leaf.csr")
    (folder / "extensions").write_text("subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n")
    openssl("x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "extensions", "-out", "leaf.pem")
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port, tenant=server.tenant))
    nginx = None
    try:
        server.start()
        nginx = subprocess.Popen(["/usr/sbin/nginx", "-p", folder, "-c", folder / "nginx.conf"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        context = Context(server, f"https://localhost:{port}", folder / "ca.pem")
        for _ in range(100):
            try:
                context.session().get(context.origin + "/control", timeout=2)
                break
            except requests.ConnectionError:
                time.sleep(0.05)
        yield context
    finally:
        if nginx:
            nginx.terminate()
            nginx.wait(10)
        server.stop()


@test("code flow with PKCE, then silent from its cache, then a refresh")
def journey(context):
    context.server.reset()
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
    me = context.session().get(context.origin + "/v1.0/me", headers={"Authorization": "Bearer " + refreshed["access_token"]})
    assert me.json()["userPrincipalName"] == ADELE, me.text
    application.remove_account(account)
    assert application.get_accounts() == [] and application.acquire_token_silent(["User.Read"], account) is None


@test("a claims challenge of Graph is met with claims_challenge")
def claims_challenge(context):
    context.server.reset()
    application = context.application(client_capabilities=["cp1"])
    token = context.sign_in(application, ["User.Read"])["access_token"]
    context.server.control(claims_challenge=True)
    graph = lambda token: context.session().get(context.origin + "/v1.0/me", headers={"Authorization": "Bearer " + token})
    refused = graph(token)
    assert refused.status_code == 401, refused.status_code
    import base64
    claims = base64.b64decode(re.search(r'claims="([^"]+)"', refused.headers["WWW-Authenticate"])[1]).decode()
    account, = application.get_accounts()
    renewed = application.acquire_token_silent(["User.Read"], account, claims_challenge=claims)
    assert graph(renewed["access_token"]).status_code == 200, renewed


@test("a second factor is asked by its error, with the claims for the next sign-in")
def second_factor(context):
    context.server.reset()
    application = context.application()
    assert "access_token" in context.sign_in(application, ["User.Read"])
    context.server.control(require_mfa=ADELE)
    account, = application.get_accounts()
    error = application.acquire_token_silent_with_error(["User.Read"], account, force_refresh=True)
    assert error["error"] == "interaction_required" and 50076 in error["error_codes"], error
    result = context.sign_in(application, ["User.Read"], claims_challenge=error["claims"])
    assert "access_token" in result, result


@test("what is refused comes with the platform's codes")
def errors(context):
    context.server.reset()
    wrong = context.sign_in(context.application(secret="wrong"), ["User.Read"])
    assert wrong["error"] == "invalid_client" and 7000215 in wrong["error_codes"], wrong
    declined = context.sign_in(context.application(), ["Mail.Read"], consent="cancel")
    assert declined["error"] == "access_denied" and "AADSTS65004" in declined["error_description"], declined
    application = context.application()
    context.sign_in(application, ["User.Read"])
    account, = application.get_accounts()
    more = application.acquire_token_silent_with_error(["Calendars.Read"], account)
    assert more["error"] == "invalid_grant" and more["suberror"] == "consent_required", more
    context.server.control(revoke=ADELE)
    revoked = application.acquire_token_silent_with_error(["User.Read"], account, force_refresh=True)
    assert revoked["error"] == "invalid_grant" and 50173 in revoked["error_codes"], revoked


@test("one tenant, an external tenant and a guest of another")
def authorities(context):
    context.server.reset()
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
    context.server.reset()
    scope = "https://fabrikamb2c.example/api/demo.read"
    application = context.application("/tfp/fabrikamb2c.example/b2c_1_susi")
    result = context.sign_in(application, [scope], username="b2cuser@fabrikamb2c.example")
    assert "access_token" in result and result["id_token_claims"]["tfp"] == "b2c_1_susi", result
    account, = application.get_accounts()
    assert "-b2c_1_susi." in account["home_account_id"], account
    assert application.acquire_token_silent([scope], account, force_refresh=True)["token_source"] == "identity_provider"
