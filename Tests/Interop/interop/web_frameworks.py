"""Sites on other people's frameworks at `companion tenant`, each a program of its own, set up as its documentation says."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager

import requests
from patience import SECONDS, answered
from suite.registry import registry
from suite.server import free_pair_of_ports

from .tenant import ADELE, SECRET, running, sign_in

tests, test = registry("frameworks")

ORGANIZATION = "5c7d0b28-bdf8-410c-aa93-4df372b16203"
# By version of the API's tokens.
CLIENTS = {1: "11111111-1111-4111-8111-111111111111", 2: "22222222-2222-4222-8222-222222222222"}

# requests prefers a bundle of the environment to the one that its caller names.
UNWANTED = ("PYTHONPATH", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


class Context:
    def __init__(self, tenant, programs, ports):
        self.tenant, self.programs, self.ports, self.out = tenant, programs, ports, None

    def situation(self):
        return self.tenant.situation() + (self.out.read_text()[-2000:] if self.out else "")


@contextmanager
def environment(binary, root, folder):
    ports = {version: free_pair_of_ports() for version in CLIENTS}
    names = ["upn", "given_name", "family_name", "email"]
    applications = [
        {"name": f"Django {version}", "client_id": client_id, "web": [f"http://localhost:{ports[version]}/oauth2/callback"], "secret_file": "secret",
         "exposes": {f"api://{client_id}": ["read"]}, "access_token_version": version, "app_roles": ["Site.Editor"],
         "optional_claims": {"access_token": names if version == 2 else []}}
        for version, client_id in CLIENTS.items()
    ]
    users = [{"username": "ada@contoso.example", "password": "demo", "display_name": "Ada King", "roles": {
        each["name"]: ["Site.Editor"] for each in applications}}]
    with running(binary, root / "Public", folder, settings={"applications": applications, "users": users}) as tenant:
        yield Context(tenant, root / "Tests" / "Interop" / "clients", ports)


@contextmanager
def django(context, version, **more):
    """A site as the guide of django-auth-adfs for Azure AD has it, for the application whose API has tokens of this version."""
    client_id, port, tenant = CLIENTS[version], context.ports[version], context.tenant
    folder = tenant.folder / f"django-{version}-{len(more)}"
    folder.mkdir(exist_ok=True)
    (folder / "given.json").write_text(json.dumps({"port": port, "folder": str(folder), "host": tenant.origin.removeprefix("https://"), "auth_adfs": {
        "AUDIENCE": [f"api://{client_id}", client_id], "CLIENT_ID": client_id, "CLIENT_SECRET": SECRET,
        "CLAIM_MAPPING": {"first_name": "given_name", "last_name": "family_name", "email": "email"},
        "GROUPS_CLAIM": "roles", "MIRROR_GROUPS": True, "USERNAME_CLAIM": "upn", "TENANT_ID": ORGANIZATION, "RELYING_PARTY_ID": client_id,
        "CA_BUNDLE": tenant.root} | more}))
    origin = f"http://localhost:{port}"
    context.out = folder / "out"
    with open(context.out, "wb") as out:
        process = subprocess.Popen(
            [sys.executable, context.programs / "django_adfs.py", folder / "given.json"], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            env={name: value for name, value in os.environ.items() if name not in UNWANTED})
    try:
        answered(process, lambda: requests.get(origin, allow_redirects=False, timeout=SECONDS), f"{origin} answers", context.out.read_text)
        yield origin
    finally:
        process.terminate()
        process.wait(15)


def signed_in(context, origin, username=ADELE):
    """Signs a person in at a site; returns the browser and its page, at the site again."""
    browser = context.tenant.session()
    begun = browser.get(origin + "/oauth2/login?next=/", allow_redirects=False)
    back = sign_in(browser, begun.headers["Location"], origin + "/oauth2/callback", username)
    return browser, browser.get(back)


PERSON = {"username": "ada@contoso.example", "first_name": "Ada", "last_name": "King", "email": "ada@contoso.example", "groups": ["Site.Editor"]}


@test("django-auth-adfs at version 1: the person, their roles as groups, and sign-out")
def version_1(context):
    with django(context, 1) as origin:
        browser, page = signed_in(context, origin, PERSON["username"])
        found = page.json()
        assert found["username"] == PERSON["username"] and found["groups"] == PERSON["groups"], found
        out = browser.get(origin + "/oauth2/logout", allow_redirects=False)
        assert out.headers["Location"] == f"{context.tenant.origin}/{ORGANIZATION}/oauth2/logout", out.headers
        assert browser.get(origin + "/", allow_redirects=False).status_code == 302


@test("django-auth-adfs at version 1: the person's names without optional claims")
def names(context):
    with django(context, 1, DISABLE_SSO=True) as origin:
        _, page = signed_in(context, origin, PERSON["username"])
        found = page.json()
        assert (found["first_name"], found["last_name"]) == (PERSON["first_name"], PERSON["last_name"]), found


@test("django-auth-adfs at version 2: the same person, with the optional claims that the site maps")
def version_2(context):
    with django(context, 2, VERSION="v2.0", SCOPES=["openid", "profile", "email", f"api://{CLIENTS[2]}/read"]) as origin:
        _, page = signed_in(context, origin, PERSON["username"])
        assert page.json() == PERSON, page.text


@test("django-auth-adfs at version 2 refuses the token of an API of version 1, whose issuer is the other, as at Entra ID")
def mixed(context):
    with django(context, 1, VERSION="v2.0") as origin:
        _, page = signed_in(context, origin)
        assert page.status_code == 401 and "<title>Login Failure</title>" in page.text, (page.status_code, page.text)
