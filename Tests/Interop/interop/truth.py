"""The tenant beside captured answers of the real platform: Public/data/truth.json has a fact in each row, with its source.

A row compares one part of one answer: that it is always or never there, and its form. Rows that are captured or documented
fail; inferred ones only say so. A row that is to stay different has the reason in `on_purpose`, and one that differs still says how in
`not_yet`: both fail once they are equal. A row about what the tenant does not have names that in `not_applicable`, and asks nothing.
"""

import base64
import collections
import functools
import html
import json
import pathlib
import re
import urllib.parse
from contextlib import contextmanager

from suite.registry import registry

from .credentials import Certificate
from .tenant import ADELE, SECRET, WEB_URI, approve, query, running, sign_in

tests, test = registry("truth")
B2C = "fabrikamb2c.example"
MEGAN = "megan@contoso.example"
MANY = "many@contoso.example"
FLOW = f"tfp/{B2C}/b2c_1_susi"
BIANCA = f"b2cuser@{B2C}"
ROOT = pathlib.Path(__file__).parent.parent.parent.parent
NOBODY = "11111111-0000-4000-8000-000000000000"
CORRELATION = "11111111-2222-4333-8444-555555555555"
API = "api://web.truth.example"
OLDER_API = "api://older.truth.example"
FABRIKAM = "fabrikam.example"
CASEY = f"customer@{FABRIKAM}"
PAGE_URI = "http://localhost:8080/page"
PERSONAL_URI = "http://localhost:8080/personal"
OPTIONAL_URI = "http://localhost:8080/optional"
LISTED_URI = "http://localhost:8080/listed"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
APPLICATIONS = [
    {"name": "Page", "spa": [PAGE_URI]},
    {"name": "Expired", "web": ["http://localhost:8080/expired"], "secret_file": "secret", "secret_expires": "2025-01-01"},
    {"name": "Older", "web": ["http://localhost:8080/older"], "secret_file": "secret", "group_claims": "all",
     "exposes": {OLDER_API: ["Tasks.Read"]}, "optional_claims": {"access_token": ["idtyp"]}},
    {"name": "Personal", "web": [PERSONAL_URI], "secret_file": "secret", "tenants": ["outlook.example"]},
    {"name": "Optional", "web": [OPTIONAL_URI], "secret_file": "secret", "group_claims": "all",
     "optional_claims": {"id_token": ["auth_time", "login_hint", "sid"]}},
    {"name": "Listed", "web": [LISTED_URI], "secret_file": "secret", "permissions": {"https://graph.microsoft.com": ["User.Read"]}},
    {"name": "Certified", "web": ["http://localhost:8080/certified"], "certificate_file": "Certified.pem"},
    {"name": "Ended", "web": ["http://localhost:8080/ended"], "certificate_file": "Ended.pem"},
    {"name": "Single", "web": ["http://localhost:8080/single"], "secret_file": "secret", "tenants": ["contoso.example"]},
    {"name": "Native", "native_authentication": True, "user_flow": {"method": "code", "attributes": [
        {"name": "displayName", "regex": "^[A-Z]"}, {"name": "age", "type": "integer"}]}},
]
# The days that each is still valid. Nobody has registered Stranger's.
CERTIFICATES = {"Certified": 2, "Ended": -1, "Stranger": 2}
DAY = 86_400
# The seconds of an access token without claims challenges, at most.
LONGEST_ACCESS = 5400
REASONS = ("on_purpose", "not_yet", "not_applicable")
USERS = [{"username": MANY, "password": "demo", "many_groups": 201}]


def rows():
    return json.loads((ROOT / "Public/data/truth.json").read_text())


def part(token, index):
    text = token.split(".")[index]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


class Answer:
    """One answer, of which rows compare parts."""

    def __init__(self, response=None, token=None, address=None, **body):
        self.response, self.token, self.address = response, token, address
        if body:
            self.body = body

    @functools.cached_property
    def body(self):
        try:
            return self.response.json()
        except ValueError:
            return None

    @property
    def members(self):
        return part(self.token, 1) if self.token else self.body

    def look(self, place):
        """Returns what is there, as text; None for nothing."""
        kind, _, name = place.partition(":")
        if kind == "names":
            return " ".join(sorted(self.members))
        if kind == "order":
            if self.address:
                return " ".join(query(self.address))
            return " ".join(functools.reduce(inner, name.split("."), self.members) if name else self.members)
        if kind == "life":
            return str(self.members["exp"] - self.members["iat"])
        if kind == "error":
            return f"{self.response.status_code} {self.body['error']} {self.body['error_codes'][0]}"
        found = {
            "status": lambda: self.response.status_code,
            "header": lambda: self.response.headers.get(name),
            "query": lambda: query(self.address).get(name),
            "jose": lambda: part(self.token, 0).get(name),
            "claims": lambda: self.members.get(name) if name else self.members,
            "text": lambda: self.response.text,
            "challenge": lambda: base64.b64decode(re.search('claims="([^"]*)"', self.response.headers["WWW-Authenticate"])[1]).decode(),
            "body": lambda: functools.reduce(inner, name.split("."), self.body),
        }[kind]()
        return found if found is None or isinstance(found, str) else json.dumps(found)


def inner(value, name):
    if isinstance(value, list):
        return value[int(name)] if int(name) < len(value) else None
    return value.get(name) if isinstance(value, dict) else None


