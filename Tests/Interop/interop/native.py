"""A native app with MSAL at `companion tenant`: each step, and each of MSAL's rules when the tenant breaks it."""

import base64
import json
import re
import socket
import subprocess
import urllib.parse
from contextlib import contextmanager

import requests
from requests.adapters import HTTPAdapter
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from patience import SECONDS, until
from suite.registry import registry

from .msal_objc import NO_USERNAME, Application
from .msal_objc_requests import VERSION, Refused
from .tenant import ADELE, BUNDLE, NATIVE_URI, NEW_NAME, running

tests, test = registry("native")


@contextmanager
def environment(binary, root, folder):
    with running(binary, root / "Public", folder) as tenant:
        yield tenant


# kind, key of the authority, scope, account
KINDS = {
    "AAD": ("authority", "User.Read", ADELE),
    "B2C": ("b2c_authority", "https://fabrikamb2c.example/api/demo.read", "b2cuser@fabrikamb2c.example"),
    "CIAM": ("external_authority", "api://fabrikam.example/tasks.read", "customer@fabrikam.example"),
}


class Change(HTTPAdapter):
    """Changes the answers of one path, as a tenant would that breaks a rule."""

    def __init__(self, path, change):
        super().__init__()
        self.path, self.change, self.count = path, change, 0

    def send(self, request, **more):
        answer = super().send(request, **more)
        if self.path in request.path_url.split("?")[0]:
            self.count += 1
            self.change(answer)
        return answer


def document(edit):
    """A change of the members of a JSON answer."""
    def change(answer):
        members = answer.json()
        edit(members)
        answer._content = json.dumps(members).encode()
    return change


def application(tenant, kind, session=None, authority=None, redirect_uri=NATIVE_URI):
    return Application(session or tenant.session(), kind, authority or tenant.said[KINDS[kind][0]], tenant.native_id, redirect_uri, BUNDLE)


def graph(tenant, token, session=None):
    return (session or tenant.session()).get(tenant.said["graph"], headers={"Authorization": f"Bearer {token}"})


def steps(tenant, after):
    """The steps that the tenant has noted since, the oldest first."""
    clients = tenant.session().get(tenant.origin + "/clients").json()["clients"]
    requests = next((each["requests"] for each in clients if each["client_id"] == tenant.native_id), [])
    return [each for each in reversed(requests) if each["position"] > after]


def position(tenant):
    return tenant.session().get(tenant.origin + "/clients").json()["count"]


def journey(tenant, kind):
    """Interactive, Graph or the API, silent, sign-out; returns the account."""
    _, scope, username = KINDS[kind]
    app = application(tenant, kind)
    account, token = app.acquire_token([scope], username)
    environment = account.environment
    assert environment == app.authority.host and account.identifier.count(".") == 1, account.identifier
    if kind == "AAD":
        me = graph(tenant, token)
        assert me.status_code == 200 and me.json()["userPrincipalName"] == username, me.text
        assert tenant.said["graph"].endswith("/v1.0/me/"), "Microsoft's samples have a slash at the end"
    renewed, fresh = app.acquire_token_silent(account, [scope])
    # Two access tokens of a user flow from the same second are equal.
    assert renewed.refresh_token and renewed.refresh_token != account.refresh_token, "nothing was renewed"
    assert fresh != token or kind == "B2C", "the access token is the old one"
    app.sign_out(renewed)
    return app, renewed


