"""Web applications on other people's libraries at `companion tenant`, as they come: none is asked to use PKCE."""

import html
import logging
import os
import pathlib
import re
import secrets
import ssl
import subprocess
from contextlib import contextmanager

import cachelib
import flask
import identity.flask
import jwt
from authlib.integrations.flask_client import OAuth
from azure.core.exceptions import ClientAuthenticationError
from azure.identity import AuthorizationCodeCredential, ClientSecretCredential, DeviceCodeCredential, InteractiveBrowserCredential
from flask_oidc import OpenIDConnect
from oic import oic
from oic.oic.message import AuthorizationResponse, RegistrationResponse
from oic.utils.authn.client import CLIENT_AUTHN_METHOD
from requests_oauthlib import OAuth2Session
from patience import SECONDS, answered
from suite.registry import registry
from suite.server import free_pair_of_ports

from .tenant import ADELE, ROLES, SECRET, WEB_URI, Tenant, approve, browsing, query, sign_in

tests, test = registry("web")

APPLICATION = "http://localhost:8080"
SCOPE = "openid profile email offline_access User.Read"
GRAPH = "https://graph.microsoft.com"
# It logs each refusal that a test provokes.
logging.getLogger("azure.identity").setLevel(logging.CRITICAL)


@contextmanager
def environment(binary, root, folder):
    tenant = Tenant(binary, root / "Public", folder, web=(WEB_URI, APPLICATION + "/authorize"))
    usual = dict(os.environ)
    try:
        tenant.start()
        # People are told to set these: the first is for requests and what is built on it, the second for Python's ssl and Go.
        os.environ |= {"REQUESTS_CA_BUNDLE": tenant.root, "SSL_CERT_FILE": tenant.root}
        tenant.go = root / "Tests" / "Interop" / "go"
        yield tenant
    finally:
        os.environ.clear()
        os.environ.update(usual)
        tenant.stop()


def journey(tenant, application, path, ends=WEB_URI, find=lambda answer: answer.headers["Location"]):
    """Signs in at a Flask application with a browser: returns its answer behind the callback."""
    client = application.test_client()
    begun = client.get(path, base_url=APPLICATION)
    back = sign_in(tenant.session(), find(begun), ends)
    answer = client.get(back.removeprefix(APPLICATION), base_url=APPLICATION)
    while answer.status_code in (302, 303):
        answer = client.get(answer.headers["Location"].removeprefix(APPLICATION), base_url=APPLICATION)
    return answer


def application():
    made = flask.Flask(__name__)
    made.secret_key = secrets.token_hex(32)
    return made


def code(tenant, scope=SCOPE, **more):
    """An authorization code of a request without PKCE and without nonce."""
    url = OAuth2Session(tenant.web_id, redirect_uri=WEB_URI, scope=scope.split()).authorization_url(
        tenant.said["issuer"].removesuffix("/v2.0") + "/oauth2/v2.0/authorize", **more)[0]
    return query(sign_in(tenant.session(), url, WEB_URI))["code"]


def expect_no_challenge(tenant):
    """The last sign-in of the application was as the library makes it: without PKCE, which the platform demands of no web application."""
    clients = tenant.session().get(tenant.origin + "/clients").json()["clients"]
    requests = next(each["requests"] for each in clients if each["client_id"] == tenant.web_id)
    last = next(each for each in requests if each["step"] == "authorize")
    assert "redirect_uri" in last["parameters"] and "code_challenge" not in last["parameters"], last