class Context:
    """Makes each answer once."""

    def __init__(self, tenant, certificates):
        self.tenant, self.situation, self.certificates = tenant, tenant.situation, certificates
        self.made = {}

    def get(self, path, **more):
        return self.tenant.session().get(self.tenant.origin + path, allow_redirects=False, **more)

    def post(self, segment, headers=None, path="oauth2/v2.0/token", **fields):
        return self.tenant.session().post(f"{self.tenant.origin}/{segment}/{path}", data=fields, headers=headers)

    def web(self, segment="contoso.example", **fields):
        return self.post(segment, client_id=self.tenant.web_id, client_secret=SECRET, **fields)

    def code(self, username=ADELE, segment="common", scope="User.Read profile offline_access openid", consent="accept", more=(), **changed):
        asked = {
            "client_id": self.tenant.web_id, "redirect_uri": WEB_URI, "response_type": "code", "scope": scope,
            "state": "s", "nonce": "n",
        } | changed
        asked = {name: value for name, value in asked.items() if value is not None}
        address = f"{self.tenant.origin}/{segment}/oauth2/v2.0/authorize?{urllib.parse.urlencode(asked)}"
        return sign_in(self.tenant.session(), address, asked.get("redirect_uri", WEB_URI), username, consent, more=more)

    def tokens(self, username=ADELE, segment="common", **more):
        code = query(self.code(username, segment, **more))["code"]
        return self.web(segment, grant_type="authorization_code", code=code, redirect_uri=WEB_URI)

    def answer(self, name):
        if name not in self.made:
            self.made[name] = ANSWERS[name](self)
        return self.made[name]

    def authorize(self, segment="common", **changed):
        asked = {"client_id": self.tenant.web_id, "redirect_uri": WEB_URI, "response_type": "code", "scope": "openid"} | changed
        return self.get(f"/{segment}/oauth2/v2.0/authorize", params=asked)

    def instance(self, endpoint):
        return Answer(self.get("/common/discovery/instance", params={"authorization_endpoint": endpoint, "api-version": "1.1"}))

    def second_factor(self):
        token = self.tokens(MEGAN, "contoso.example").json()["refresh_token"]
        self.tenant.control(require_mfa=MEGAN)
        return Answer(self.web(grant_type="refresh_token", refresh_token=token))

    def second_factor_at_version_1(self):
        token = self.tokens(MEGAN, "contoso.example").json()["refresh_token"]
        self.tenant.control(require_mfa=MEGAN)
        return Answer(self.web(path="oauth2/token", grant_type="refresh_token", refresh_token=token))

    def on_behalf(self, scope=API + "/Tasks.Read", username=ADELE, then=lambda: None, wanted="https://graph.microsoft.com/User.Read"):
        self.tokens(username, "contoso.example")
        token = self.tokens(username, "contoso.example", scope=scope).json()["access_token"]
        then()
        return Answer(self.web(
            grant_type="urn:ietf:params:oauth:grant-type:jwt-bearer", requested_token_use="on_behalf_of", assertion=token,
            scope=wanted))

    def password(self, password="demo", segment="contoso.example", scope="openid User.Read", username=ADELE):
        self.tokens(segment="contoso.example")
        return Answer(self.web(segment, grant_type="password", username=username, password=password, scope=scope))

    def renewed(self, **more):
        token = self.tokens().json()["refresh_token"]
        return Answer(self.web("common", grant_type="refresh_token", refresh_token=token, **more))

    def again(self):
        token = self.tokens().json()["refresh_token"]
        for _ in range(2):
            answer = self.web("common", grant_type="refresh_token", refresh_token=token)
        return Answer(answer)

    def after_more(self):
        self.tokens(scope="openid profile offline_access User.Read Mail.Read")
        return Answer(self.tokens(scope="openid profile offline_access User.Read"))

    def twice(self):
        code = query(self.code())["code"]
        for _ in range(2):
            answer = self.web("common", grant_type="authorization_code", code=code, redirect_uri=WEB_URI)
        return Answer(answer)

    def device(self, scope="openid"):
        return self.post("common", path="oauth2/v2.0/devicecode", client_id=self.tenant.native_id, scope=scope).json()

    def redeemed_device(self):
        code = self.device()
        approve(self.tenant.session(), code["verification_uri"], code["user_code"])
        self.poll(code["device_code"])
        return self.poll(code["device_code"])

    def poll(self, code, grant=DEVICE):
        return Answer(self.post("common", grant_type=grant, client_id=self.tenant.native_id, device_code=code))

    def waiting(self):
        return self.poll(self.device()["device_code"])

    def polled_at_once(self):
        code = self.device()["device_code"]
        self.poll(code)
        return self.poll(code)

    def approved(self, confirm="continue", grant=DEVICE):
        code = self.device()
        approve(self.tenant.session(), code["verification_uri"], code["user_code"], confirm=confirm)
        return self.poll(code["device_code"], grant)

    def redeemed(self, changed=None, headers=None, **asked):
        """The answer to a code whose request for tokens is another than the one of `tokens`."""
        code = query(self.code(**asked))["code"]
        fields = {"client_id": self.tenant.web_id, "client_secret": SECRET, "code": code, "redirect_uri": WEB_URI} | (changed or {})
        fields = {name: value for name, value in fields.items() if value is not None}
        return Answer(self.post(asked.get("segment", "common"), headers, grant_type="authorization_code", **fields))

    def page(self, headers=None, **more):
        return self.redeemed(
            {"client_id": self.tenant.ids["Page"], "client_secret": None, "redirect_uri": PAGE_URI, "code_verifier": "v" * 43}, headers,
            client_id=self.tenant.ids["Page"], redirect_uri=PAGE_URI, code_challenge="v" * 43, code_challenge_method="plain", **more)

    def graph(self, token, path="/v1.0/me"):
        return Answer(self.get(path, headers={"Authorization": f"Bearer {token}", "Origin": "https://page.example"}))

    def ask_graph(self, path="/v1.0/me", scope="openid offline_access User.Read", username=ADELE):
        return self.graph(self.tokens(username, scope=scope).json()["access_token"], path)

    def post_graph(self, path, body=None, scope="openid profile User.Read User.ReadBasic.All"):
        token = self.tokens(scope=scope).json()["access_token"]
        return Answer(self.tenant.session().post(self.tenant.origin + path, json=body, headers={"Authorization": f"Bearer {token}"}))

    def after_revocation(self):
        token = self.tokens(MEGAN, claims='{"access_token":{"xms_cc":{"values":["cp1"]}}}').json()["access_token"]
        self.tenant.control(revoke=MEGAN)
        return self.graph(token)

    def lives(self):
        tokens = [part(self.tokens().json()["access_token"], 1) for _ in range(3)]
        return Answer(differ=len({token["exp"] - token["iat"] for token in tokens}) > 1)

    def certified(self, name="Certified", by=None, **more):
        """The answer to an application that proves itself by an assertion."""
        audience = f"{self.tenant.origin}/contoso.example/oauth2/v2.0/token"
        assertion = self.certificates[by or name].assertion(self.tenant.ids[name], audience, **more)
        return Answer(self.post(
            "contoso.example", grant_type="client_credentials", client_id=self.tenant.ids[name],
            scope="https://graph.microsoft.com/.default", client_assertion=assertion,
            client_assertion_type="urn:ietf:params:oauth:client-assertion-type:jwt-bearer"))

    def native(self, path, **fields):
        return Answer(self.post(FABRIKAM, path=f"signup/v1.0/{path}", client_id=self.tenant.ids["Native"], **fields))

    def begin_sign_up(self, username, **more):
        return self.native("start", username=username, challenge_type="oob redirect", **more)

    def challenge_sign_up(self, username):
        token = self.begin_sign_up(username).body["continuation_token"]
        return self.native("challenge", continuation_token=token, challenge_type="oob redirect")

    def sign_up(self, username):
        """The answer to the right code of a person who has given no attributes."""
        token = self.challenge_sign_up(username).body["continuation_token"]
        sent = self.get("/outbox", params={"to": username, "wait": 5}).json()["messages"][0]["code"]
        return self.native("continue", continuation_token=token, grant_type="oob", oob=sent)

    def controlled(self, make, **settings):
        """An answer while the tenant has settings of its control page."""
        self.tenant.control(**settings)
        try:
            return make()
        finally:
            self.tenant.control(reset=True)

    def silent(self):
        """A request without a page for a person who is signed in, and has not consented to Mail.Read."""
        session = self.tenant.session()
        self.tenant.control(require_consent=ADELE)
        asked = {"client_id": self.tenant.web_id, "redirect_uri": WEB_URI, "response_type": "code", "scope": "openid User.Read", "state": "s"}
        address = f"{self.tenant.origin}/contoso.example/oauth2/v2.0/authorize?"
        sign_in(session, address + urllib.parse.urlencode(asked), WEB_URI, ADELE)
        asked |= {"prompt": "none", "scope": "openid Mail.Read", "login_hint": ADELE}
        return Answer(address=session.get(address + urllib.parse.urlencode(asked), allow_redirects=False).headers["Location"])

    def unconsented(self):
        self.tenant.control(require_consent=MEGAN)
        token = self.tokens(MEGAN, "contoso.example", scope="openid offline_access User.Read").json()["refresh_token"]
        return Answer(self.web(grant_type="refresh_token", refresh_token=token, scope="https://graph.microsoft.com/Calendars.Read"))

    def personal(self):
        code = {"client_id": self.tenant.ids["Personal"], "redirect_uri": PERSONAL_URI}
        return Answer(self.post("common", grant_type="authorization_code", client_secret=SECRET, code="x", **code))

    def expired(self):
        token = self.tokens().json()["access_token"]
        self.let_pass(LONGEST_ACCESS)
        return self.graph(token)

    def refreshed(self, username, segment, then):
        """The answer to a refresh after something has happened to the grant."""
        token = self.tokens(username, segment, scope="openid offline_access").json()["refresh_token"]
        then()
        return Answer(self.web(segment, grant_type="refresh_token", refresh_token=token))

    def late(self, username, segment):
        return self.controlled(lambda: self.refreshed(username, segment, lambda: self.let_pass(90 * DAY)))

    def late_page(self):
        """The answer to the refresh of a page whose grant has ended."""
        origin = {"Origin": "http://localhost:8080"}
        token = self.page(origin, scope="openid offline_access").body["refresh_token"]
        self.let_pass(DAY)
        return Answer(self.post("common", origin, grant_type="refresh_token", client_id=self.tenant.ids["Page"], refresh_token=token))

    def late_device(self):
        code = self.device()["device_code"]
        self.let_pass(900)
        return self.poll(code)

    def let_pass(self, seconds):
        """Moves the tenant's clock; `controlled` puts it back."""
        self.tenant.control(clock_seconds=seconds)

    def optional(self, username=ADELE):
        own = {"client_id": self.tenant.ids["Optional"], "redirect_uri": OPTIONAL_URI}
        return Answer(token=self.redeemed(own, username=username, **own).body["id_token"])

    def throttled(self):
        token = self.tokens().json()["access_token"]
        self.tenant.control(graph_throttled=True)
        return self.graph(token)

    def throttled_tokens(self):
        """The answer that the control page has a button for."""
        said = self.tenant.session().post(self.tenant.said["control"], data={"token_error": "throttled"})
        assert said.ok, said.text
        return Answer(self.web(grant_type="client_credentials", scope="https://graph.microsoft.com/.default"))

    def page_of(self, answer):
        """A page: the error that it names, or the fields of its form, are looked up as those of an address."""
        found = re.search(r"(?:AADSTS|AADB2C)\d+: [^<]*", answer.text)
        fields = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', answer.text)
        return Answer(answer, address="?" + urllib.parse.urlencode([("error_description", html.unescape(found[0]))] if found else fields))

    def posted(self):
        address = f"{self.tenant.origin}/common/oauth2/v2.0/authorize?" + urllib.parse.urlencode({
            "client_id": self.tenant.web_id, "redirect_uri": WEB_URI, "response_type": "code", "scope": "openid", "state": "s",
            "response_mode": "form_post"})
        pages = []
        session = self.tenant.session()
        send = session.post
        # Nobody listens at the application's own address.
        session.post = lambda url, **more: None if url.startswith(WEB_URI) else send(url, **more)
        sign_in(session, address, WEB_URI, ADELE, on_page=pages.append)
        return self.page_of(pages[-1])

    def sign_out(self, back, follow=False):
        session = self.tenant.session()
        asked = {"client_id": self.tenant.web_id, "redirect_uri": WEB_URI, "response_type": "code", "scope": "openid", "state": "s"}
        sign_in(session, f"{self.tenant.origin}/common/oauth2/v2.0/authorize?{urllib.parse.urlencode(asked)}", WEB_URI, ADELE)
        asked = urllib.parse.urlencode({"post_logout_redirect_uri": back, "state": "s"})
        answer = session.get(f"{self.tenant.origin}/common/oauth2/v2.0/logout?{asked}", allow_redirects=follow)
        return Answer(answer, address=answer.headers.get("Location"))

    def consent(self, consent):
        asked = {"client_id": self.tenant.web_id, "redirect_uri": WEB_URI, "state": "s", "scope": "https://graph.microsoft.com/.default"}
        address = f"{self.tenant.origin}/contoso.example/v2.0/adminconsent?{urllib.parse.urlencode(asked)}"
        return Answer(address=sign_in(self.tenant.session(), address, WEB_URI, ADELE, consent))


