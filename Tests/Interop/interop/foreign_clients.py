"""Clients of `companion tenant` that few machines have, or whose dependencies are many.

JupyterHub's authenticator, Flask-AppBuilder, and the programs rclone and oidc-agent.
"""

import asyncio
import base64
import json
import logging
import os
import pathlib
import re
import signal
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import flask
import flask_appbuilder.security.manager as security
import jwt
import requests
from flask_appbuilder import AppBuilder
from flask_appbuilder.security.manager import AUTH_OAUTH
from flask_appbuilder.utils.legacy import get_sqla_class
from oauthenticator.azuread import AzureAdOAuthenticator
from oauthenticator.oauth2 import OAuthCallbackHandler, OAuthLoginHandler
from patience import SECONDS, until
from suite.registry import registry
from traitlets.config import Config

from .tenant import SECRET, Tenant, approve, query, sign_in

tests, test = registry("clients")

ORGANIZATION = "5c7d0b28-bdf8-410c-aa93-4df372b16203"
ADA = "ada@contoso.example"
SITE = "http://localhost:8080"
HUB_URI, BUILDER_URI = SITE + "/hub/oauth_callback", SITE + "/oauth-authorized/azure"
# rclone has one address for all.
RCLONE_URI = "http://localhost:53682/"
# Those that oidc-agent proposes, of which it takes the first that is free.
AGENT_URIS = ("http://localhost:8080", "http://localhost:4242", "http://localhost:43985")
logging.getLogger("flask_appbuilder").setLevel(logging.ERROR)


@contextmanager
def environment(binary, root, folder):
    more = {"app_roles": ["Site.Editor"], "group_claims": "security"}
    users = [{"username": ADA, "password": "demo", "display_name": "Ada King", "groups": ["Staff"], "roles": {"Web": ["Site.Editor"]}}]
    addresses = (HUB_URI, BUILDER_URI, RCLONE_URI, *AGENT_URIS)
    tenant, usual = Tenant(binary, root / "Public", folder, addresses, more, {"users": users}), dict(os.environ)
    try:
        tenant.start()
        os.environ |= {"REQUESTS_CA_BUNDLE": tenant.root, "SSL_CERT_FILE": tenant.root}
        yield tenant
    finally:
        os.environ.clear()
        os.environ.update(usual)
        tenant.stop()


class Login(OAuthLoginHandler):
    """JupyterHub's page that begins a sign-in, without the hub around it."""

    authenticator = log = cookie = address = None

    def __init__(self, authenticator):
        self.authenticator, self.log = authenticator, authenticator.log

    def get_argument(self, name, default=None):
        return default

    def set_state_cookie(self, value):
        self.cookie = value

    def redirect(self, address):
        self.address = address


class Callback(OAuthCallbackHandler):
    """Its page for the answer."""

    log = None

    def __init__(self, login, answer):
        self.log, self.answer, self._state_cookie = login.log, answer, login.cookie

    def get_argument(self, name, default=None):
        return self.answer.get(name, default)


def hub(tenant, **more):
    """The person that JupyterHub's authenticator finds, set up as its documentation says for Azure AD."""
    settings = Config()
    settings.OAuthenticator.update({
        "oauth_callback_url": HUB_URI, "client_id": tenant.web_id, "client_secret": SECRET, "allow_all": True,
        "http_request_kwargs": {"ca_certs": tenant.root}})
    settings.AzureAdOAuthenticator.update({"tenant_id": ORGANIZATION, "graph_url": tenant.origin, "scope": ["openid", "email"]} | more)

    async def begin():
        authenticator = AzureAdOAuthenticator(config=settings)
        login = Login(authenticator)
        login.get()
        callback = Callback(login, query(sign_in(tenant.session(), login.address, HUB_URI, ADA)))
        callback.check_arguments()
        return await authenticator.get_authenticated_user(callback, None)

    return asyncio.run(begin())


@test("JupyterHub's authenticator for Azure AD: the person's name, with PKCE, and their groups")
def jupyterhub(tenant):
    tenant.reset()
    found = hub(tenant)
    assert found["name"] == "ada king" and found["auth_state"]["user"]["upn"] == ADA, found
    found = hub(tenant, username_claim="upn", manage_groups=True)
    groups = found["auth_state"]["user"]["groups"]
    assert found["name"] == ADA and found["groups"] == groups and len(groups) == 1, found