def me(tenant, token):
    answer = tenant.session().get(tenant.said["graph"], headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200, answer.text
    return answer.json()["userPrincipalName"]


@test("Authlib with Flask: metadata, sign-in with a nonce, ID token, Graph")
def authlib(tenant):
    web, registry = application(), OAuth()
    registry.init_app(web)
    registry.register(
        "tenant", client_id=tenant.web_id, client_secret=SECRET, client_kwargs={"scope": SCOPE},
        server_metadata_url=tenant.said["issuer"] + "/.well-known/openid-configuration")
    web.add_url_rule("/", "begin", lambda: registry.tenant.authorize_redirect(WEB_URI))

    def callback():
        token = registry.tenant.authorize_access_token()
        answer = registry.tenant.get(tenant.said["graph"], token=token)
        return {"claims": token["userinfo"], "me": answer.json()["userPrincipalName"]}

    web.add_url_rule("/auth/callback", "callback", callback)
    found = journey(tenant, web, "/").get_json()
    assert found["me"] == ADELE and found["claims"]["email"] == ADELE and found["claims"]["preferred_username"] == ADELE, found
    expect_no_challenge(tenant)


@test("flask-oidc: its own routes, and UserInfo")
def flask_oidc(tenant):
    web = application()
    web.config.update(
        OIDC_CLIENT_SECRETS={"web": {"issuer": tenant.said["issuer"], "client_id": tenant.web_id, "client_secret": SECRET}},
        OIDC_SCOPES="openid email profile")
    oidc = OpenIDConnect(web)
    web.add_url_rule("/", "begin", oidc.require_login(lambda: oidc.user_getinfo(["email", "name"])))
    client = web.test_client()
    first = client.get("/", base_url=APPLICATION)
    begun = client.get(first.headers["Location"].removeprefix(APPLICATION), base_url=APPLICATION)
    back = sign_in(tenant.session(), begun.headers["Location"], APPLICATION + "/authorize")
    answer = client.get(back.removeprefix(APPLICATION), base_url=APPLICATION)
    answer = client.get(answer.headers["Location"].removeprefix(APPLICATION), base_url=APPLICATION)
    assert answer.get_json()["email"] == ADELE, answer.text
    expect_no_challenge(tenant)


@test("identity with Flask, which is made by Microsoft's MSAL")
def microsoft_identity(tenant):
    web = application()
    web.config.update(SESSION_TYPE="cachelib", SESSION_CACHELIB=cachelib.SimpleCache())
    auth = identity.flask.Auth(
        web, authority=tenant.origin + "/contoso.example", client_id=tenant.web_id, client_credential=SECRET, redirect_uri=WEB_URI)

    @auth.login_required(scopes=["User.Read"])
    def page(*, context):
        return {"name": context["user"]["preferred_username"], "me": me(tenant, context["access_token"])}

    web.add_url_rule("/", "begin", page)

    def link(answer):
        return html.unescape(re.search(r"URL=(https://localhost[^']*)'", answer.text)[1])

    found = journey(tenant, web, "/", find=link).get_json()
    assert found == {"name": ADELE, "me": ADELE}, found


@test("requests-oauthlib: code, refresh, and the scopes in the answer are those that were asked for")
def requests_oauthlib(tenant):
    authority = tenant.said["issuer"].removesuffix("/v2.0") + "/oauth2/v2.0"
    scopes = ["openid", "profile", "email", "User.Read"]
    session = OAuth2Session(tenant.web_id, redirect_uri=WEB_URI, scope=scopes)
    url, state = session.authorization_url(authority + "/authorize")
    answer = query(sign_in(tenant.session(), url, WEB_URI))
    assert answer["state"] == state
    token = session.fetch_token(authority + "/token", code=answer["code"], client_secret=SECRET)
    assert set(scopes) <= set(token["scope"]), token["scope"]
    assert me(tenant, token["access_token"]) == ADELE
    expect_no_challenge(tenant)
    offline = OAuth2Session(tenant.web_id, redirect_uri=WEB_URI)
    token = offline.fetch_token(authority + "/token", code=code(tenant), client_secret=SECRET)
    renewed = offline.refresh_token(authority + "/token", client_id=tenant.web_id, client_secret=SECRET)
    assert me(tenant, renewed["access_token"]) == ADELE and renewed["access_token"] != token["access_token"]


@test("oic: metadata, Basic credentials, the ID token's check, UserInfo by POST")
def pyoidc(tenant):
    client = oic.Client(client_authn_method=CLIENT_AUTHN_METHOD)
    client.provider_config(tenant.said["issuer"])
    client.store_registration_info(RegistrationResponse(client_id=tenant.web_id, client_secret=SECRET, redirect_uris=[WEB_URI]))
    request = client.construct_AuthorizationRequest(request_args={
        "response_type": "code", "scope": ["openid", "profile", "email"], "redirect_uri": WEB_URI, "state": "a state", "nonce": "a nonce"})
    back = sign_in(tenant.session(), request.request(client.authorization_endpoint), WEB_URI)
    answer = client.parse_response(AuthorizationResponse, info=back.split("?", 1)[1], sformat="urlencoded")
    tokens = client.do_access_token_request(
        state="a state", request_args={"code": answer["code"], "redirect_uri": WEB_URI}, authn_method="client_secret_basic")
    assert tokens["id_token"]["preferred_username"] == ADELE, tokens
    info = client.do_user_info_request(method="POST", state="a state")
    assert info["sub"] == tokens["id_token"]["sub"] and info["email"] == ADELE, info
    expect_no_challenge(tenant)


@test("PyJWT: the keys and an ID token")
def pyjwt(tenant):
    token = id_token(tenant)
    metadata = tenant.session().get(tenant.said["issuer"] + "/.well-known/openid-configuration").json()
    keys = jwt.PyJWKClient(metadata["jwks_uri"], ssl_context=ssl.create_default_context())
    claims = jwt.decode(
        token, keys.get_signing_key_from_jwt(token), algorithms=["RS256"], audience=tenant.web_id, issuer=tenant.said["issuer"])
    assert claims["preferred_username"] == ADELE


def id_token(tenant):
    answer = tenant.session().post(tenant.said["issuer"].removesuffix("/v2.0") + "/oauth2/v2.0/token", data={
        "grant_type": "authorization_code", "client_id": tenant.web_id, "client_secret": SECRET, "code": code(tenant), "redirect_uri": WEB_URI})
    return answer.json()["id_token"]


@test("go-oidc on go-jose 2: the keys and an ID token, and a set with a key of unknown type is refused whole")
def go_oidc(tenant):
    program = tenant.folder / "go-client"
    subprocess.run(["go", "build", "-o", program, tenant.go / "main.go"], check=True, timeout=300, env=os.environ | {
        "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": str(tenant.folder / "go-cache"), "GOFLAGS": ""})
    token = id_token(tenant)
    check = lambda: subprocess.run([program, tenant.said["issuer"], tenant.web_id, token], capture_output=True, text=True, timeout=30)
    checked = check()
    assert checked.returncode == 0 and checked.stdout.strip(), checked.stderr
    tenant.control(unknown_key=True)
    refused = check()
    tenant.control(unknown_key=False)
    assert refused.returncode == 1 and "unknown json web key type" in refused.stderr, refused.stderr


@test("azure-identity: a code with a secret, the system's browser, a device code, and the application itself with its roles")
def azure_identity(tenant):
    tenant.reset()
    usual = {"authority": tenant.origin, "disable_instance_discovery": True}
    scope = f"{GRAPH}/User.Read"
    credential = AuthorizationCodeCredential(
        "contoso.example", tenant.web_id, code(tenant, f"openid offline_access {scope}"), WEB_URI, client_secret=SECRET, **usual)
    assert me(tenant, credential.get_token(scope).token) == ADELE
    with browsing(tenant.session()):
        interactive = InteractiveBrowserCredential(tenant_id="contoso.example", client_id=tenant.native_id, timeout=30, **usual)
        assert me(tenant, interactive.get_token(scope).token) == ADELE
    prompts = []

    def prompt(address, code, expires):
        prompts.append(expires)
        approve(tenant.session(), address, code)

    device = DeviceCodeCredential(tenant.native_id, tenant_id="contoso.example", prompt_callback=prompt, **usual)
    assert me(tenant, device.get_token(scope).token) == ADELE
    device.get_token(scope)
    assert len(prompts) == 1, prompts
    own = ClientSecretCredential("contoso.example", tenant.web_id, SECRET, **usual)
    claims = jwt.decode(own.get_token(f"{GRAPH}/.default").token, options={"verify_signature": False})
    assert claims["appid"] == tenant.web_id and sorted(claims["roles"]) == ROLES and "scp" not in claims, claims
    try:
        ClientSecretCredential("contoso.example", tenant.web_id, "wrong", **usual).get_token(f"{GRAPH}/.default")
        raise AssertionError("a wrong secret is accepted")
    except ClientAuthenticationError as error:
        assert "AADSTS7000215" in str(error), error


@test("mod_auth_openidc behind Apache: metadata, sign-in, claims for the application, sign-out")
def mod_auth_openidc(tenant):
    port = free_pair_of_ports()
    with apache(tenant, port) as own:
        browser = tenant.session()
        first = browser.get(f"{own}/page", allow_redirects=False)
        assert first.status_code == 302, (first.status_code, first.text)
        back = sign_in(browser, first.headers["Location"], f"{own}/auth/callback")
        page = browser.get(back)
        assert page.status_code == 200 and page.headers["X-User"] == ADELE, (page.status_code, page.headers, tenant.apache_log())
        info = browser.get(f"{own}/auth/callback?info=json").json()
        assert info["userinfo"]["email"] == ADELE, info
        expect_no_challenge(tenant)
        out = browser.get(f"{own}/auth/callback?logout={own}/", allow_redirects=False)
        assert out.headers["Location"].startswith(tenant.origin + "/"), out.headers
        assert browser.get(f"{own}/page", allow_redirects=False).status_code == 302


@contextmanager
def apache(tenant, port):
    modules = pathlib.Path("/usr/lib/apache2/modules")
    own = tenant.folder / "apache"
    own.mkdir()
    own.chmod(0o755)
    tenant.folder.chmod(0o755)
    (own / "page").write_text("Signed in\n")
    root = own / "root.pem"
    root.write_bytes(pathlib.Path(tenant.root).read_bytes())
    root.chmod(0o644)
    names = ("mpm_event", "authn_core", "authz_core", "authz_user", "headers", "auth_openidc")
    user = "User www-data\nGroup www-data" if os.geteuid() == 0 else ""
    (own / "apache.conf").write_text("\n".join(f"LoadModule {name}_module {modules}/mod_{name}.so" for name in names) + f"""
ServerRoot {own}
DefaultRuntimeDir {own}
PidFile {own}/apache.pid
ErrorLog {own}/error.log
ServerName localhost
Listen 127.0.0.1:{port}
DocumentRoot {own}
{user}
OIDCProviderMetadataURL {tenant.said["issuer"]}/.well-known/openid-configuration
OIDCCABundlePath {root}
OIDCClientID {tenant.web_id}
OIDCClientSecret "{SECRET}"
OIDCRedirectURI http://localhost:{port}/auth/callback
OIDCCryptoPassphrase {secrets.token_hex(32)}
OIDCScope "openid profile email"
OIDCRemoteUserClaim preferred_username
OIDCPassClaimsAs environment
OIDCInfoHook userinfo
OIDCDefaultLoggedOutURL http://localhost:{port}/
<Location />
  AuthType openid-connect
  Require valid-user
  Header set X-User "%{{OIDC_CLAIM_preferred_username}}e"
</Location>
""")
    tenant.apache_log = lambda: (own / "error.log").read_text()[-2000:]
    process = subprocess.Popen(["/usr/sbin/apache2", "-f", own / "apache.conf", "-D", "FOREGROUND"], stdin=subprocess.DEVNULL)
    try:
        answered(process, lambda: tenant.session().get(f"http://localhost:{port}/page", timeout=SECONDS, allow_redirects=False), "Apache answers", tenant.apache_log)
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        process.wait(15)