@test("an app of Entra ID signs in, reads Graph, renews silently and signs out, in MSAL's order and under one correlation ID each")
def entra(tenant):
    tenant.reset()
    start = position(tenant)
    app, account = journey(tenant, "AAD")
    assert app.aliases and {app.authority.host, app.authority.name} <= set(app.aliases), app.aliases
    assert account.id_token["iss"].endswith("/v2.0") and account.id_token["aud"] == tenant.native_id, account.id_token
    seen = steps(tenant, start)
    names = [each["step"] for each in seen]
    pages = [name for name in names if name != "page"]
    # The silent request asks the account's own tenant, whose metadata MSAL does not have yet.
    assert pages == ["instance_discovery", "metadata", "authorize", "code", "api", "metadata", "refresh", "sign_out"], names
    own = [each for each in seen if each["step"] not in ("page", "api")]
    assert len({each["correlation_id"] for each in own[:4]}) == 1 and own[4]["correlation_id"] == own[5]["correlation_id"], own
    assert {each["library"] for each in seen if each["step"] in ("instance_discovery", "code", "refresh")} == {f"MSAL.iOS {VERSION}"}
    assert [url.split("/")[3] for url in app.metadata] == ["common", account.home_tenant], list(app.metadata)
    assert all(each["error"] is None for each in seen), seen


@test("an app of B2C does the same, without instance discovery; its profile is changed under another policy")
def b2c(tenant):
    tenant.reset()
    start = position(tenant)
    app, account = journey(tenant, "B2C")
    assert [url.split("/")[3:6] for url in app.metadata][1] == ["tfp", account.home_tenant, "b2c_1_susi"], list(app.metadata)
    assert account.username == NO_USERNAME, "no user flow sends preferred_username"
    assert "instance_discovery" not in [each["step"] for each in steps(tenant, start)]
    assert "-b2c_1_susi." in account.identifier and account.id_token["tfp"] == "B2C_1_susi", account.id_token
    edit = application(tenant, "B2C", authority=tenant.said["b2c_authority"].replace("b2c_1_susi", "b2c_1_edit_profile"))
    account, _ = edit.acquire_token([KINDS["B2C"][1]], KINDS["B2C"][2])
    assert account.id_token["name"] == NEW_NAME and "-b2c_1_edit_profile." in account.identifier, account.id_token


@test("an app of an external tenant does the same at 127.0.0.1, and every address in the answers has that name")
def external(tenant):
    tenant.reset()
    app, account = journey(tenant, "CIAM")
    assert app.authority.name == "127.0.0.1", app.authority.url
    # The realm is the path there, which is not the home tenant.
    assert account.claims is None and account.username == KINDS["CIAM"][2], account.claims
    metadata = app.resolve("11111111-2222-3333-4444-555555555555")
    for name in ("authorization_endpoint", "token_endpoint", "end_session_endpoint", "jwks_uri"):
        assert metadata[name].startswith(tenant.numeric + "/"), (name, metadata[name])
    # Without scopes there is an account, whose token is good for UserInfo alone.
    for scopes, status in (([], 403), (["User.Read"], 200)):
        account, token = application(tenant, "CIAM").acquire_token(scopes, KINDS["CIAM"][2])
        assert account.id_token["tid"] and graph(tenant, token).status_code == status, scopes


@test("an app of an external tenant at its own name gets the claims of its account, and silent requests ask the tenant's ID there")
def external_name(tenant):
    tenant.reset()
    with names_of_localhost():
        app = application(tenant, "CIAM", authority=tenant.said["named_external_authority"])
        account, _ = app.acquire_token([KINDS["CIAM"][1]], KINDS["CIAM"][2])
        assert account.claims["preferred_username"] == KINDS["CIAM"][2], account.claims
        renewed, _ = app.acquire_token_silent(account, [KINDS["CIAM"][1]])
        assert [url.split("/")[2:4] for url in app.metadata] == [[app.authority.host, "fabrikam.example"], [app.authority.host, account.home_tenant]]
        port = app.authority.host.rsplit(":", 1)[1]
        issuer = f"https://{account.home_tenant}.ciamlogin.localhost:{port}/{account.home_tenant}/v2.0"
        assert {each["issuer"] for each in app.metadata.values()} == {account.id_token["iss"]} == {issuer}, account.id_token["iss"]
        app.sign_out(renewed)