def builder(tenant, **more):
    """A site of Flask-AppBuilder with the provider `azure` as its documentation has it."""
    authority = f"{tenant.origin}/{ORGANIZATION}/oauth2"
    web = flask.Flask(__name__)
    web.config.update(
        SECRET_KEY="a key of the suite that signs nothing else", SQLALCHEMY_DATABASE_URI="sqlite://", AUTH_TYPE=AUTH_OAUTH,
        AUTH_USER_REGISTRATION=True, AUTH_USER_REGISTRATION_ROLE="Public", AUTH_ROLES_SYNC_AT_LOGIN=True, AUTH_ROLES_MAPPING={"Site.Editor": ["Admin"]},
        OAUTH_PROVIDERS=[{"name": "azure", "icon": "fa-windows", "token_key": "access_token", "remote_app": {
            "client_id": tenant.web_id, "client_secret": SECRET, "api_base_url": authority,
            "client_kwargs": {"scope": "User.read name preferred_username email profile upn", "resource": tenant.web_id} | more,
            "request_token_url": None, "access_token_url": authority + "/token", "authorize_url": authority + "/authorize"}}])
    database = get_sqla_class()()
    database.init_app(web)
    with web.app_context():
        return web, AppBuilder(web, database.session)


def at_builder(tenant, **more):
    """The account that a person's sign-in makes at a site."""
    web, made = builder(tenant, **more)
    client = web.test_client()
    begun = client.get("/login/azure", base_url=SITE)
    back = sign_in(tenant.session(), begun.headers["Location"], BUILDER_URI, ADA)
    client.get(back.removeprefix(SITE), base_url=SITE)
    with web.app_context():
        user, = made.sm.get_all_users()
        return SimpleNamespace(
            email=user.email, first=user.first_name, last=user.last_name, username=user.username, roles=[role.name for role in user.roles])


@test("Flask-AppBuilder, which Airflow and Superset use: the account and its role, also with the signature checked")
def flask_appbuilder(tenant):
    tenant.reset()
    security.MICROSOFT_KEY_SET_URL = f"{tenant.origin}/common/discovery/keys"
    for more in ({"verify_signature": False}, {"verify_signature": True}):
        found = at_builder(tenant, **more)
        assert (found.email, found.first, found.last, set(found.roles)) == (ADA, "Ada", "King", {"Admin", "Public"}), found


