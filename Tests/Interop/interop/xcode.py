"""The Xcode projects of /native at `companion tenant`: each signs in with the values in its own files, as its README says."""

import json
import plistlib
import re
import urllib.parse
from contextlib import contextmanager

from made import made
from suite.registry import registry

from .msal_native_auth import NativeApplication
from .msal_objc import Application, Refused
from .tenant import BUNDLE, WEB_URI, running

tests, test = registry("Xcode projects")
VALUES = {"bundle_id": BUNDLE, "redirect_uri": f"msauth.{BUNDLE}://auth", "edit_policy": "b2c_1_edit_profile"}
OWN_BUNDLE = "com.example.own"
# All that the projects ask for.
LISTED = {"https://graph.microsoft.com": ["User.Read"], "api://fabrikam.example": ["tasks.read"], "https://fabrikamb2c.example/api": ["demo.read"]}


def settings(permissions):
    # Tasks is as --native registers it, and lists its permissions.
    return {"applications": [
        {"name": "Tasks", "native": [BUNDLE, "http://localhost"], "native_authentication": True, "permissions": permissions},
        {"name": "Own", "native": [OWN_BUNDLE], "native_authentication": True},
        {"name": "Web", "web": [WEB_URI], "secret_file": "secret"},
    ]}


@contextmanager
def environment(binary, root, folder):
    with running(binary, root / "Public", folder, settings=settings(LISTED)) as tenant:
        yield tenant


class Project:
    """The values that stand in the files of a project."""

    def __init__(self, files):
        swift = "\n".join(text for path, text in files.items() if path.endswith(".swift"))
        self.constants = {name: json.loads(value) for name, value in re.findall(r"\blet (k\w+)(?:: \[String\])? = (.+)$", swift, re.MULTILINE)}
        self.kind, = set(re.findall(r"try MSAL(AAD|B2C|CIAM)Authority\(url: authorityURL\)", swift))
        self.isKnown = "knownAuthorities = [" in swift
        # That of a person's own tenant names nobody.
        self.account = next(iter(re.findall(r"sign in as (\S+) with the password demo", files["README.md"])), None)
        self.schemes = [each for row in plistlib.loads(files["Info.plist"].encode())["CFBundleURLTypes"] for each in row["CFBundleURLSchemes"]] if "Info.plist" in files else None

    @property
    def authority(self):
        if self.kind == "B2C":
            host, tenant, policy = (self.constants[name] for name in ("kAuthorityHostName", "kTenantName", "kSignupOrSigninPolicy"))
            return self.constants["kEndpoint"].replace("%@", "{}").format(host, tenant, policy)
        return self.constants["kAuthority"]

    @property
    def api(self):
        if "kGraphEndpoint" in self.constants:
            return self.constants["kGraphEndpoint"] + "v1.0/me/"
        return self.constants.get("kProtectedAPIEndpoint") or self.constants["kGraphURI"]


