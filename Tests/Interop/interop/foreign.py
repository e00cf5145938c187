"""The companion at providers that are not ours, with what an operator writes first: kind, authority, client ID and secret."""

import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import requests
from selenium.webdriver.common.by import By
from suite.browser import Browser
from suite.registry import registry
from suite.server import Server

from . import pages
from .foreign_providers import CLIENT_ID, CLIENT_SECRET, providers

common, test = registry("each")

# Those that the usual tests have too.
USUAL = ("django-oauth-toolkit", "pyop")
WRONG_SECRET = "another-secret.of~the_suite-0002"
UNREGISTERED = "a redirect URI that is not registered"
# The mistakes of an operator: what is changed, and what a finding has to name.
MISTAKES = {
    UNREGISTERED: ({"redirect_uri": "own"}, "redirect URI"),
    "a wrong secret": ({"secret": WRONG_SECRET}, "secret"),
    "an unknown client ID": ({"client_id": "nobody"}, "client ID"),
}


class Companion(Server):
    """`companion serve` with one application at this provider."""

    # The file of a private authority.
    authority = None

    def write(self, name, issuer, secret=CLIENT_SECRET, **changes):
        """A configuration and its secret; returns the configuration's file."""
        kept = self.folder / f"{name}.secret"
        kept.write_text(secret)
        kept.chmod(0o600)
        application = {"page": "external", "kind": "oidc", "authority": issuer, "client_id": CLIENT_ID, "client_secret_file": str(kept)}
        file = self.folder / f"{name}.json"
        trusted = {"provider_ca_file": str(self.authority)} if self.authority else {}
        file.write_text(json.dumps(trusted | {
            "listen": f"127.0.0.1:{self.port}", "public_url": self.origin, "public": str(self.public),
            "database": str(self.folder / "companion.sqlite"), "apps": {"provider": application | changes}}))
        return file

    def command(self):
        return [self.binary, "serve", "--config", self.folder / "companion.json", "--log-level", "debug"]

    def check(self, file):
        """Returns the exit status of `companion check`, and its findings about the application."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COMPANION")}
        done = subprocess.run([self.binary, "check", "--config", file, "--json"], env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)
        return done.returncode, [each for each in json.loads(done.stdout)["findings"] if each.get("application")]


class Context:
    def __init__(self, companion, provider):
        self.companion, self.provider, self.session = companion, provider, session()
        # A context without a certificate trusts what the system does.
        self.session.verify = str(provider.certificate) if provider.certificate else True

    def situation(self):
        log = "\n".join(line for line in self.companion.log_tail(60).splitlines() if "/assets" not in line and "/api/apps" not in line)
        return f"{self.provider.front.last()}\n{self.provider.said(3)}\n{log[-1500:]}"

    def api(self, path, body=None, using=None):
        """As the page's script calls it."""
        headers = {"X-Companion": "1", "Origin": self.companion.origin, "Sec-Fetch-Site": "same-origin"}
        address = self.companion.origin + path
        if body is None:
            return self.session.get(address, headers=headers, timeout=60)
        # Calls beside each other have a connection each.
        return (using or self.session).post(address, json=body, headers=headers, cookies=self.session.cookies, timeout=60)

    def refreshes(self):
        """The number of refreshes that the provider was asked for."""
        return len(self.provider.front.tokens("refresh_token"))

    def refresh(self):
        answer = self.api("/api/provider/token", {"force_refresh": True})
        assert answer.status_code == 200 and answer.json()["source"] == "refreshed", answer.text

    def through_pages(self, page):
        """Answers the provider's pages until one of the companion's is there."""
        for _ in range(8):
            if page.url.startswith(self.companion.origin + "/"):
                return page
            page = pages.answer(self.session, page, self.provider.person)
        raise AssertionError(f"{page.url}: the pages go round in circles")

    def sign_in(self):
        """As a browser does."""
        self.through_pages(self.session.get(self.companion.origin + "/auth/provider/sign-in", headers={"Accept": "text/html"}, timeout=60))

    def signed_in(self):
        """The account that the page shows, or None."""
        return self.api("/api/provider/account").json()["account"]

    def expect_signed_in(self):
        account = self.signed_in()
        assert account, self.api("/api/provider/sign-in-failure").text
        assert account["username"] == self.provider.person.username, account
        assert not self.provider.knows_the_name or account["name"] == self.provider.person.name, account


def session():
    made = requests.Session()
    made.trust_env = False
    return made


def mistakes(findings):
    """All that is said about what is wrong: finding, reason and remedy."""
    return [" ".join(each.get(part) or "" for part in ("what", "why", "remedy")) for each in findings if each["severity"] == "mistake"]


@test("companion check finds nothing wrong in a right configuration")
def check(context):
    status, findings = context.companion.check(context.companion.folder / "companion.json")
    assert status == 0 and not mistakes(findings), findings
    assert context.provider.pushes == bool(context.provider.front.asked("/pushed_authorization")), "it has not tried to push a request"


def check_mistake(sentence, changes, cause, context):
    status, findings = context.companion.check(context.companion.write("mistaken", context.provider.issuer, **changes))
    wrong = mistakes(findings)
    if sentence == UNREGISTERED and context.provider.looks_late:
        open_ones = [each for each in findings if each["severity"] == "unknown" and each["subject"] == "redirect_uri"]
        assert status == 0 and not wrong and len(open_ones) == 1, findings
        return
    assert status == 1 and wrong, findings
    # No finding leads away from the cause, in a sentence or as a setting.
    assert all(letters(cause) in letters(each) for each in wrong), wrong