def metadata(path):
    return lambda context: Answer(context.get(path))


def reported(answer):
    """An error in the fragment of an address."""
    return Answer(answer, address=answer.headers.get("Location", "").replace("#", "?"))


def refused(segment="contoso.example", headers=None, **fields):
    names = {"WEB": "Web", "NATIVE": "Tasks", "EXPIRED": "Expired", "SINGLE": "Single"}
    return lambda context: Answer(context.post(segment, headers, **{
        name: context.tenant.ids[names[value]] if value in names else value for name, value in fields.items()
    }))


def own(scope):
    return lambda context: Answer(context.web(grant_type="client_credentials", scope=scope))


def id_token(*person):
    return lambda context: Answer(token=context.tokens(*person).json()["id_token"])


DEMO_READ = f"openid offline_access https://{B2C}/api/demo.read"
CONFIGURATION = "/v2.0/.well-known/openid-configuration"
OWN = {"client_id": "WEB", "client_secret": SECRET}
ANSWERS = {
    "v2 discovery": metadata("/contoso.example" + CONFIGURATION),
    "v2 discovery for an application": lambda context: Answer(
        context.get("/contoso.example" + CONFIGURATION, params={"appid": context.tenant.web_id})),
    "v2 discovery of common": metadata("/common" + CONFIGURATION),
    "v2 discovery of consumers": metadata("/consumers" + CONFIGURATION),
    "v2 discovery of an unknown tenant": metadata("/nosuch.example" + CONFIGURATION),
    "v2 discovery of a segment that is no tenant": metadata("/nosuch" + CONFIGURATION),
    "v2 discovery of a B2C policy": metadata(f"/{FLOW}{CONFIGURATION}"),
    "v2 discovery of a B2C policy in the query": metadata(f"/{B2C}{CONFIGURATION}?p=B2C_1_susi"),
    "v1 discovery": metadata("/contoso.example/.well-known/openid-configuration"),
    "instance discovery": lambda context: context.instance(context.tenant.origin + "/common/oauth2/v2.0/authorize"),
    "instance discovery of an unknown tenant": lambda context: context.instance(context.tenant.origin + "/nosuch.example/oauth2/v2.0/authorize"),
    "instance discovery of another host": lambda context: context.instance("https://login.example/common/oauth2/v2.0/authorize"),
    "keys of common": metadata("/common/discovery/v2.0/keys"),
    "keys of version 1": metadata("/common/discovery/keys"),
    "authorize: success": lambda context: Answer(address=context.code()),
    "authorize: code and ID token": lambda context: Answer(address=context.code(response_type="code id_token").replace("#", "?")),
    "token answer on behalf of": Context.on_behalf,
    "token error: on behalf of with a token for Graph": lambda context: context.on_behalf("User.Read"),
    "token answer of a password": Context.password,
    "token error: password at common": lambda context: context.password(segment="common"),
    "token error: password without consent": lambda context: context.password(scope="openid Calendars.Read"),
    "token error: wrong password": lambda context: context.password("wrong"),
    "token error: password of nobody": lambda context: context.password(username="nobody@contoso.example"),
    "ID token on behalf of": lambda context: Answer(
        token=context.on_behalf(wanted="openid profile https://graph.microsoft.com/User.Read").body["id_token"]),
    "token error: on behalf of with another API's token": lambda context: context.on_behalf(OLDER_API + "/Tasks.Read"),
    "authorize for a redirect URI without a path": lambda context: Answer(context.authorize(
        client_id=context.tenant.native_id, redirect_uri="http://localhost", prompt="none")),
    "authorize: an error whose text has brackets": lambda context: Answer(context.authorize(response_type="a(b)")),
    "authorize with two prompts": lambda context: context.page_of(context.authorize(prompt="select_account consent")),
    "authorize: resource that the registration does not list": lambda context: Answer(address=context.code(
        segment="contoso.example", client_id=context.tenant.ids["Listed"], redirect_uri=LISTED_URI, scope=f"openid {API}/Tasks.Read")),
    "authorize for a client without a redirect URI": lambda context: context.page_of(context.authorize(
        FABRIKAM, client_id=context.tenant.ids["Native"])),
    "authorize at version 1 with a personal account": lambda context: Answer(address=sign_in(
        context.tenant.session(), f"{context.tenant.origin}/common/oauth2/authorize?" + urllib.parse.urlencode({
            "client_id": context.tenant.web_id, "redirect_uri": WEB_URI, "response_type": "code",
            "resource": "https://graph.microsoft.com"}), WEB_URI, "alex@outlook.example")),
    "B2C: authorize with an unregistered redirect URI": lambda context: reported(context.authorize(
        FLOW, redirect_uri="http://localhost:1/", state="s")),
    "token error: expired assertion without nbf": lambda context: context.certified(seconds=-1000, without=["nbf"]),
    "token error: assertion without a thumbprint": lambda context: context.certified(named=None),
    "token error: assertion signed with HS256": lambda context: context.certified(algorithm="HS256"),
    "token error: assertion of another application": lambda context: context.certified(issuer=NOBODY),
    "native sign-in with an unknown continuation token": lambda context: Answer(context.post(
        FABRIKAM, path="oauth2/v2.0/challenge", client_id=context.tenant.ids["Native"], continuation_token="x",
        challenge_type="oob password redirect")),
    "native sign-up with an unknown continuation token": lambda context: context.native(
        "continue", continuation_token="x", grant_type="oob", oob="1"),
    "native sign-up challenged with an unknown continuation token": lambda context: context.native(
        "challenge", continuation_token="x", challenge_type="oob redirect"),
    "native tokens for an unknown continuation token": lambda context: Answer(context.post(
        FABRIKAM, client_id=context.tenant.ids["Native"], continuation_token="x", grant_type="oob", oob="1", scope="openid")),
    "authorize with another resource": lambda context: Answer(address=context.authorize(
        scope="https://graph.microsoft.com/User.Read", resource="https://mcp.example.com/mcp", state="s").headers["Location"]),
    "token error: another resource": lambda context: context.renewed(resource="https://mcp.example.com/mcp"),
    "authorize with an unregistered redirect URI": lambda context: Answer(context.authorize(redirect_uri="https://page.example/")),
    "token answer of a code": lambda context: Answer(context.tokens()),
    "token answer after more was granted": Context.after_more,
    "token answer of a refresh token": Context.renewed,
    "token answer of an application": own("https://graph.microsoft.com/.default"),
    "token answer of a personal account": lambda context: Answer(context.tokens("alex@outlook.example")),
    "device code answer": lambda context: Answer(
        context.post("common", path="oauth2/v2.0/devicecode", client_id=context.tenant.native_id, scope="openid")),
    "device code that waits": Context.waiting,
    "token error: wrong secret": refused(
        headers={"client-request-id": CORRELATION}, grant_type="client_credentials", client_id="WEB", client_secret="wrong",
        scope="https://graph.microsoft.com/.default"),
    "token error: no secret": refused(grant_type="authorization_code", client_id="WEB", code="x", redirect_uri=WEB_URI),
    "token error: no secret of an application": refused(
        grant_type="client_credentials", client_id="WEB", scope="https://graph.microsoft.com/.default"),
    "token error: secret of a public client": refused(grant_type="refresh_token", client_id="NATIVE", client_secret="x", refresh_token="x"),
    "token error: unknown client": refused(grant_type="refresh_token", client_id=NOBODY, refresh_token="x"),
    "token error: empty client ID": refused(grant_type="refresh_token", client_id="00000000-0000-0000-0000-000000000000", refresh_token="x"),
    "token error: client ID that is no GUID": refused(grant_type="refresh_token", client_id="{client_id}", refresh_token="x"),
    "token error: unknown resource": own("https://nothing.example/.default"),
    "token error: unknown resource of a refresh": lambda context: Answer(context.web(
        grant_type="refresh_token", scope="https://nothing.example/Read",
        refresh_token=context.tokens(segment="contoso.example").json()["refresh_token"])),
    "token error: unknown client at consumers": refused("consumers", grant_type="refresh_token", client_id=NOBODY, refresh_token="x"),
    "token error asked by another name of the host": lambda context: Answer(context.tenant.session().post(
        context.tenant.numeric + "/contoso.example/oauth2/v2.0/token",
        data={"grant_type": "refresh_token", "client_id": NOBODY, "refresh_token": "x"})),
    "token error: unknown grant": refused(grant_type="magic", **OWN),
    "token error: scope without .default": own("https://graph.microsoft.com/User.Read"),
    "token error: unknown tenant": refused("nosuch.example", grant_type="refresh_token", refresh_token="x", **OWN),
    "token error: GET": metadata("/common/oauth2/v2.0/token"),
    "token error: missing parameter": refused(**OWN),
    "token error: malformed code": refused(grant_type="authorization_code", code="x", redirect_uri=WEB_URI, **OWN),
    "token error: code twice": Context.twice,
    "token error: second factor": Context.second_factor,
    "token error: secret from a page": refused(
        headers={"Origin": "https://page.example"}, grant_type="authorization_code", code="x", redirect_uri=WEB_URI, **OWN),
    "token error at version 1: second factor": Context.second_factor_at_version_1,
    "token error: secret from another application's page": refused(
        headers={"Origin": "http://localhost:8080"}, grant_type="authorization_code", code="x", redirect_uri=WEB_URI, **OWN),
    "token error at B2C": refused(FLOW, grant_type="refresh_token", refresh_token="x", **OWN),
    "access token for Graph": lambda context: Answer(token=context.tokens().json()["access_token"]),
    "access token of version 2": lambda context: Answer(token=own(API + "/.default")(context).body["access_token"]),
    "ID token of a work account": id_token(),
    "ID token of a personal account": lambda context: Answer(
        token=context.tokens("alex@outlook.example", scope="openid profile email").json()["id_token"]),
    "ID token of a guest": id_token(ADELE, "tailspin.example"),
    "ID token at version 1 of a guest": lambda context: Answer(token=context.web(
        "tailspin.example", path="oauth2/token", grant_type="refresh_token",
        refresh_token=context.tokens(ADELE, "tailspin.example").json()["refresh_token"]).json()["id_token"]),
    "ID token of a B2C user flow": id_token(BIANCA, FLOW),
    "token answer of a B2C user flow": lambda context: Answer(context.tokens(BIANCA, FLOW, scope="openid offline_access")),
    "token answer of a B2C user flow for an API": lambda context: Answer(context.tokens(BIANCA, FLOW, scope=DEMO_READ)),
    "access token of a B2C user flow": lambda context: Answer(token=context.tokens(BIANCA, FLOW, scope=DEMO_READ).json()["access_token"]),
    "token answer of a client with claims challenges": lambda context: Answer(context.tokens(
        claims='{"access_token":{"xms_cc":{"values":["cp1"]}}}')),
    "Graph 200": lambda context: context.graph(context.tokens().json()["access_token"]),
    "Graph 401 without dots": lambda context: context.graph("nothing"),
    "authorize: success with client_info": lambda context: Answer(address=context.code(client_info="1")),
    "authorize: success with form_post": Context.posted,
    "authorize: success of PKCE without a method": lambda context: context.redeemed({"code_verifier": "v" * 43}, code_challenge="v" * 43),
    "authorize: page's request without code_challenge": lambda context: Answer(address=context.authorize(
        client_id=context.tenant.ids["Page"], redirect_uri=PAGE_URI).headers["Location"].replace("#", "?")),
    "authorize: declined consent": lambda context: context.controlled(
        lambda: Answer(address=context.code(MEGAN, consent="cancel")), require_consent=MEGAN),
    "authorize: declined second factor": lambda context: Answer(address=context.code(
        claims='{"access_token":{"capolids":{"essential":true,"values":["x"]}}}', more=[("second_factor", "cancel")])),
    "authorize: unknown client": lambda context: context.page_of(context.authorize(client_id=NOBODY)),
    "authorize: no client_id": lambda context: context.page_of(context.authorize(client_id=None)),
    "authorize: no redirect_uri": lambda context: Answer(address=context.code(redirect_uri=None)),
    "authorize: prompt=none with nobody": lambda context: Answer(address=context.authorize(prompt="none", state="s").headers["Location"]),
    "authorize: prompt=none without consent": Context.silent,
    "authorize: unknown scope": lambda context: Answer(address=context.code(scope="openid https://graph.microsoft.com/Nothing.Here")),
    "authorize: scope of wrong form": lambda context: Answer(address=context.code(scope="openid /")),
    "authorize: unknown resource": lambda context: Answer(address=context.code(
        segment="contoso.example", scope="openid https://nothing.example/Read")),
    "token answer with client_info": lambda context: context.redeemed({"client_info": "1"}),
    "token answer with return-client-request-id": lambda context: context.redeemed(
        {"return-client-request-id": "true"}, {"client-request-id": CORRELATION, "return-client-request-id": "true"}),
    "token answer of a page": lambda context: context.page({"Origin": "http://localhost:8080"}),
    "token answer of a long life": lambda context: context.controlled(
        lambda: Answer(context.tokens()), access_token_seconds=10_000),
    "access token of a long life": lambda context: Answer(token=context.answer("token answer of a long life").body["access_token"]),
    "token answer of a refresh token that was used before": Context.again,
    "token answer for an API": lambda context: Answer(context.tokens(segment="contoso.example", scope=f"openid {API}/Tasks.Read")),
    "token answer for an API's default": lambda context: Answer(context.tokens(segment="contoso.example", scope=f"openid {API}/.default")),
    "token error: application at common": lambda context: Answer(context.web(
        "common", grant_type="client_credentials", scope="https://graph.microsoft.com/.default")),
    "device code that is polled at once": Context.polled_at_once,
    "device code past its time": lambda context: context.controlled(context.late_device),
    "device code with the older grant": lambda context: context.approved(grant="device_code"),
    "device code without scope": lambda context: Answer(
        context.post("common", path="oauth2/v2.0/devicecode", client_id=context.tenant.native_id)),
    "device code that is unknown": lambda context: context.poll("nothing"),
    "device code that was redeemed": Context.redeemed_device,
    "device code that is declined": lambda context: context.approved("cancel"),
    "token error: expired secret": refused(
        grant_type="client_credentials", client_id="EXPIRED", client_secret=SECRET, scope="https://graph.microsoft.com/.default"),
    "token error: wrong code_verifier": lambda context: context.redeemed({"code_verifier": "w" * 43}, code_challenge="v" * 43),
    "token error: other redirect URI": lambda context: context.redeemed({"redirect_uri": "http://localhost:8080/other"}),
    "token error: consent missing": Context.unconsented,
    "token error: page's code without Origin": Context.page,
    "token error: personal application at common": Context.personal,
    "token error: throttled": Context.throttled_tokens,
    "token error: on behalf of with an expired token": lambda context: context.controlled(
        lambda: context.on_behalf(then=lambda: context.let_pass(LONGEST_ACCESS))),
    "token error: on behalf of with a second factor": lambda context: context.on_behalf(
        username=MEGAN, then=lambda: context.tenant.control(require_mfa=MEGAN)),
    "access token of an API": lambda context: Answer(
        token=context.tokens(segment="contoso.example", scope=f"openid profile {API}/Tasks.Read").json()["access_token"]),
    "access token of an API of version 1": lambda context: Answer(
        token=context.tokens(segment="contoso.example", scope=f"openid profile {OLDER_API}/Tasks.Read").json()["access_token"]),
    "access token of an application for an API of version 1": lambda context: Answer(token=own(OLDER_API + "/.default")(context).body["access_token"]),
    "access token of an application": lambda context: Answer(token=own("https://graph.microsoft.com/.default")(context).body["access_token"]),
    "ID token of a person in many groups": lambda context: context.optional(MANY),
    "ID token with optional claims": Context.optional,
    "access token of a guest": lambda context: Answer(token=context.tokens(ADELE, "tailspin.example").json()["access_token"]),
    "ID token with email": lambda context: Answer(token=context.tokens(scope="openid profile email").json()["id_token"]),
    "ID token without profile": lambda context: Answer(token=context.tokens(scope="openid").json()["id_token"]),
    "ID token of a refresh token": lambda context: Answer(token=context.renewed().body["id_token"]),
    "ID token of an external tenant": lambda context: Answer(token=context.tokens(
        CASEY, FABRIKAM, scope="openid profile").json()["id_token"]),
    "v2 discovery of an external tenant": metadata(f"/{FABRIKAM}{CONFIGURATION}"),
    "token error at B2C: wrong secret": refused(
        FLOW, grant_type="authorization_code", client_id="WEB", client_secret="wrong", code="x", redirect_uri=WEB_URI),
    "token error at B2C: no secret": refused(FLOW, grant_type="authorization_code", client_id="WEB", code="x", redirect_uri=WEB_URI),
    "token error at B2C: missing parameter": refused(FLOW, **OWN),
    "token error at B2C: unknown grant": refused(FLOW, grant_type="magic", **OWN),
    "token error at B2C: revoked grant": lambda context: context.refreshed(
        BIANCA, FLOW, lambda: context.tenant.control(revoke=BIANCA)),
    "token error at B2C: secret of a public client": refused(
        FLOW, grant_type="refresh_token", client_id="NATIVE", client_secret="x", refresh_token="x"),
    "token error at B2C: wrong code_verifier": lambda context: context.redeemed(
        {"code_verifier": "w" * 43}, segment=FLOW, username=BIANCA, scope="openid", code_challenge="v" * 43),
    "B2C: page's request without code_challenge": lambda context: reported(context.authorize(
        FLOW, client_id=context.tenant.ids["Page"], redirect_uri=PAGE_URI)),
    "B2C: unknown response mode": lambda context: reported(context.authorize(FLOW, response_mode="smoke")),
    "B2C: API that the registration does not list": lambda context: Answer(address=context.code(
        BIANCA, FLOW, DEMO_READ, client_id=context.tenant.ids["Listed"], redirect_uri=LISTED_URI)),
    "token error at B2C: malformed code": refused(FLOW, grant_type="authorization_code", code="x", redirect_uri=WEB_URI, **OWN),
    "token error at B2C: expired refresh token": lambda context: context.late(BIANCA, FLOW),
    "token error at B2C: another user flow's refresh token": lambda context: Answer(context.web(
        FLOW.replace("susi", "edit_profile"), grant_type="refresh_token",
        refresh_token=context.tokens(BIANCA, FLOW, scope="openid offline_access").json()["refresh_token"])),
    "token error: revoked grant": lambda context: context.refreshed(
        MEGAN, "contoso.example", lambda: context.tenant.control(revoke=MEGAN)),
    "token error: grant past its time": lambda context: context.late(ADELE, "contoso.example"),
    "token error: page's grant past its time": lambda context: context.controlled(context.late_page),
    "token error: blocked by a policy": lambda context: context.refreshed(
        ADELE, "contoso.example", lambda: context.tenant.control(token_platform_error=53003)),
    "token error: code of no form at consumers": refused(
        "consumers", grant_type="authorization_code", code="x", redirect_uri=WEB_URI, **OWN),
    "token error: refresh token of no form at consumers": refused("consumers", grant_type="refresh_token", refresh_token="x", **OWN),
    "token error: personal account's grant past its time": lambda context: context.late("alex@outlook.example", "consumers"),
    "authorize: page of an unregistered redirect URI": lambda context: context.page_of(
        context.authorize(redirect_uri="https://page.example/")),
    "token error: a grant at a tenant that does not know the account": lambda context: Answer(context.web(
        "tailspin.example", grant_type="refresh_token",
        refresh_token=context.tokens(MEGAN, "contoso.example", scope="openid offline_access").json()["refresh_token"])),
    "token error: scopes of two resources": lambda context: context.redeemed(
        {"scope": f"https://graph.microsoft.com/User.Read {API}/Tasks.Read"}, segment="contoso.example"),
    "token error: no scope for a code of two resources": lambda context: context.redeemed(
        segment="contoso.example", scope=f"openid https://graph.microsoft.com/User.Read {API}/Tasks.Read"),
    "token error: application of one tenant at common": refused(
        "common", grant_type="refresh_token", client_id="SINGLE", client_secret=SECRET, refresh_token="x"),
    "token error: application without scope": lambda context: Answer(context.web(grant_type="client_credentials")),
    "token error: no code": refused(grant_type="authorization_code", redirect_uri=WEB_URI, **OWN),
    "token error: no refresh token": refused(grant_type="refresh_token", client_id="NATIVE"),
    "user realm": metadata(f"/common/userrealm/{ADELE}?api-version=1.0"),
    "user realm in capitals": metadata(f"/common/UserRealm/{ADELE}?api-version=1.0"),
    "v2 discovery of a B2C policy with the policy in the issuer": lambda context: context.controlled(
        lambda: Answer(context.get(f"/{FLOW}{CONFIGURATION}")), b2c_issuer_with_policy=True),
    "B2C: cancel": lambda context: Answer(address=context.code(BIANCA, FLOW, more=[("cancel", "1")])),
    "B2C: forgotten password": lambda context: Answer(address=context.code(BIANCA, FLOW, more=[("forgot", "1")])),
    "userinfo of a personal account": lambda context: context.ask_graph("/oidc/userinfo", "openid profile email", "alex@outlook.example"),
    "Graph 200 of a personal account": lambda context: context.ask_graph(username="alex@outlook.example"),
    "Graph 200 of beta": lambda context: context.ask_graph("/beta/me"),
    "Graph 401 without a token": lambda context: Answer(context.get("/v1.0/me")),
    "Graph 401 of an opaque token": lambda context: context.graph("EwBwA8l6BAAU"),
    "Graph 401 of another audience": lambda context: context.graph(
        context.tokens(segment="contoso.example", scope=f"openid {API}/Tasks.Read").json()["access_token"]),
    "Graph 401 expired": lambda context: context.controlled(context.expired),
    "Graph 401 of a claims challenge": lambda context: context.controlled(lambda: context.ask_graph(
        scope="openid User.Read"), claims_challenge=True),
    "Graph after a revocation": Context.after_revocation,
    "Graph 501 of a property that lists lack": lambda context: context.ask_graph(
        "/v1.0/users?$select=preferredName", "openid User.ReadBasic.All"),
    "Graph: revokeSignInSessions": lambda context: context.post_graph(
        f"/v1.0/users/{MEGAN}/revokeSignInSessions", scope="openid User.RevokeSessions.All"),
    "Graph: batch of ids that differ only in case": lambda context: context.post_graph("/v1.0/$batch", {"requests": [
        {"id": "a", "method": "GET", "url": "/me"}, {"id": "A", "method": "GET", "url": "/me"}]}),
    "userinfo": lambda context: context.ask_graph("/oidc/userinfo", "openid profile email"),
    "Graph 403": lambda context: context.ask_graph("/v1.0/users"),
    "Graph 403 of mail": lambda context: context.ask_graph("/v1.0/me/messages"),
    "Graph 404 of a user": lambda context: context.ask_graph(
        "/v1.0/users/99999999-0000-4000-8000-000000000000", "openid User.ReadBasic.All"),
    "Graph 404 of a photo": lambda context: context.ask_graph("/v1.0/me/photo/$value", username=MEGAN),
    "Graph 400 of an unknown path": lambda context: context.ask_graph("/v1.0/nothing"),
    "Graph 429": Context.throttled,
    "logout": lambda context: Answer(context.tenant.session().get(f"{context.tenant.origin}/common/oauth2/v2.0/logout")),
    "logout of personal accounts": lambda context: Answer(context.get(
        "/consumers/oauth2/v2.0/logout?" + urllib.parse.urlencode({"post_logout_redirect_uri": WEB_URI}))),
    "authorize: before the sign-in": lambda context: Answer(context.authorize()),
    "logout by POST": lambda context: Answer(context.post("common", path="oauth2/v2.0/logout")),
    "logout with a return address": lambda context: context.sign_out(WEB_URI),
    "logout with an unregistered return address": lambda context: context.sign_out("https://page.example/", follow=True),
    "lives of access tokens": Context.lives,
    "lives of tokens on behalf of somebody": lambda context: Answer(
        differ=len({context.on_behalf().body["expires_in"] for _ in range(3)}) > 1),
    "device code of a scope of wrong form": lambda context: Answer(
        context.post("common", path="oauth2/v2.0/devicecode", client_id=context.tenant.native_id, scope="/")),
    "device code without client_id": lambda context: Answer(context.post("common", path="oauth2/v2.0/devicecode", scope="openid")),
    "admin consent without redirect_uri": lambda context: Answer(address=sign_in(
        context.tenant.session(),
        f"{context.tenant.origin}/contoso.example/adminconsent?client_id={context.tenant.web_id}&state=s", WEB_URI, ADELE)),
    "token answer of a certificate": Context.certified,
    "token answer of a certificate with RS256": lambda context: context.certified(algorithm="RS256"),
    "token answer of an assertion without nbf": lambda context: context.certified(without=["nbf"]),
    "token answer of a certificate with RS384": lambda context: context.certified(algorithm="RS384"),
    "token answer of a certificate that its key ID names": lambda context: context.certified(named="kid"),
    "token error: unknown certificate": lambda context: context.certified(by="Stranger"),
    "token error: expired assertion": lambda context: context.certified(seconds=-1000),
    "token error: expired certificate": lambda context: context.certified("Ended"),
    "userinfo by POST": lambda context: context.post_graph("/oidc/userinfo", scope="openid profile email"),
    "B2C: prompt=none with nobody": lambda context: Answer(address=context.authorize(FLOW, prompt="none").headers["Location"]),
    "Graph 400 of endsWith without ConsistencyLevel": lambda context: context.ask_graph(
        "/v1.0/users?$count=true&$filter=endsWith(mail,'@contoso.example')", "openid User.ReadBasic.All"),
    "Graph 400 of an unknown property": lambda context: context.ask_graph("/v1.0/me?$select=nosuch"),
    "Graph 200 of a personal account's properties": lambda context: context.ask_graph(
        "/v1.0/me?$select=displayName,mail,id", username="alex@outlook.example"),
    "Graph: photo of a personal account": lambda context: context.ask_graph("/v1.0/me/photo/$value", username="alex@outlook.example"),
    "Graph: first page of a list": lambda context: context.ask_graph(
        "/v1.0/users?$top=1&$select=id,displayName", "openid User.ReadBasic.All"),
    "Graph: batch of 21 requests": lambda context: context.post_graph("/v1.0/$batch", {"requests": [
        {"id": str(number), "method": "GET", "url": "/me"} for number in range(21)]}),
    "Graph: batch in which a dependency fails": lambda context: context.post_graph("/v1.0/$batch", {"requests": [
        {"id": "1", "method": "GET", "url": "/users/nosuch"}, {"id": "2", "method": "GET", "url": "/me", "dependsOn": ["1"]}]}),
    "registration of a client": lambda context: Answer(context.post("contoso.example", path="oauth2/v2.0/register")),
    "native sign-up begun with an unknown attribute": lambda context: context.begin_sign_up(
        "newcomer1@customer.example", attributes='{"nosuch":"x"}'),
    "native sign-up of somebody who is there": lambda context: context.begin_sign_up(CASEY),
    "native sign-up challenged": lambda context: context.challenge_sign_up("newcomer2@customer.example"),
    "native sign-up without attributes": lambda context: context.sign_up("newcomer3@customer.example"),
    "admin consent: success": lambda context: context.consent("accept"),
    "admin consent: declined": lambda context: context.consent("cancel"),
    "admin consent of version 1": lambda context: Answer(context.get(
        "/common/adminconsent", params={"client_id": context.tenant.web_id, "redirect_uri": WEB_URI, "state": "s"})),
}