def sign_in(tenant, row, files, client_id, bundle, account):
    """The sign-in of a project with what stands in its files, a call, a renewal and a sign-out."""
    tenant.reset()
    project = Project(files)
    constants = project.constants
    assert constants["kClientID"] == client_id, row["id"]
    # MSAL asks Microsoft about a host of Entra ID and B2C, unless it is told.
    assert project.isKnown == (project.kind != "CIAM"), row["id"]
    assert project.schemes in (None, [urllib.parse.urlsplit(constants["kRedirectUri"]).scheme]), row["id"]
    app = Application(tenant.session(), project.kind, project.authority, constants["kClientID"], constants["kRedirectUri"], bundle)
    account, token = app.acquire_token(constants["kScopes"], account or project.account)
    answer = tenant.session().get(project.api, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200, f"{row['id']}: {answer.status_code} {answer.text}"
    renewed, _ = app.acquire_token_silent(account, constants["kScopes"])
    app.sign_out(renewed)


def of_demo(tenant):
    """Each project as the demo's page makes it: its row and its files."""
    rows = made({})["rows"]
    found = made({"projects": [{"id": row["id"], "tenant": "demo", "origin": tenant.origin, "values": VALUES} for row in rows]})["projects"]
    return zip(rows, found, strict=True)


@test("every Xcode project signs in, calls its API, renews silently and signs out, with its own values and its README's account")
def projects(tenant):
    for row, files in of_demo(tenant):
        sign_in(tenant, row, files, tenant.native_id, BUNDLE, None)


@test("a project whose API the registration has forgotten is refused, which says so, and all others sign in as ever")
def forgotten(tenant):
    for number, api in enumerate(LISTED):
        folder = tenant.folder / f"forgotten-{number}"
        folder.mkdir()
        listed = {other: scopes for other, scopes in LISTED.items() if other != api}
        with running(tenant.binary, tenant.public, folder, settings=settings(listed)) as forgetful:
            refused = set()
            asking = set()
            for row, files in of_demo(forgetful):
                scopes = Project(files).constants["kScopes"]
                if api in {scope.rpartition("/")[0] or "https://graph.microsoft.com" for scope in scopes}:
                    asking.add(row["id"])
                try:
                    sign_in(forgetful, row, files, forgetful.native_id, BUNDLE, None)
                except Refused as error:
                    assert ("AADB2C90205" if row["kind"] == "b2c" else "AADSTS650057") in str(error), f"{row['id']}: {error}"
                    refused.add(row["id"])
        assert refused == asking and refused, f"without {api} {refused} are refused, and {asking} ask for it"


@test("every Xcode project with a person's own values does the same: another client ID, bundle ID and authority")
def own_projects(tenant):
    of_kind = {
        "workforce": ("adele@contoso.example", {"authority": f"{tenant.origin}/contoso.example", "scopes": ["user.read"], "api": ""}),
        "external": ("customer@fabrikam.example", {
            "authority": f"{tenant.numeric}/fabrikam.example", "scopes": ["api://fabrikam.example/tasks.read"], "api": f"{tenant.numeric}/api/external"}),
        "b2c": ("b2cuser@fabrikamb2c.example", {
            "authority": f"{tenant.origin}/tfp/fabrikamb2c.example/b2c_1_susi", "scopes": ["https://fabrikamb2c.example/api/demo.read"],
            "api": f"{tenant.origin}/api/b2c"}),
    }
    own = VALUES | {"bundle_id": OWN_BUNDLE, "redirect_uri": f"msauth.{OWN_BUNDLE}://auth", "client_id": tenant.ids["Own"], "graph": f"{tenant.origin}/"}
    rows = made({})["rows"]
    found = made({"projects": [{"id": row["id"], "tenant": "mine", "values": own | of_kind[row["kind"]][1]} for row in rows]})["projects"]
    for row, files in zip(rows, found, strict=True):
        sign_in(tenant, row, files, tenant.ids["Own"], OWN_BUNDLE, of_kind[row["kind"]][0])


@test("the project with native authentication signs in, signs a newcomer up, resets the password and shows second factors, with the people and the codes of its README")
def native_authentication(tenant):
    tenant.reset()
    files, = made({"projects": [{"id": "external-ios-native", "tenant": "demo", "origin": tenant.origin, "values": VALUES}]})["projects"]
    project, swift = Project(files), "\n".join(text for path, text in files.items() if path.endswith(".swift"))
    outbox = re.search(r"`(https://\S+/outbox)`", files["README.md"])[1]
    # The service asks of an app only the steps that the app says it has.
    types = tuple({".OOB": "oob", ".password": "password"}[each] for each in re.search(r"challengeTypes: \[(.+)\]", swift)[1].split(", "))
    capabilities = tuple({".mfaRequired": "mfa_required", ".registrationRequired": "registration_required"}[each]
                         for each in re.search(r"capabilities = \[(.+)\]", swift)[1].split(", "))
    scopes = project.constants["kScopes"]
    newcomer, password = "xcode@customer.example", "Vinter-2027"

    def app():
        return NativeApplication(tenant.session(), project.authority, project.constants["kClientID"], types, capabilities)

    def code(to=newcomer):
        answer = tenant.session().get(f"{outbox}?{urllib.parse.urlencode({'to': to, 'wait': 5})}").json()
        return answer["messages"][0]["code"]

    def call(state):
        answer = tenant.session().get(project.api, headers={"Authorization": f"Bearer {state.values['access_token']}"})
        assert (state.name, answer.status_code) == ("signed in", 200), f"{state} {answer.text}"

    call(app().sign_in(project.account, "demo", scopes))
    started = app()
    state = started.continue_sign_up(started.sign_up(newcomer), grant_type="oob", oob=code())
    state = started.continue_sign_up(state, grant_type="password", password=password)
    assert started.sign_in_after(state).name == "signed in", state
    call(app().sign_in(newcomer, password, scopes))
    started = app()
    state = started.submit_reset_code(started.reset(newcomer), code())
    assert started.sign_in_after(started.submit_new_password(state, "Sommar-2027")).name == "signed in"
    call(app().sign_in(newcomer, "Sommar-2027", scopes))
    people = re.findall(r"--data '(\{.+?\})'", files["README.md"])
    for person in people:
        assert tenant.session().post(f"{tenant.origin}/control/users", data=person).status_code == 201, person
    having, asked = (json.loads(person)["username"] for person in people)
    started = app()
    state = started.sign_in(having, password, scopes)
    state = started.request_challenge(state, state.values["methods"][0])
    call(started.submit_challenge(state, code(having)))
    started = app()
    state = started.sign_in(asked, password, scopes)
    call(started.challenge_method(state, state.values["methods"][0], asked))