@contextmanager
def names_of_localhost():
    """Finds names below localhost, as browsers do and a line in /etc/hosts does."""
    usual = socket.getaddrinfo
    socket.getaddrinfo = lambda host, *more, **named: usual("127.0.0.1" if str(host).endswith(".localhost") else host, *more, **named)
    try:
        yield
    finally:
        socket.getaddrinfo = usual


@test("Graph's address in the metadata and the one that is announced answer with and without the slash at the end")
def slash(tenant):
    _, token = application(tenant, "AAD").acquire_token(["User.Read"], ADELE)
    for address in (tenant.said["graph"], tenant.said["graph"].rstrip("/")):
        answer = tenant.session().get(address, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200, (address, answer.status_code)
    host = application(tenant, "AAD")
    metadata = host.resolve("11111111-2222-3333-4444-555555555555")
    assert metadata["msgraph_host"] == host.authority.host, metadata["msgraph_host"]


@test("the client IDs of Microsoft's samples are known, with their redirect URIs and the API of B2C's")
def samples(tenant):
    for client, bundle in (("66855f8a-60cd-445e-a9bb-8cd8eadbd3fa", "com.microsoft.identitysample.MSALiOS"),
                           ("2a858956-70de-42b9-b5db-d566eb1fb820", "com.microsoft.identitysample.MSALMacOS")):
        app = Application(tenant.session(), "AAD", tenant.said["authority"], client, f"msauth.{bundle}://auth", bundle)
        account, token = app.acquire_token(["user.read"], ADELE)
        assert graph(tenant, token).status_code == 200
        app.sign_out(account)
    client, scope = "90c0fe63-bcf2-44d5-8fb7-b8bbc0b29dc6", "https://fabrikamb2c.onmicrosoft.com/helloapi/demo.read"
    for redirect_uri in (f"msal{client}://auth", "msauth.com.microsoft.identitysample.MSALiOS://auth"):
        app = Application(tenant.session(), "B2C", tenant.said["b2c_authority"], client, redirect_uri, "com.microsoft.identitysample.MSALiOS")
        account, _ = app.acquire_token([scope], KINDS["B2C"][2])
        app.acquire_token_silent(account, [scope])


@test("a claims challenge of Graph is met silently, a second factor interactively with the claims of the refusal")
def challenges(tenant):
    tenant.reset()
    app = application(tenant, "AAD")
    account, token = app.acquire_token(["User.Read"], ADELE)
    tenant.control(claims_challenge=True)
    refused = graph(tenant, token)
    claims = base64.b64decode(re.search(r'claims="([^"]+)"', refused.headers["WWW-Authenticate"])[1]).decode()
    account, token = app.acquire_token_silent(account, ["User.Read"], claims)
    assert refused.status_code == 401 and graph(tenant, token).status_code == 200
    tenant.control(reset=True, require_mfa=ADELE)
    expect("AADSTS50076", -50002, lambda: app.acquire_token_silent(account, ["User.Read"]))
    account, _ = app.acquire_token(["User.Read"], ADELE, json.dumps({"access_token": {"amr": {"values": ["mfa"]}}}))
    app.acquire_token_silent(account, ["User.Read"])


@test("a failure that is chosen in the browser happens to the app")
def failures(tenant):
    tenant.reset()
    app = application(tenant, "AAD")
    account, token = app.acquire_token(["User.Read"], ADELE)
    tenant.control(revoke=ADELE)
    expect("AADSTS50173", -50002, lambda: app.acquire_token_silent(account, ["User.Read"]))
    tenant.control(graph_error={"status": 503, "body": {"error": {"code": "x"}}, "times": 1})
    assert graph(tenant, token).status_code == 503
    tenant.control(authorize_platform_error=65004)
    expect("AADSTS65004", None, lambda: app.acquire_token(["User.Read"], ADELE))


def expect(says, code, action):
    try:
        action()
    except Refused as error:
        assert says in error.says and error.code == code, error
        return
    raise AssertionError(f"MSAL does not say {says!r}")


def without(*names):
    return document(lambda members: [members.pop(name) for name in names])


def set_to(**values):
    return document(lambda members: members.update(values))


def edit_aliases(members):
    members["metadata"][0]["aliases"] = [each for each in members["metadata"][0]["aliases"] if ":" in each]


def remove_scheme(answer):
    policy = answer.headers.get("Content-Security-Policy", "")
    answer.headers["Content-Security-Policy"] = re.sub(r" msauth[^ ;]*", "", policy)


def move(prefix, address):
    """Sends the browser elsewhere, where it would go to this address."""
    def change(answer):
        if answer.headers.get("Location", "").startswith(prefix):
            answer.headers["Location"] = address + answer.headers["Location"][len(prefix):]
    return change


def other_state(answer):
    if "state=" in answer.headers.get("Location", ""):
        answer.headers["Location"] = re.sub("state=[^&]*", "state=another", answer.headers["Location"])


# A rule that the tenant breaks: the kind, the path, the change, what MSAL says, its code.
RULES = [
    ("AAD", "/common/discovery/instance", document(edit_aliases), "a different cloud", -50002),
    ("AAD", "/common/discovery/instance", document(lambda members: members["metadata"][0].pop("preferred_cache")), "preferred_cache is missing", None),
    ("AAD", "/.well-known/openid-configuration", without("issuer"), "issuer is missing", None),
    ("AAD", "/.well-known/openid-configuration", set_to(token_endpoint=None), "token_endpoint is missing", None),
    ("AAD", "/.well-known/openid-configuration", without("end_session_endpoint"), "no end_session_endpoint", None),
    ("AAD", "/login", remove_scheme, "form-action does not allow", None),
    ("AAD", "/login", move(NATIVE_URI, "msauth.com.contoso.other://auth"), "the browser is sent to msauth", -42602),
    ("AAD", "/login", other_state, "the state in the answer is another one", -42501),
    ("AAD", "/oauth2/v2.0/token", without("client_info"), "Client info was not returned", None),
    ("AAD", "/oauth2/v2.0/token", without("access_token", "id_token"), "without expected accessToken and idToken", None),
    ("AAD", "/oauth2/v2.0/token", set_to(token_type="pop"), "Pop tokens are not supported", None),
    ("AAD", "/oauth2/v2.0/token", set_to(scope="openid profile"), "less scopes than requested", -50003),
    ("B2C", "/oauth2/v2.0/token", without("client_info"), "Client info was not returned", None),
    ("B2C", "/login", remove_scheme, "form-action does not allow", None),
    ("CIAM", "/oauth2/v2.0/token", without("client_info"), "Client info was not returned", None),
    ("CIAM", "/.well-known/openid-configuration", without("authorization_endpoint"), "authorization_endpoint is missing", None),
    ("CIAM", "/oauth2/v2.0/logout", other_state, "the state in the answer is another one", -42501),
]


@test("each rule of MSAL is noticed when the tenant breaks it")
def rules(tenant):
    for kind, path, change, says, code in RULES:
        tenant.reset()
        session, adapter = tenant.session(), Change(path, change)
        session.mount("https://", adapter)
        _, scope, username = KINDS[kind]

        def all_steps():
            app = application(tenant, kind, session)
            account, _ = app.acquire_token([scope], username)
            account, _ = app.acquire_token_silent(account, [scope])
            app.sign_out(account)

        try:
            expect(says, code, all_steps)
        except AssertionError as error:
            raise AssertionError(f"{kind} {path}: {error}") from error
        assert adapter.count > 0, f"{path} was not asked"


@test("without instance discovery MSAL goes on, and asks again in each call")
def no_discovery(tenant):
    session, adapter = tenant.session(), Change("/common/discovery/instance", lambda answer: setattr(answer, "status_code", 404))
    session.mount("https://", adapter)
    app = application(tenant, "AAD", session)
    account, _ = app.acquire_token(["User.Read"], ADELE)
    expect("a different cloud", -50002, lambda: app.acquire_token_silent(account, ["User.Read"]))
    assert adapter.count == 2, adapter.count


@test("what MSAL refuses before any request, and what the tenant refuses of a wrong app")
def refusals(tenant):
    authority = tenant.said["authority"]
    expect("HTTPS", None, lambda: application(tenant, "AAD", authority=authority.replace("https:", "http:")))
    expect("Missing host components", None, lambda: application(tenant, "CIAM", authority=tenant.said["external_authority"].replace("127.0.0.1", "localhost")))
    expect("AAD authority with B2C", None, lambda: application(tenant, "AAD", authority=tenant.said["b2c_authority"]))
    expect("reserved scopes", -42000, lambda: application(tenant, "CIAM").acquire_token(["openid"], ADELE))
    expect("msauth", -42011, lambda: application(tenant, "AAD", redirect_uri="com.contoso.tasks://auth"))
    wrong = Application(tenant.session(), "AAD", authority, tenant.native_id, "msauth.com.contoso.other://auth", "com.contoso.other")
    expect("AADSTS50011", None, lambda: wrong.acquire_token(["User.Read"], ADELE))
    unknown = Application(tenant.session(), "AAD", authority, "00001111-aaaa-2222-bbbb-3333cccc4444", NATIVE_URI, BUNDLE)
    expect("AADSTS700016", None, lambda: unknown.acquire_token(["User.Read"], ADELE))


@test("a client that does not trust the root gets no answer, and one that does gets one by each name of this machine")
def trust(tenant):
    for address in (tenant.origin, tenant.numeric):
        answer = tenant.session().get(address + "/common/discovery/v2.0/keys")
        assert answer.status_code == 200, address
    try:
        stranger = requests.Session()
        stranger.trust_env = False
        stranger.get(tenant.origin + "/common/discovery/v2.0/keys", timeout=5)
    except requests.exceptions.SSLError:
        pass
    else:
        raise AssertionError("this machine trusts the certificate without the root")
    port = tenant.origin.rsplit(":", 1)[1]
    said = subprocess.run(["curl", "--silent", "--max-time", "5", f"http://localhost:{port}/"], capture_output=True, text=True).stdout
    assert "https" in said.lower(), f"plain HTTP is not told what to do: {said!r}"


@test("in Chromium the last form leads to the app's scheme, and nothing is refused on the way")
def chromium(tenant):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    # Whom Chromium trusts is the matter of Tests/Trust.
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--ignore-certificate-errors", "--lang=en-US"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    try:
        driver.implicitly_wait(SECONDS)
        driver.get(tenant.said["authority"] + "/oauth2/v2.0/authorize?" + urllib.parse.urlencode({
            "client_id": tenant.native_id, "response_type": "code", "redirect_uri": NATIVE_URI, "scope": "openid Mail.Read", "state": "a"}))
        driver.find_element(By.CSS_SELECTOR, f"button[value='{ADELE}']").click()
        driver.find_element(By.CSS_SELECTOR, "input[name=password]").send_keys("demo\n")
        driver.find_element(By.CSS_SELECTOR, "button[name=consent][value=accept]").click()
        found = []

        def is_found():
            messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
            found.extend(each["params"]["documentURL"] for each in messages if each["method"] == "Network.requestWillBeSent")
            return any(each.startswith(NATIVE_URI + "?code=") for each in found)
        until(is_found, "the address of the app, with a code", seen=lambda: [each.split("?")[0] for each in found])
        assert driver.get_log("browser") == []
    finally:
        driver.quit()


@test("the page of requests says that the simulator trusts the certificate", slash)
def seen(tenant):
    page = tenant.session().get(tenant.origin + "/clients?ui_locales=en", headers={"Accept": "text/html"}).text
    assert f"MSAL.iOS {VERSION} first connected at" in page and "<code>-1202</code>" not in page
