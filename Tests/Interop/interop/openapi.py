"""schemathesis: requests made from Public/openapi.json, as nobody, as an operator's page, and as a program."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
from contextlib import contextmanager

import requests

from suite.registry import registry
from suite.server import Registrations, Server

tests, test = registry("openapi", time="Schemathesis takes long for what nobody may ask. An operator's requests, which go further, decide, with StrangersTests.")

# The demands on each answer: no failure of the server, and nothing that the document does not have.
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
TOKEN = "companion_of-the-test"


class Served(Registrations):
    """A portal with a token for programs and an API, without limits."""

    def start(self):
        super().start()

    def applications(self):
        return {"portal": super().applications()["portal"]}

    def command(self):
        path = self.folder / "companion.json"
        settings = json.loads(path.read_text())
        settings["api_tokens"] = [{"name": "test", "sha256": hashlib.sha256(TOKEN.encode()).hexdigest(), "scopes": ["check", "sessions", "metrics"]}]
        settings["apis"] = {"graph": {"base": f"{self.tenant}/v1.0", "paths": ["/me", "/users/*"]}}
        limits = ("sign_ins", "callbacks", "forced_refreshes", "operator_requests", "program_requests")
        settings["limits"] = {f"{name}_per_minute": 0 for name in limits} | {"connections": 0}
        path.write_text(json.dumps(settings))
        return super().command()


class Context:
    def __init__(self, server, folder):
        self.server, self.folder = server, folder

    def situation(self):
        return self.server.log_tail()

    def run(self, *more, **headers):
        """Runs schemathesis with these header fields; the number of its cases."""
        (self.folder / "schemathesis.toml").write_text('[parameters]\n"path.app" = "portal"\n')
        fields = [part for name, value in headers.items() for part in ("--header", f"{name.replace('_', '-')}: {value}")]
        command = [str(pathlib.Path(sys.executable).parent / "schemathesis"), "--config-file", str(self.folder / "schemathesis.toml"), "run",
                   f"{self.server.origin}/openapi.json", "--max-examples", "8", "--seed", "26", "--checks", CHECKS, *fields, *more]
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                              env=os.environ | {"NO_COLOR": "1"})
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        return int(re.search(r"(\d+) generated", done.stdout).group(1))


@contextmanager
def environment(binary, root, folder):
    usual = Server(binary, root / "Public", folder)
    server = Served(usual, 2)
    server.start()
    try:
        yield Context(server, folder)
    finally:
        server.stop()


def cookies(server):
    """The cookies of a person who is signed in to the portal: the tenant's pages are forms."""
    session = requests.Session()
    page = session.get(f"{server.origin}/auth/portal/sign-in", timeout=10)
    for fields in ({"username": "adele@contoso.example"}, {"password": "demo"}, {"consent": "accept"}):
        if not page.url.startswith(server.tenant):
            break
        action = re.search(r'<form[^>]*action="([^"]*)"', page.text)
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
        target = requests.compat.urljoin(page.url, action.group(1).replace("&amp;", "&") if action else page.url)
        page = session.post(target, data=hidden | fields, timeout=10)
    assert page.url.startswith(server.origin), page.url
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in session.cookies if cookie.name.startswith("companion"))


@test("no request of nobody's makes the server fail or gets an answer that the document lacks", needs="time")
def nobody(context):
    assert context.run() > 300


@test("nor does one of an operator's page")
def operator(context):
    made = context.run("--exclude-path-regex", "sign-out|accounts/|/auth/callback", Cookie=cookies(context.server), X_Companion="1",
                       Origin=context.server.origin, Sec_Fetch_Site="same-origin")
    assert made > 300


@test("nor does one of a program's")
def program(context):
    assert context.run("--include-path-regex", "/check$|/sessions|/metrics", Authorization=f"Bearer {TOKEN}") > 20
