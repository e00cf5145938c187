"""The companion as a relying party of Glewlwyd: `kind: oidc`, through Glewlwyd's own pages in a real browser."""

import json
import os
import subprocess
import urllib.error
import urllib.request
from contextlib import contextmanager

from patience import SECONDS, answered
from suite.browser import Browser
from suite.registry import registry
from suite.server import free_pair_of_ports

from .glewlwyd import PASSWORD, USER, Glewlwyd

tests, test = registry("Glewlwyd")

CLIENT_ID, CLIENT_SECRET = "companion", "a secret: with+odd&characters"


class Companion:
    """`companion serve` with a configuration file, as an operator runs it."""

    def __init__(self, binary, public, folder, issuer, port):
        self.binary, self.folder, self.port = binary, folder, port
        self.origin = f"http://localhost:{port}"
        self.tenant = issuer.rsplit("/api/", 1)[0]
        self.log = folder / "companion.log"
        self.configuration = folder / "companion.yaml"
        self.configuration.write_text(f"""
listen: 127.0.0.1:{port}
public_url: {self.origin}
public: {public}
database: {folder}/companion.sqlite
apps:
  provider:
    page: external
    title: Any provider
    kind: oidc
    authority: {issuer}
    client_id: {CLIENT_ID}
    scopes: [profile, email, offline_access]
""")
        self.process = None

    def environment(self):
        return {name: value for name, value in os.environ.items() if not name.startswith("COMPANION")} | {"COMPANION_APPS_PROVIDER_CLIENT_SECRET": CLIENT_SECRET}

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([self.binary, "serve", "--config", self.configuration, "--log-level", "debug"],
                                            env=self.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        answered(self.process, lambda: urllib.request.urlopen(self.origin + "/readyz", timeout=SECONDS).close(), "the companion is ready", self.log.read_text)

    def kill(self):
        self.process.kill()
        self.process.wait(10)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(15)


class Context:
    def __init__(self, browser, companion, glewlwyd):
        self.browser, self.companion, self.glewlwyd = browser, companion, glewlwyd

    def situation(self):
        log = "\n".join(self.companion.log.read_text(errors="replace").splitlines()[-15:])
        return f"{self.browser.situation()}\n{log}"

    def sign_in(self):
        """From the page through Glewlwyd's own sign-in and permissions, as often as it asks for them."""
        browser = self.browser
        browser.open("/provider")
        browser.settled()
        browser.press("Acquire Token Interactively")
        browser.one("#username").send_keys(USER)
        browser.one("#password").send_keys(PASSWORD)
        browser.one("button[type=submit]").click()
        for _ in range(3):
            browser.wait("the next page", lambda: browser.driver.current_url.startswith(browser.server.origin) or self.grant())
            if browser.driver.current_url.startswith(browser.server.origin):
                break
        browser.expect_log("Access token is ")

    def grant(self):
        """Presses what Glewlwyd's page offers to go on."""
        for element in self.browser.all("button, a.btn, input[type=submit]"):
            if element.is_displayed() and element.is_enabled() and element.text.strip() in ("Continue", "Grant", "Save", "Allow"):
                element.click()
                return True
        return False

    def api(self, path, body=None):
        """As the page's script calls it, in the browser."""
        return self.browser.driver.execute_async_script("""
            const [path, body, done] = arguments;
            const request = body === null ? {} : { method: "POST", headers: { "X-Companion": "1" }, body: JSON.stringify(body) };
            fetch(path, request).then(async (answer) => done([answer.status, await answer.text()]));
        """, path, body)


@contextmanager
def environment(binary, root, folder):
    port = free_pair_of_ports()
    provider_port = free_pair_of_ports()
    origin = f"http://localhost:{port}"
    glewlwyd = Glewlwyd(folder / "glewlwyd", provider_port, CLIENT_ID, CLIENT_SECRET, origin + "/auth/callback", origin + "/auth/signed-out")
    companion = Companion(binary, root / "Public", folder, glewlwyd.issuer, port)
    browser = None
    try:
        glewlwyd.start()
        companion.start()
        browser = Browser(companion, None)
        yield Context(browser, companion, glewlwyd)
    finally:
        if browser:
            browser.quit()
        companion.stop()
        glewlwyd.stop()


def run_check(context, configuration):
    return subprocess.run([context.companion.binary, "check", "--verbose", "--config", configuration], env=context.companion.environment(),
                          capture_output=True, text=True, timeout=60)


@test("companion check finds discovery, issuer, keys and the redirect URI, and leaves secret and scopes to a sign-in")
def check(context):
    found = run_check(context, context.companion.configuration)
    assert found.returncode == 0, found.stdout + found.stderr
    assert context.glewlwyd.issuer in found.stdout, found.stdout
    assert "ok      redirect_uri" in found.stdout, found.stdout
    for subject in ("credential", "scopes"):
        assert f"unknown {subject}" in found.stdout, found.stdout


@test("companion check finds a redirect URI that is not registered")
def check_redirect_uri(context):
    configuration = context.companion.folder / "own.yaml"
    configuration.write_text(context.companion.configuration.read_text() + "    redirect_uri: own\n")
    found = run_check(context, configuration)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "ERROR   redirect_uri: The provider " in found.stdout and "create a new secret" not in found.stdout, found.stdout


@test("sign-in through its own pages, and UserInfo as the API")
def sign_in(context):
    context.browser.begin()
    context.sign_in()
    context.browser.press("API - Perform GET")
    lines = context.browser.expect_log("Accessed API successfully using access token.").split("\n")
    person = json.loads(lines[2].removeprefix("HTTP response body: "))
    assert person["email"] == "alice@example.test", person
    status, claims = context.api("/api/provider/claims")
    assert status == 200 and json.loads(claims)["iss"] == context.glewlwyd.issuer, claims


@test("refreshed twice at once and again, each refresh token is used one time only", sign_in)
def refresh(context):
    answers = context.browser.driver.execute_async_script("""
        const done = arguments[0];
        const ask = (scopes) => fetch("/api/provider/token", { method: "POST", headers: { "X-Companion": "1" },
          body: JSON.stringify({ force_refresh: true, scopes }) }).then((answer) => answer.text());
        Promise.all([ask(["email"]), ask(["email"]), ask(["profile", "email"])]).then(done);
    """)
    for answer in answers:
        assert json.loads(answer).get("source") == "refreshed", answer
    status, answer = context.api("/api/provider/token", {"force_refresh": True})
    assert status == 200 and json.loads(answer)["source"] == "refreshed", answer
    assert context.api("/api/provider/me")[0] == 200


@test("killed and started again, the session and the newest refresh token are there", sign_in)
def restart(context):
    context.companion.kill()
    context.companion.start()
    status, answer = context.api("/api/provider/token", {"force_refresh": True})
    assert status == 200 and json.loads(answer)["source"] == "refreshed", answer


@test("sign-out ends the tokens here, revokes the refresh token there, and goes to its own page", sign_in)
def sign_out(context):
    status, answer = context.api("/auth/provider/sign-out", {"browser": True})
    redirect = json.loads(answer)["redirect"]
    assert status == 200 and redirect.startswith(context.glewlwyd.base) and "id_token_hint=" in redirect, answer
    assert context.api("/api/provider/me")[0] == 401
    context.browser.driver.get(redirect)
    context.browser.wait("Glewlwyd's own page", lambda: context.browser.driver.current_url.startswith(context.glewlwyd.base))
    context.browser.wait("the revocation", lambda: "a refresh token was revoked at the provider" in context.companion.log.read_text())