@contextmanager
def environment(binary, root, folder):
    certificates = {name: Certificate(folder, name, days) for name, days in CERTIFICATES.items()}
    with running(binary, root / "Public", folder, more={"exposes": {API: ["Tasks.Read"]}, "access_token_version": 2, "id_tokens": True},
        settings={"password_grant": True, "users": USERS}, others=APPLICATIONS) as tenant:
        yield Context(tenant, certificates)


def difference(context, row):
    """Returns the sentence about a difference; None if there is none."""
    found = context.answer(row["answer"]).look(row["look"])
    if row["presence"] == "never":
        return None if found is None else f"is there, as {found[:120]}"
    if found is None:
        return "is not there" if row["presence"] == "always" else None
    return None if "form" not in row or re.fullmatch(row["form"], found, re.DOTALL) else f"is {found[:160]}"


@test("each row can fail: it has one reason at most, and what may be missing has one")
def sound(_):
    ids = collections.Counter(row["id"] for row in rows())
    assert set(ids.values()) == {1}, ids.most_common(3)
    for row in rows():
        reasons = [name for name in REASONS if name in row]
        assert len(reasons) <= 1 and (reasons or row["presence"] != "sometimes"), row
        assert ("look" in row) == ("not_applicable" not in row), row


@test("each fact of the table is so here, or has the reason why it is not")
def facts(context):
    counts, areas, wrong = collections.Counter(), collections.defaultdict(collections.Counter), []
    for row in rows():
        reason = next((name for name in REASONS if name in row), None)
        try:
            said = reason if reason == "not_applicable" else difference(context, row)
        except Exception as error:
            wrong.append(f"{row['id']} {row['answer']}: {row['look']} cannot be looked up: {error!r}")
            continue
        if reason:
            kind = reason
            if said is None:
                wrong.append(f"{row['id']} is equal now, and says “{row[reason]}”")
        elif said is None:
            kind = "equal"
        elif row["certainty"] == "inferred":
            kind = "inferred"
            print(f"note  {row['id']} {row['answer']}: {row['look']} {said}; inferred: {row['fact']}")
        else:
            kind = "wrong"
            wrong.append(f"{row['id']} {row['answer']}: {row['look']} {said}; {row['fact']} ({row['source']})")
        counts[kind] += 1
        areas[re.match("(?:t2-)?([a-z0-9]+)", row["id"])[1]][kind] += 1
    print("      " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    print("      equal by area: " + ", ".join(f"{name} {kinds['equal']} of {kinds.total()}" for name, kinds in sorted(areas.items())))
    assert not wrong, "\n".join(wrong)


@test("an address that there is not is JSON for programs, and a page for browsers")
def absent(context):
    for path in ("/nowhere", "/common/oauth2/v2.0/nothing", "/contoso.example/oauth2/nothing"):
        for accepted, sent in (("*/*", "application/json"), ("text/html,*/*;q=0.8", "text/html")):
            answer = context.get(path, headers={"Accept": accepted})
            assert answer.status_code == 404 and answer.headers["Content-Type"].startswith(sent), (path, answer.headers)


@test("the README says how many facts there are, and how many differ")
def counted(_):
    purpose, still, absent = (sum(name in row for row in rows()) for name in REASONS)
    said = " ".join((ROOT / "README.md").read_text().split())
    wanted = (
        f"{len(rows())} facts with their sources, of which {purpose} differ on purpose, {still} differ still, "
        f"and {absent} are about what is not here")
    assert wanted in said, wanted
