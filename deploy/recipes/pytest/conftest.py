"""A tenant for the tests of an application: `companion tenant` on a free port, with its own folder and certificate, as new before
each test. COMPANION names the program, if it is not in PATH."""

import base64
import hashlib
import html
import json
import os
import re
import secrets
import subprocess
import threading
import urllib.parse

import pytest
import requests

WEB_URI = "http://localhost:8080/callback"
# The applications and the people are those of a file for --config; deploy/guides/tenant.md has the keys.
CONFIG = {
    "applications": [
        {"name": "Web", "web": [WEB_URI], "secret_file": "secret"},
        {"name": "Desktop", "native": ["http://localhost"]},
    ]
}


class Tenant:
    """The announcement of the tenant when it started, and its control page."""

    def __init__(self, printed, secret, folder):
        self.authority, self.graph = printed["authority"], printed["graph"]
        self.base_url, self.control_url = printed["base_url"], printed["control"]
        self.root_file, self.folder, self.secrets = printed["root_file"], folder, {"Web": secret}
        self.clients = {client["name"]: client["client_id"] for client in printed["clients"]}

    def control(self, **settings):
        """Changes what fails, and returns all settings and the counts."""
        answer = requests.post(self.control_url, json=settings, timeout=30)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def fail(self, client=None, user=None, times=None, **effects):
        """Begins a failure for one application, one person, or both."""
        when = {name: value for name, value in {"client": client, "user": user}.items() if value}
        return self.control(rules=[{"when": when, "times": times, **effects}])

    def register(self, kind, **declaration):
        """Registers one of the `applications` or `users`, with the keys of the file, for the rest of the test."""
        answer = requests.post(f"{self.control_url}/{kind}", json=declaration, timeout=30)
        assert answer.status_code == 201, answer.text
        made = answer.json()
        if kind == "applications":
            self.clients[made["name"]] = made["client_id"]
            self.secrets[made["name"]] = made.get("secret")
        return made

    def token(self, client, authority=None, **fields):
        """Posts to the token endpoint as one of the applications."""
        fields |= {"client_id": self.clients[client]}
        if self.secrets.get(client):
            fields["client_secret"] = self.secrets[client]
        return requests.post(f"{authority or self.authority}/oauth2/v2.0/token", data=fields, timeout=30)

    def sign_in(self, client="Web", user="adele@contoso.example", redirect_uri=WEB_URI, scope="openid offline_access User.Read"):
        """Signs a person in by the tenant's plain forms, and redeems the code."""
        verifier = secrets.token_urlsafe(32)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        address = self.authority + "/oauth2/v2.0/authorize?" + urllib.parse.urlencode({
            "client_id": self.clients[client], "response_type": "code", "redirect_uri": redirect_uri, "scope": scope,
            "code_challenge": challenge, "code_challenge_method": "S256"})
        returned = follow_forms(address, redirect_uri, username=user)
        return self.token(client, grant_type="authorization_code", code=returned["code"], redirect_uri=redirect_uri,
                          code_verifier=verifier)

    def device_code(self, client, scope):
        """Asks for the codes with which a person signs in elsewhere."""
        fields = {"client_id": self.clients[client], "scope": scope}
        return requests.post(f"{self.authority}/oauth2/v2.0/devicecode", data=fields, timeout=30).json()

    def me(self, access_token):
        return requests.get(self.graph, headers={"Authorization": f"Bearer {access_token}"}, timeout=30)


def follow_forms(address, redirect_uri, **answers):
    """Goes through the pages as a browser would. Returns the parameters with which it comes back to the application, or the
    text of the last page."""
    answers = {"password": "demo", "consent": "accept", "second_factor": "approve", "confirm": "continue"} | answers
    browser = requests.Session()
    page = browser.get(address, allow_redirects=False, timeout=30)
    for _ in range(20):
        if page.is_redirect:
            address = urllib.parse.urljoin(page.url, page.headers["Location"])
            if address.startswith(redirect_uri):
                return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(address).query))
            page = browser.get(address, allow_redirects=False, timeout=30)
            continue
        form = re.search(r'<form method="post" action="([^"]*)"(.*?)</form>', page.text, re.DOTALL)
        if not form:
            return re.sub("<[^>]+>", " ", page.text)
        fields = {name: html.unescape(value) for name, value in
                  re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form[2])}
        fields |= next({name: value} for name, value in answers.items() if f'name="{name}"' in form[2])
        address = urllib.parse.urljoin(page.url, html.unescape(form[1]))
        page = browser.post(address, data=fields, allow_redirects=False, timeout=30)
    raise AssertionError(f"the sign-in goes round in circles; its last page: {re.sub('<[^>]+>', ' ', page.text)}")


@pytest.fixture(scope="session")
def running_tenant(tmp_path_factory):
    """The tenant of the whole run. Libraries built on requests trust its root; others have a variable of their own
    (`companion tenant trust` lists them)."""
    folder = tmp_path_factory.mktemp("tenant")
    secret = secrets.token_urlsafe(24)
    (folder / "secret").write_text(secret)
    (folder / "tenant.yaml").write_text(json.dumps(CONFIG))
    # The certificate is made in this folder, and nothing of an earlier run is there.
    environment = os.environ | {"XDG_DATA_HOME": str(folder)}
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(
            [os.environ.get("COMPANION", "companion"), "tenant", "--config", folder / "tenant.yaml", "--listen", "localhost:0",
             "--json", "--exit-with-parent"],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
    # The line comes when the tenant listens.
    stop = threading.Timer(60, process.kill)
    stop.start()
    line = process.stdout.readline()
    stop.cancel()
    try:
        assert line, "the tenant did not start: " + (folder / "log").read_text()
        tenant = Tenant(json.loads(line), secret, folder)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("REQUESTS_CA_BUNDLE", tenant.root_file)
            yield tenant
    finally:
        process.terminate()
        process.wait(15)


@pytest.fixture
def tenant(running_tenant):
    """The tenant as new: no failures, no sign-ins, no consents. The signing keys stay, which saves a second."""
    running_tenant.control(reset="seed")
    return running_tenant
