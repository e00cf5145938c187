"""OpenID providers that are not ours, each as its own documentation starts it: on loopback, with one client and one person."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import dataclass, field

from patience import SECONDS, answered
from suite.server import free_pair_of_ports

from .front import Front

CLIENT_ID, CLIENT_SECRET = "companion", "companions-own-secret.of~the_suite-0001"


@dataclass
class Person:
    username: str = "alice"
    password: str = "alice's-password"
    name: str = "Alice Example"
    email: str = "alice@example.test"


def python(provider):
    return [sys.executable, provider.programs / provider.program, provider.registered]


def puma(provider):
    return ["puma", "--quiet", "--environment", "production", "--bind", f"tcp://127.0.0.1:{provider.port}", provider.programs / provider.program]


def nanoidp(provider):
    """`nanoidp init` writes such files; each YAML file may be JSON."""
    given = provider.given
    files = {
        "settings": {
            # Ten are allowed by default, and the suite asks more often.
            "server": {"host": "127.0.0.1", "port": provider.port, "rate_limit_token_endpoint": "1000/minute"},
            "oauth": {"issuer": given["base"], "clients": [
                {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "redirect_uris": [given["redirect_uri"]]}]},
        },
        "users": {"users": {given["username"]: {"password": given["password"], "email": given["email"]}}},
    }
    for name, content in files.items():
        (provider.folder / f"{name}.yaml").write_text(json.dumps({"config_version": 1} | content))
    return [sys.executable, "-m", "nanoidp", "--config", provider.folder, "--profile", "stricter-dev"]


@dataclass
class Provider:
    """name: as CONTRIBUTING calls it; program: its file in the folder `foreign`; path: what its issuer has behind the origin."""

    name: str
    program: str
    command: object = python
    path: str = ""
    has_end_session: bool = True
    knows_the_name: bool = True
    # Whether it looks at the redirect URI only when the person is signed in there.
    looks_late: bool = False
    # Whether it takes authorization requests in advance (RFC 9126).
    pushes: bool = False
    # Whether all that it knows is in its memory.
    forgets: bool = False
    in_chromium: bool = False
    # Whether it is behind https, with a certificate that is its own authority.
    has_https: bool = False
    person: Person = field(default_factory=Person)

    def start(self, root, folder, origin):
        """origin: the companion's."""
        self.front = self.process = None
        self.programs, self.folder = root / "Tests" / "Interop" / "foreign", folder
        self.port, self.out = free_pair_of_ports(), folder / "out"
        folder.mkdir()
        self.certificate = self.certify() if self.has_https else None
        self.front = Front(self.port, self.certificate)
        self.issuer = self.front.base + self.path
        self.given = {
            "base": self.front.base, "port": self.port, "folder": str(folder), "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET,
            "redirect_uri": origin + "/auth/callback", "signed_out_uri": origin + "/auth/signed-out"} | vars(self.person)
        self.registered = folder / "registered.json"
        self.registered.write_text(json.dumps(self.given))
        self.run()

    def certify(self):
        file = self.folder / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost", "-keyout", file, "-out", self.folder / "part.pem"], check=True, capture_output=True)
        file.write_text(file.read_text() + (self.folder / "part.pem").read_text())
        return file

    def run(self):
        environment = os.environ | {"REGISTERED": str(self.registered), "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("PYTHONPATH", None)
        with open(self.out, "ab") as out:
            self.process = subprocess.Popen(self.command(self), cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out)

        def ask():
            # An error is an answer: Django knows itself by one name alone.
            with suppress(urllib.error.HTTPError):
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}{self.path}/.well-known/openid-configuration", timeout=SECONDS).close()
        answered(self.process, ask, f"{self.name} answers", self.said)

    def stop(self):
        self.end()
        if self.front:
            self.front.stop()

    def restart(self):
        self.end()
        self.run()

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)

    def said(self, lines=12):
        return "\n".join(self.out.read_text(errors="replace").splitlines()[-lines:])


def providers():
    return [
        Provider("django-oauth-toolkit", "django_oauth_toolkit.py", path="/o"),
        Provider("django-oidc-provider", "django_oidc_provider.py", path="/openid", in_chromium=True),
        Provider("doorkeeper", "doorkeeper.ru", puma, has_end_session=False, looks_late=True, in_chromium=True),
        Provider("Authlib's server", "authlib_server.py", forgets=True),
        Provider("pyop", "pyop_server.py", forgets=True, has_https=True),
        Provider("idpyoidc", "idpyoidc_server.py", has_end_session=False, pushes=True, forgets=True, in_chromium=True),
        Provider("nanoidp", "", nanoidp, knows_the_name=False),
    ]