def letters(text):
    return re.sub(r"[^a-z]", "", text.lower())


for sentence, (changes, cause) in MISTAKES.items():
    test(f"companion check names {sentence}, or says that it cannot tell it apart")(partial(check_mistake, sentence, changes, cause))


@test("sign-in through its own pages, with the configuration that one writes first, and UserInfo as the API")
def sign_in(context):
    before = len(context.provider.front.asked("/pushed_authorization"))
    context.sign_in()
    context.expect_signed_in()
    assert context.provider.pushes == (len(context.provider.front.asked("/pushed_authorization")) > before), context.provider.front.last()
    answer = context.api("/api/provider/me")
    assert answer.status_code == 200 and answer.json()["sub"] == context.api("/api/provider/claims").json()["sub"], answer.text


@test("two forced refreshes are two exchanges", sign_in)
def refresh(context):
    before = context.refreshes()
    context.refresh()
    context.refresh()
    assert context.refreshes() == before + 2
    assert context.api("/api/provider/me").status_code == 200


@test("ten calls at once, when the token has expired, are one exchange", sign_in)
def ten(context):
    context.provider.front.shortened = 1
    context.refresh()
    before = context.refreshes()
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: context.api("/api/provider/token", {}, session()), range(10)))
    assert all(answer.status_code == 200 for answer in answers), [answer.text for answer in answers]
    assert context.refreshes() == before + 1
    assert context.api("/api/provider/me").status_code == 200


@test("sign-out ends the tokens here, and the session there where it offers that", sign_in)
def sign_out(context):
    answer = context.api("/auth/provider/sign-out", {"browser": True})
    assert answer.status_code == 200, answer.text
    assert context.signed_in() is None and context.api("/api/provider/me").status_code == 401
    redirect = answer.json().get("redirect")
    if not context.provider.has_end_session:
        assert not redirect or redirect.startswith("/"), redirect
        assert answer.json().get("provider_keeps_session") is True, answer.text
        return
    assert redirect.startswith(context.provider.front.base), redirect
    page = context.through_pages(context.session.get(redirect, timeout=60))
    assert page.url.startswith(context.companion.origin + "/auth/signed-out"), page.url


@test("a sign-in with a wrong secret says what the provider said")
def provider_words(context):
    # The file is read again when it changes.
    secret = context.companion.folder / "companion.secret"
    secret.write_text(WRONG_SECRET)
    before = len(context.provider.front.exchanges)
    context.sign_in()
    secret.write_text(CLIENT_SECRET)
    assert context.signed_in() is None
    refused = next(each for each in context.provider.front.exchanges[before:] if each.status >= 400)
    said = json.loads(refused.answer).get("error_description", "")
    failure = context.api("/api/provider/sign-in-failure").json()["failure"]
    assert failure and failure["code"] == "provider_rejected_client" and said[:60] in " ".join(map(str, failure.values())), (said, failure)


@test("the next sign-in goes straight, without what the provider has refused before", sign_in)
def straight(context):
    before = len(context.provider.front.exchanges)
    context.sign_in()
    context.expect_signed_in()
    refused = [str(each) for each in context.provider.front.exchanges[before:] if each.status >= 400 or "error=" in each.location]
    assert not refused, refused


@test("when the provider has forgotten all, keys too, a call offers a sign-in, which works", sign_in)
def forgotten(context):
    context.provider.front.shortened = 1
    context.refresh()
    context.provider.restart()
    answer = context.api("/api/provider/token", {})
    assert answer.status_code == 401 and answer.json()["action"]["kind"] == "sign_in", answer.text
    context.sign_in()
    context.expect_signed_in()
    context.refresh()


@test("sign-in in Chromium")
def chromium(context):
    browser = Browser(context.companion, None)

    def is_back():
        return browser.driver.current_url.startswith(context.companion.origin)

    try:
        browser.open("/provider")
        browser.settled()
        browser.press("Acquire Token Interactively")
        for _ in range(8):
            browser.wait("the next page", lambda: is_back() or press_on(browser, context.provider.person))
            if is_back():
                break
        browser.expect_log("Access token is ")
    finally:
        browser.quit()


def press_on(browser, person):
    """Fills in the provider's page and goes on; False while there is nothing to press."""
    passwords = browser.all("input[type=password]")
    if passwords:
        next(each for each in browser.all("input[type=text], input:not([type]), input[type=email]") if each.is_displayed()).send_keys(person.username)
        passwords[0].send_keys(person.password)
    for form in browser.all("form"):
        for button in form.find_elements(By.CSS_SELECTOR, "button, input[type=submit]"):
            says = f"{button.get_attribute('name')} {button.get_attribute('value')} {button.text}"
            if button.is_displayed() and not pages.is_refusal("", "", says):
                button.click()
                return True
    return False


class Area:
    """The tests of one provider, in their order."""

    def __init__(self, provider):
        self.provider, self.tests = provider, []
        for each in common:
            if (each is not chromium or provider.in_chromium) and (each is not forgotten or provider.forgets):
                one = partial(each)
                one.sentence = each.sentence.replace("each:", f"{provider.name}:", 1)
                self.tests.append(one)

    @contextmanager
    def environment(self, binary, root, folder):
        companion = Companion(binary, root / "Public", folder)
        try:
            self.provider.start(root, folder / "provider", companion.origin)
            companion.authority = self.provider.certificate
            companion.write("companion", self.provider.issuer)
            companion.start()
            yield Context(companion, self.provider)
        finally:
            companion.stop()
            self.provider.stop()


def areas(names=None):
    return [Area(provider) for provider in providers() if not names or provider.name in names]