def told(command, environ, pattern, act):
    """Runs a program, and does what a line of it asks a person to do; returns what it has said."""
    process = subprocess.Popen(command, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if found := re.search(pattern, line):
                act(found[1])
        assert process.wait(30) == 0, lines
        return "".join(lines)
    finally:
        process.kill()
        process.wait(SECONDS)
        process.stdout.close()


def open_at(tenant, ends):
    """A browser for an address that a program names, whose answer it waits for at its own port."""
    def browse(address):
        browser = tenant.session()
        # Who has the code may end before its answer is out.
        with suppress(requests.ConnectionError):
            browser.get(sign_in(browser, address, ends, ADA))
    return browse


def permissions(token):
    return set(jwt.decode(token, options={"verify_signature": False})["scp"].split())


@test("rclone: a remote of OneDrive is authorized by its own page, and its token is renewed")
def rclone(tenant):
    tenant.reset()
    authority = f"{tenant.origin}/{ORGANIZATION}/oauth2/v2.0"
    settings = {"client_id": tenant.web_id, "client_secret": SECRET, "auth_url": authority + "/authorize", "token_url": authority + "/token"}
    # Graph's host is fixed in it, and is not reached.
    environ = os.environ | {"HOME": str(tenant.folder), "RCLONE_CONFIG": str(tenant.folder / "rclone.conf"), "HTTPS_PROXY": "http://127.0.0.1:9"}
    given = base64.urlsafe_b64encode(json.dumps(settings).encode()).rstrip(b"=").decode()
    said = told(
        ["rclone", "authorize", "onedrive", given, "--auth-no-open-browser"], environ, r"(http://127\.0\.0\.1:53682/auth\S+)",
        open_at(tenant, RCLONE_URI))
    answer = re.search(r"--->\s*(\S+)\s*<---", said)[1]
    token = json.loads(json.loads(base64.urlsafe_b64decode(answer + "=" * (-len(answer) % 4)))["token"])
    wanted = {"Files.Read", "Files.ReadWrite", "Files.Read.All", "Files.ReadWrite.All", "Sites.Read.All"}
    assert wanted <= permissions(token["access_token"]) and token["refresh_token"], token
    kept = settings | {"type": "onedrive", "drive_id": "any", "drive_type": "business", "token": json.dumps(token | {"expiry": "2020-01-01T00:00:00Z"})}
    (tenant.folder / "rclone.conf").write_text("[remote]\n" + "".join(f"{name} = {value}\n" for name, value in kept.items()))
    done = subprocess.run(
        ["rclone", "lsd", "remote:", "--retries", "1", "--low-level-retries", "1"], env=environ, capture_output=True, text=True, timeout=60)
    assert done.returncode and "https://graph.microsoft.com/v1.0/drives/any/root" in done.stderr, done
    renewed = json.loads(re.search("token = ({.*})", (tenant.folder / "rclone.conf").read_text())[1])
    assert renewed["access_token"] != token["access_token"] and wanted <= permissions(renewed["access_token"]), renewed


@contextmanager
def oidc_agent(tenant):
    """oidc-agent with a home of its own; gives the environment of its programs."""
    own = pathlib.Path(tempfile.mkdtemp(dir=tenant.folder))
    (own / ".oidc-agent").mkdir()
    socket = own / "socket"
    environ = os.environ | {"HOME": str(own), "TMPDIR": str(own), "OIDC_ENCRYPTION_PW": "a password of the suite", "OIDC_SOCK": str(socket)}
    agent = subprocess.Popen(
        ["oidc-agent", "--console", "--socket-path", socket], env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        until(lambda: socket.exists() or agent.poll() is not None, "oidc-agent has its socket")
        assert agent.poll() is None, "oidc-agent has ended"
        yield environ
    finally:
        # It is two processes.
        os.killpg(agent.pid, signal.SIGTERM)
        agent.wait(15)


def made_account(tenant, client_id, secret, *flow):
    """The command that makes an account of oidc-agent."""
    return [
        "oidc-gen", "entra", "--iss", tenant.said["issuer"], "--client-id", client_id, "--client-secret", secret,
        "--redirect-uri", " ".join(AGENT_URIS), "--scope", "openid profile offline_access User.Read", "--flow", *flow,
        "--cp", tenant.root, "--pw-env", "--prompt", "none", "--confirm-default"]


def check_account(tenant, environ):
    """Expects the account's tokens, of which one is kept and a new one is to be had."""
    def token(*more):
        return subprocess.run(["oidc-token", *more, "entra"], env=environ, check=True, capture_output=True, text=True, timeout=30).stdout.strip()

    first = token()
    assert token() == first and token("--force-new") != first
    me = tenant.session().get(tenant.said["graph"], headers={"Authorization": f"Bearer {token()}"})
    assert me.json()["userPrincipalName"] == ADA, me.text


@test("oidc-agent: an account is made by a code at its own port, and hands out tokens, also new ones")
def oidc_agent_code(tenant):
    tenant.reset()
    with oidc_agent(tenant) as environ:
        command = made_account(tenant, tenant.web_id, SECRET, "code", "--no-url-call", "--no-scheme")
        told(command, environ, r"(https://localhost\S+/authorize\S+)", open_at(tenant, "http://localhost:"))
        check_account(tenant, environ)


@test("oidc-agent: an account without a secret is made by a device code, and hands out tokens, also new ones")
def oidc_agent_device(tenant):
    tenant.reset()
    address = tenant.origin + "/devicelogin"
    with oidc_agent(tenant) as environ:
        said = told(
            made_account(tenant, tenant.native_id, "", "device"), environ, r"enter the code: (\S+)",
            lambda code: approve(tenant.session(), address, code, ADA))
        assert address in said, said
        check_account(tenant, environ)
